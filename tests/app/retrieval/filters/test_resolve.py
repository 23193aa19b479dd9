"""Filters come to the chunks they leave, in one generation of an index on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from tests.support.product import (
    EVERY_NOTE,
    Condition,
    FieldTokens,
    Filters,
    NoteRecord,
    Reader,
    Snapshot,
    Tokenizer,
    chunks_left,
    field_tokens,
    notes_left,
    plan,
    property_label,
    remarks,
)
from tests.support.sample_index import SampleIndex, record

TODAY = date(2026, 10, 9)
DAY = 86_400.0

WORDS = Tokenizer("und")


def noted(path: str, *texts: str, **fields: Any) -> NoteRecord:
    """A note with a chunk for each text, whose words are in the index as the product has them."""
    title = path.rpartition("/")[2].removesuffix(".md")
    made = record(path, *texts, title=title, **fields)
    chunks = (replace(one, tokens=tokens_of(title, one.text)) for one in made.chunks)
    return replace(made, chunks=tuple(chunks))


def tokens_of(title: str, text: str) -> FieldTokens:
    return field_tokens(
        WORDS, title=title, aliases=(), tags=(), page_type=None, headings=(), content=text
    )


NOTES = (
    noted("Daily/2026-10-07.md", "gate poured", "eels came", tags=("daily",), page_type="daily"),
    noted("Daily/2026-09-30.md", "tide gate late", tags=("daily",), page_type="daily"),
    noted(
        "Topics/Eel.md",
        "eels like a tide gate",
        "gate tide",
        tags=("fish/eel",),
        page_type="topic",
        created=20_000 * DAY,
        front_matter={"status": "open", "lead": "[[Bram]]"},
    ),
    noted(
        "Topics/Tide gate.md",
        "hinged lid",
        tags=("gate",),
        created=20_100 * DAY,
        front_matter={"status": "done"},
    ),
    noted("Archive/Old/Eel.md", "eels once", tags=("fish/eel",), created=10_000 * DAY),
)


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    index = SampleIndex(tmp_path_factory.mktemp("filters") / "index")
    index.write(*NOTES)
    with Reader.open(index.layout) as reader, reader.snapshot() as opened:
        yield opened


def conditions_of(view: Snapshot, query: str) -> tuple[Condition, ...]:
    known = view.labels.has
    return plan(query, Filters(), lambda key: known(property_label(key)), TODAY).conditions


def left(view: Snapshot, query: str) -> set[str]:
    """The texts that the filters of a query leave."""
    conditions = conditions_of(view, query)
    notes = notes_left(conditions, view.labels, TODAY)
    allowed = chunks_left(notes, conditions, view, view.labels, WORDS)
    ids = [one for path in view.paths() for one in view.chunk_ids_of(path)]
    found = [] if allowed is None else allowed.among(ids)
    assert allowed is None or (found and 0 < allowed.share <= 1)
    assert allowed is None or allowed.pool is None or allowed.pool >= set(found)
    assert all(one in allowed for one in found if allowed)
    return {chunk.text for chunk in view.chunks(found).values()}


LEFT = {
    "tag:fish": {"eels like a tide gate", "gate tide", "eels once"},
    "tag:fish/eel path:Topics": {"eels like a tide gate", "gate tide"},
    "-tag:fish": {"gate poured", "eels came", "tide gate late", "hinged lid"},
    "path:Daily path:Archive": {"gate poured", "eels came", "tide gate late", "eels once"},
    "path:Daily -path:*-07.md": {"tide gate late"},
    "type:daily type:topic -tag:daily": {"eels like a tide gate", "gate tide"},
    "tag:daily tag:fish": set(),
    "after:2026-10-01": {"gate poured", "eels came"},
    "after:1w": {"gate poured", "eels came"},
    "before:2026-10-01 after:2026-09": {"tide gate late"},
    "-after:2000": {"eels once"},
    "status:open": {"eels like a tide gate", "gate tide"},
    "lead:bram": {"eels like a tide gate", "gate tide"},
    "-status:open -status:done": {"gate poured", "eels came", "tide gate late", "eels once"},
    '"tide gate"': {"eels like a tide gate", "tide gate late", "hinged lid"},
    '"tide gate" -"eels like"': {"tide gate late", "hinged lid"},
    '"tide gate" "gate late"': {"tide gate late"},
    '"tide gate" path:Daily': {"tide gate late"},
    '-"tide gate" -"gate tide" path:Topics': set(),
    '"gate eels"': set(),
    '"no such words"': set(),
    "-path:/": set(),
    "tag:nothing": set(),
}


@pytest.mark.parametrize(("query", "texts"), LEFT.items(), ids=LEFT)
def test_what_is_left(view: Snapshot, query: str, texts: set[str]) -> None:
    assert left(view, query) == texts


def test_notes_that_a_path_or_tag_keeps_out_are_hidden(view: Snapshot) -> None:
    conditions = conditions_of(view, "-path:Archive -tag:gate -status:open -type:daily tag:fish")
    hidden = notes_left(conditions, view.labels, TODAY).hidden
    assert hidden == {"Archive/Old/Eel.md", "Topics/Tide gate.md"}


def told(view: Snapshot, query: str) -> list[str]:
    labels, conditions = view.labels, conditions_of(view, query)

    def alone(condition: Condition) -> bool:
        return chunks_left(EVERY_NOTE, [condition], view, labels, WORDS) is not None

    said = remarks.of_conditions(conditions, labels, TODAY)
    return said + remarks.of_nothing(conditions, labels, TODAY, alone)


NOTHING = {
    "tag:fsh x": "tag:fsh: no note has this tag; the nearest are: fish",
    "tag:eel x": "tag:eel: no note has this tag; the nearest are: fish/eel",
    "tag:zzzzz x": "tag:zzzzz: no note has this tag; it is spelt like none there is",
    "path:Dayly": "path:Dayly: no note is there; folders like it are: Daily",
    "path:old": "path:old: no note is there; folders like it are: Archive/Old",
    "path:zz": "path:zz: no note is there; folders are named from the vault's root, "
    "and a name with blanks is quoted",
    "type:book": "type:book: no note is of this type; there are: daily, topic",
    "status:opne": "status:opne: no note has this value; status is: open, done; to search for the "
    "words, put them in quotes",
    "status:shut": "status:shut: no note has this value; status is: done, open; to search for the "
    "words, put them in quotes",
    "after:2027": "after:2027: no note is of that time",
    "tag:daily status:open": "nothing meets all filters; alone they name: tag:daily (2 notes), "
    "status:open (1 note)",
    '"gate eels" tag:fish': '"gate eels": no passage says this; without the quotes its words are '
    "searched for",
    '"hinged lid" tag:fish': 'nothing meets all filters; alone they name: "hinged lid", '
    "tag:fish (2 notes)",
    "-path:/": "-path:/ (5 notes): this keeps out every note",
}


@pytest.mark.parametrize(("query", "says"), NOTHING.items(), ids=NOTHING)
def test_what_is_said_of_nothing(view: Snapshot, query: str, says: str) -> None:
    assert told(view, query) == [says]
