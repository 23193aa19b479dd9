"""The measure of support on sentences about the demo vault, with the real embedding model.

``claims.jsonl`` holds sentences as a language model writes them: put otherwise than the note does,
and the same with a number, a date, a name or a negation changed, or cited to another passage.
``model_claims.jsonl`` holds what SmolLM2-135M-Instruct wrote on the questions of
``tests/answers/demo.jsonl``, read by hand: does the passage say all, part or nothing of it? The
bounds are what docs/citations.md reports, with little to spare.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.product import Known, Source, Stated, held_against, judged

pytestmark = pytest.mark.model

ROWS = [
    json.loads(line)
    for file in ("claims.jsonl", "model_claims.jsonl")
    for line in Path(__file__).with_name(file).read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def counts(demo: tuple[Path, Path]) -> Iterator[Counter[tuple[str, str]]]:
    """How many sentences of a kind got which support."""
    from notehop import open_vault
    from tests.support.product import reading_of

    vault, index = demo
    with open_vault(vault, index_dir=index) as opened:
        machinery = opened._machinery
        reading, _ = reading_of(
            machinery.tokenizer,
            lambda: machinery.reader.lexical,
            lambda: machinery.embedder,
            machinery.named,
        )
        found: Counter[tuple[str, str]] = Counter()
        with machinery.reader.snapshot() as view:
            for row in ROWS:
                note = view.notes_at([row["note"]])[row["note"]]
                [chunk] = [one for one in view.chunks_of(note.path) if row["holds"] in one.text]
                source = Source(
                    marker="[1]",
                    id=chunk.id,
                    path=note.path,
                    title=note.title,
                    heading=" > ".join(chunk.heading_path),
                    lines=(chunk.first_line, chunk.last_line),
                    text=chunk.text,
                    score=1.0,
                    uri="",
                )
                known = Known(source, note.aliases, reading)
                stated = Stated(row["text"], reading)
                verdict = judged(stated, [held_against(stated, known, reading)], reading)
                found[row["kind"], verdict.support] += 1
        yield found


def share(counts: Counter[tuple[str, str]], kind: str, *levels: str) -> float:
    total = sum(counts[kind, level] for level in ("high", "partial", "none"))
    assert total > 8
    return sum(counts[kind, level] for level in levels) / total


@pytest.mark.parametrize("kind", ["date", "name", "negation", "other", "wrong note"])
def test_what_a_source_does_not_say_is_never_highly_supported(
    counts: Counter[tuple[str, str]], kind: str
) -> None:
    assert share(counts, kind, "high") == 0


def test_what_a_source_says_in_other_words_is_supported(counts: Counter[tuple[str, str]]) -> None:
    assert share(counts, "paraphrase", "high") >= 0.75
    assert share(counts, "paraphrase", "none") <= 0.04


def test_a_number_is_missed_only_where_the_sentence_of_the_source_holds_it_too(
    counts: Counter[tuple[str, str]],
) -> None:
    assert share(counts, "number", "high") <= 0.09


@pytest.mark.parametrize("kind", ["wrong note", "wrong passage", "other"])
def test_what_has_nothing_to_do_with_a_source_is_not_supported(
    counts: Counter[tuple[str, str]], kind: str
) -> None:
    assert share(counts, kind, "none") >= 0.87


def test_hardly_anything_that_a_model_invents_is_highly_supported(
    counts: Counter[tuple[str, str]],
) -> None:
    assert share(counts, "says nothing", "high") <= 0.02
    assert share(counts, "says nothing", "none") >= 0.85


def test_what_a_model_copies_is_supported(counts: Counter[tuple[str, str]]) -> None:
    assert share(counts, "says all", "high") >= 0.9


def test_half_of_a_sentence_is_seldom_taken_for_the_whole(counts: Counter[tuple[str, str]]) -> None:
    assert share(counts, "says part", "high") <= 0.32
