"""How much of a claim its sources say, by words and as measured on pairs that are known."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.answer.samples import reading, source
from tests.support.product import Known, Source, Stated, Verdict, held_against, judged
from tests.support.tables import rows

TEXT = (
    "The sea wall of Hollin is opened on 8 April 2027. It slipped once, by six months. "
    "Bram does not trust drones.\n\n- The counter-wall was closed in August 2026.\n"
    "- Rock arrives by barge."
)


def verdict(sentence: str, *sources: Source) -> Verdict:
    read = reading()
    stated = Stated(sentence, read)
    given = sources or (source(1, TEXT, title="Hollin Reach", lines=(1, 5)),)
    found = [held_against(stated, Known(one, (), read), read) for one in given]
    return judged(stated, found, read)


@pytest.mark.parametrize(("sentence", "support", "lacks"), rows(__file__, "one_source"))
def test_one_source(sentence: str, support: str, lacks: list[str]) -> None:
    assert verdict(sentence) == Verdict(support, tuple(lacks))  # type: ignore[arg-type]


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
    read = reading({f"Note 1: {text}": 0.9})
    stated = Stated("Volunteers start work on Saturday.", read)
    found = held_against(stated, Known(source(1, text), (), read), read)
    assert found.likeness == pytest.approx(0.9)
    assert judged(stated, [found], read).support == "high"
    alone = held_against(stated, Known(source(1, text), (), read), read, liken=False)
    assert alone.likeness is None
    assert judged(stated, [alone], read).support == "partial"


def test_a_source_without_sentences_supports_nothing() -> None:
    assert verdict("The wall.", source(1, "")) == Verdict("none")


def test_a_capital_at_the_beginning_is_a_name_where_a_note_goes_by_it() -> None:
    from dataclasses import replace

    read = replace(reading(), named=lambda word: word == "Tomasz")
    known = Known(source(1, "Leads Hollin and Pell."), (), read)
    for word, lacks in (("Tomasz", ("Tomasz",)), ("Somebody", ())):
        stated = Stated(f"{word} leads Hollin and Pell.", read)
        assert judged(stated, [held_against(stated, known, read)], read).lacks == lacks


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
        reading = engine.reading
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
