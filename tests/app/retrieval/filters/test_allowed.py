"""Ranking among what filters leave is the ranking of all without the others, in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.retrieval.filters.allowed import Allowed, PhraseTest, Top, among, ranked
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.table import VectorTable
from notehop.indexing.tokens.phrases import Phrase, said_by

WORDS = ("gate", "tide", "eel")

texts_of_notes = st.dictionaries(
    st.sampled_from([f"{name}.md" for name in "abcdefghij"]),
    st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), min_size=1, max_size=3),
    min_size=1,
)


class Vault:
    """Chunks with words and vectors; chunk 1 of ``a.md`` has the id ``a.md:1``."""

    def __init__(self, notes: Mapping[str, list[str]]) -> None:
        self.texts = {
            f"{path}:{at}": text for path, said in notes.items() for at, text in enumerate(said)
        }
        tokens = ((one, {"content": tuple(text.split())}) for one, text in self.texts.items())
        self.lexical = LexicalIndex.build(tokens)
        # Chunks of equal text have equal vectors, and tie.
        rows = [[text.count(word) + 0.1 for word in WORDS] for text in self.texts.values()]
        matrix = np.array(rows, dtype=np.float32)
        matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        self.vectors = VectorTable.empty(len(WORDS)).with_tail(list(self.texts), matrix)
        self.reads = 0

    def path_of(self, chunk_id: str) -> str | None:
        return chunk_id.rpartition(":")[0] if chunk_id in self.texts else None

    def said_in(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        found = {one: (self.texts[one],) for one in ids}
        self.reads += len(found)
        return found

    def phrase(self, text: str, *, negated: bool = False) -> PhraseTest:
        maybe = self.lexical.holding(text.split(), "content")
        return PhraseTest(Phrase(text), negated, frozenset(maybe), self.said_in)

    def tops(self) -> list[Top]:
        """The rankings of the two signals."""
        query = np.array([0.8, 0.6, 0.0], dtype=np.float32)
        return [partial(self.vectors.top, query), partial(self.lexical.top, ["gate", "eel"])]


@given(
    notes=texts_of_notes,
    left=st.sets(st.sampled_from([f"{name}.md" for name in "abcdefghijk"])),
    phrases=st.lists(
        st.tuples(st.sampled_from(["gate", "tide gate", "eel eel"]), st.booleans()), max_size=2
    ),
    k=st.integers(1, 12),
    few=st.booleans(),
    share=st.floats(0.05, 1.0),
)
def test_it_is_the_whole_ranking_without_the_others(
    notes: dict[str, list[str]],
    left: set[str],
    phrases: list[tuple[str, bool]],
    k: int,
    few: bool,
    share: float,
) -> None:
    vault = Vault(notes)
    tests = tuple(vault.phrase(text, negated=negated) for text, negated in phrases)
    pool = frozenset(one for one in vault.texts if vault.path_of(one) in left)
    allowed = Allowed(vault.path_of, left.__contains__, pool if few else None, share, tests)
    wanted = {
        one
        for one in pool
        if all((f" {text} " in said_by(vault.texts[one])) is not no for text, no in phrases)
    }
    assert allowed.any_of(vault.texts) is bool(wanted)
    for top in vault.tops():
        expected = [hit for hit in top(1_000, None) if hit[0] in wanted][:k]
        assert ranked(top, k, allowed) == expected


@pytest.mark.parametrize("allowed", [["b.md:0", "x.md:9"], {"b.md:0"}, frozenset({"b.md:0"})])
def test_ids_may_be_named(allowed: list[str] | set[str]) -> None:
    vault = Vault({"a.md": ["gate"], "b.md": ["gate"]})
    for top in vault.tops():
        assert [one for one, _ in ranked(top, 5, allowed)] == ["b.md:0"]
    assert among(["a.md:0", "b.md:0"], allowed) == ["b.md:0"]


def test_nothing_named_allows_all() -> None:
    vault = Vault({"a.md": ["gate"], "b.md": ["gate eel"]})
    for top in vault.tops():
        assert ranked(top, 5, None) == top(5, None)
    assert among(["x"], None) == ["x"]


def test_texts_are_read_once_and_only_those_that_may_hold_the_phrase() -> None:
    vault = Vault({"a.md": ["tide gate", "gate tide", "eel", "tide"]})
    allowed = Allowed(vault.path_of, {"a.md"}.__contains__, None, 1.0, (vault.phrase("tide gate"),))
    for _ in range(2):
        assert allowed.among(list(vault.texts)) == ["a.md:0"]
    assert vault.reads == 2
    assert "a.md:0" in allowed
    assert "a.md:1" not in allowed
    assert "unknown" not in allowed


def test_of_many_passages_only_the_best_are_read() -> None:
    vault = Vault({"a.md": ["tide gate"] * 2_000})
    phrase = vault.phrase("tide gate")
    allowed = Allowed(vault.path_of, {"a.md"}.__contains__, None, 1.0, (phrase,))
    assert len(ranked(vault.tops()[0], 100, allowed)) == 100
    assert vault.reads < 500
    assert allowed.any_of(vault.texts)
