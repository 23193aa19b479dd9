"""Filters as they are written, and what they leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import (
    EVERY_NOTE,
    Condition,
    FieldTokens,
    Filters,
    NoteRecord,
    Reader,
    Snapshot,
    Tokenizer,
    Written,
    chunks_left,
    field_tokens,
    notes_left,
    plan,
    property_label,
    read,
    remarks,
    words_in_order,
)
from tests.support.product import ConditionKind as Kind
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
    allowed = chunks_left(notes, conditions, view, WORDS)
    ids = [one for path in view.paths() for one in view.chunk_ids_of(path)]
    found = [] if allowed is None else allowed.among(ids)
    assert allowed is None or (found and 0 < allowed.share <= 1)
    assert allowed is None or allowed.pool is None or allowed.pool >= set(found)
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
        return chunks_left(EVERY_NOTE, [condition], view, WORDS) is not None

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


PROPERTIES = {"status", "note", "due-date", "größe", "book.author"}


def reading(query: str) -> Written:
    return read(query, lambda key: key.lower() in PROPERTIES)


FILTERS = {
    "tag": ("tag:fish eels", "eels", ["tag:fish"]),
    "nested tag": ("tag:fish/eel eels", "eels", ["tag:fish/eel"]),
    "tag with its sign": ("tag:#fish eels", "eels", ["tag:#fish"]),
    "plural": ("tags:fish eels", "eels", ["tag:fish"]),
    "case of a key": ("Tag:fish TYPE:book x", "x", ["tag:fish", "type:book"]),
    "in the middle": ("when do tag:fish elvers come", "when do elvers come", ["tag:fish"]),
    "at the end": ("elvers path:Topics", "elvers", ["path:Topics"]),
    "quoted value": ('path:"Projects/Hollin Reach" x', "x", ['path:"Projects/Hollin Reach"']),
    "curly quotes": ("path:“Hollin Reach” x", "x", ['path:"Hollin Reach"']),
    "path from the root": ("path:/Topics x", "x", ["path:/Topics"]),
    "glob": ("path:Daily/2026-* x", "x", ["path:Daily/2026-*"]),
    "glob that ends in a sign": ("path:Daily/2026-10-0? x", "x", ['path:"Daily/2026-10-0?"']),
    "question that ends in a path": ("what is in path:Daily?", "what is in ?", ["path:Daily"]),
    "dates": ("after:2026-10-01 before:2w x", "x", ["after:2026-10-01", "before:2w"]),
    "negated": ("-tag:fish -path:Archive x", "x", ["-tag:fish", "-path:Archive"]),
    "property": ("status:open x", "x", ["status:open"]),
    "property of another script": ("größe:klein x", "x", ["größe:klein"]),
    "nested property": ("book.author:Ellery x", "x", ["book.author:Ellery"]),
    "end of a sentence": ("what is status:open?", "what is ?", ["status:open"]),
    "list": ("tag:fish, tag:bird.", ", .", ["tag:fish", "tag:bird"]),
    "in brackets": ("eels (tag:fish)", "eels", ["tag:fish"]),
    "brackets in a value": ("path:Notes(old) x", "x", ['path:"Notes(old)"']),
    "phrase": ('"tide gate" cost', "tide gate cost", ['"tide gate"']),
    "phrase with curly quotes": ("“tide gate” cost", "tide gate cost", ['"tide gate"']),
    "negated phrase": ('cost -"tide gate"', "cost", ['-"tide gate"']),
    "phrase before a sign": ('who said "we wait"?', "who said we wait?", ['"we wait"']),
    "filter in a phrase": ('say "status:open"', "say status:open", ['"status:open"']),
    "twice": ("tag:fish tag:fish x", "x", ["tag:fish"]),
    "nothing else": ("tag:fish", "", ["tag:fish"]),
}


@pytest.mark.parametrize(("query", "text", "said"), FILTERS.values(), ids=FILTERS)
def test_a_filter(query: str, text: str, said: list[str]) -> None:
    found = reading(query)
    assert (found.text, [str(one) for one in found.conditions]) == (text, said)
    assert (found.unknown, found.without_value) == ((), ())


TEXTS = {
    "label": "note: call Bob",
    "label in capitals": "NOTE: status: open",
    "address": "see http://x.org/a?b=c and status://x",
    "time": "at 12:30 or 9:15pm",
    "verse": "John 3:16",
    "language": "C++: why",
    "scope": "std::vector and status::open",
    "port": "localhost:8080 python:3.11",
    "mail": "mailto:bob@x.com",
    "drive": "C:\\notes x:y",
    "emoji": ":smile: and :status:open",
    "code": "`status:open`",
    "in a word": "pre/status:open",
    "inches": '5" pipe and 3" hose',
    "quotes without words": '"?!" said',
    "open quote": 'say "tide gate',
    "hyphen": "pre-war - status -draft --flag",
    "other colon": "状态：完成 tag：鱼",
    "path of a page": "foo:a/b",
    "empty": "",
}


@pytest.mark.parametrize("query", TEXTS.values(), ids=TEXTS)
def test_ordinary_text(query: str) -> None:
    assert reading(query) == Written(query)


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("foo:bar baz", ("foo:bar",)),
        ("-foo:bar baz", ("-foo:bar",)),
        ('foo:"bar baz"', ('foo:"bar baz"',)),
        ("due_date:friday stat:x", ("due_date:friday", "stat:x")),
    ],
)
def test_what_looks_like_a_filter_is_text_and_said(query: str, unknown: tuple[str, ...]) -> None:
    assert reading(query) == Written(query, unknown=unknown)


@pytest.mark.parametrize("query", ["tag: fish", "fish tag:", "what was before: the flood"])
def test_a_key_without_value_is_text_and_said(query: str) -> None:
    found = reading(query)
    assert (found.text, found.conditions, len(found.without_value)) == (query, (), 1)


queries = st.text(
    st.sampled_from('tagpathstatus: -"“”()#/.,?!x\n\t\\`') | st.characters(), max_size=40
)


@given(query=queries)
def test_any_text_is_read(query: str) -> None:
    found = reading(query)
    # Words are dropped with filters only.
    assert found.conditions or found.text == query.strip()


values = st.text("abÄ /-_#*?東().,:!", min_size=1, max_size=12).map(lambda s: " ".join(s.split()))


@given(
    kind=st.sampled_from(["tag", "path", "type", "phrase"]),
    value=values.filter(words_in_order),
    negated=st.booleans(),
)
def test_a_filter_is_read_as_it_is_written(kind: Kind, value: str, negated: bool) -> None:
    condition = Condition(kind, value, negated=negated)
    assert reading(f"x {condition} y").conditions == (condition,)
