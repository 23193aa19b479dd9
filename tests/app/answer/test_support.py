"""How much of a claim its sources say, by words and as measured on pairs that are known."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.answer.samples import source, text_analyzer
from tests.support.product import (
    ClaimSupport,
    ClaimText,
    Source,
    SourceText,
    compare_with_source,
    decide_support,
)
from tests.support.tables import rows

TEXT = (
    "The sea wall of Hollin is opened on 8 April 2027. It slipped once, by six months. "
    "Bram does not trust drones.\n\n- The counter-wall was closed in August 2026.\n"
    "- Rock arrives by barge."
)


def verdict(sentence: str, *sources: Source) -> ClaimSupport:
    analyzer = text_analyzer()
    stated = ClaimText(sentence, analyzer)
    given = sources or (source(1, TEXT, title="Hollin Reach", lines=(1, 5)),)
    found = [compare_with_source(stated, SourceText(one, (), analyzer), with_vectors=False) for one in given]
    return decide_support(stated, found)


@pytest.mark.parametrize(("sentence", "support", "lacks"), rows(__file__, "one_source"))
def test_one_source(sentence: str, support: str, lacks: list[str]) -> None:
    assert verdict(sentence) == ClaimSupport(support, tuple(lacks))  # type: ignore[arg-type]


def test_words_quoted_from_behind_a_negation_are_not_what_is_said() -> None:
    told = source(1, "He does not trust drones or forecasts.")
    assert verdict("trust drones or forecasts", told).support == "partial"


def test_two_sources_support_together_what_neither_does_alone() -> None:
    one = source(1, "The wall was closed in August.")
    two = source(2, "The barge brings rock in March.")
    both = "The wall was closed in August; the barge brings rock in March."
    assert verdict(both, one, two).support == "high"
    assert verdict(both, one).support != "high"


def test_the_title_of_a_note_is_part_of_what_it_says() -> None:
    plain = source(1, "Opened on 8 April 2027.", title="Sea wall")
    assert verdict("The sea wall is opened on 8 April 2027.", plain).support == "high"


def test_likeness_counts_beside_the_words() -> None:
    text = "They begin to work on Saturday."
    analyzer = text_analyzer({f"Note 1: {text}": 0.9})
    stated = ClaimText("Volunteers start work on Saturday.", analyzer)
    found = compare_with_source(stated, SourceText(source(1, text), (), analyzer))
    assert found.likeness == pytest.approx(0.9)
    assert decide_support(stated, [found]).support == "high"
    alone = compare_with_source(stated, SourceText(source(1, text), (), analyzer), with_vectors=False)
    assert alone.likeness is None
    assert decide_support(stated, [alone]).support == "partial"


def test_a_source_without_sentences_supports_nothing() -> None:
    assert verdict("The wall.", source(1, "")) == ClaimSupport("none")


def test_a_capital_at_the_beginning_is_a_name_where_a_note_goes_by_it() -> None:
    from dataclasses import replace

    analyzer = replace(text_analyzer(), known_names={"Tomasz"}.intersection)
    known = SourceText(source(1, "Leads Hollin and Pell."), (), analyzer)
    for word, lacks in (("Tomasz", ("Tomasz",)), ("Somebody", ())):
        stated = ClaimText(f"{word} leads Hollin and Pell.", analyzer)
        assert decide_support(stated, [compare_with_source(stated, known)]).lacks == lacks


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

    vault, index = demo
    with open_vault(vault, index_dir=index) as opened:
        engine = opened._engine
        analyzer = engine.synthesizer._analyzer
        found: Counter[tuple[str, str]] = Counter()
        with engine.reader.snapshot() as view:
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
                known = SourceText(source, note.aliases, analyzer)
                stated = ClaimText(row["text"], analyzer)
                verdict = decide_support(stated, [compare_with_source(stated, known)])
                found[row["kind"], verdict.support] += 1
        yield found


BOUNDS = {
    # What a source does not say is never highly supported.
    **{(kind, "high"): (0.0, 0.0) for kind in ("date", "name", "negation", "other", "wrong note")},
    # What it says in other words is supported, and what a model copies from it.
    ("paraphrase", "high"): (0.75, 1.0),
    ("paraphrase", "none"): (0.0, 0.04),
    ("says all", "high"): (0.9, 1.0),
    # A number is missed only where the sentence of the source holds it too.
    ("number", "high"): (0.0, 0.09),
    # What has nothing to do with it is not supported, and hardly anything that a model invents.
    **{(kind, "none"): (0.87, 1.0) for kind in ("wrong note", "wrong passage", "other")},
    ("says nothing", "high"): (0.0, 0.02),
    ("says nothing", "none"): (0.85, 1.0),
    # Half of a sentence is seldom taken for the whole.
    ("says part", "high"): (0.0, 0.32),
}
"""Kind of a sentence, and support: the least and the most share of such sentences that has it."""


@pytest.mark.parametrize(("kind", "level"), BOUNDS)
def test_what_is_supported_on_pairs_that_are_known(
    counts: Counter[tuple[str, str]], kind: str, level: str
) -> None:
    total = sum(counts[kind, one] for one in ("high", "partial", "none"))
    assert total > 8
    least, most = BOUNDS[kind, level]
    assert least <= counts[kind, level] / total <= most
