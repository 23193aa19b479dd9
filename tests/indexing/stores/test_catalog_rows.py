"""Rows: any value that a note can hold survives the catalog."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_rows import (
    PackedTokens,
    chunk_row,
    chunk_values,
    link_row,
    link_values,
    note_row,
    note_values,
    pack_tokens,
)
from notehop.indexing.stores.model import Batch, NoteRecord, NoteRow, NoteStatus
from tests.indexing.stores.index_samples import chunk, link, record

words = st.text(st.characters(exclude_categories=["Cs"]))
tuples = st.lists(words, max_size=4).map(tuple)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | words
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(
    title=words,
    aliases=tuples,
    page_type=st.none() | words,
    front=st.dictionaries(words, json_values, max_size=4),
    outline=st.lists(st.tuples(st.integers(1, 6), words, st.integers(1)), max_size=3).map(tuple),
    blocks=st.lists(st.tuples(words, st.integers(1), st.integers(1)), max_size=3).map(tuple),
    created=st.none() | st.floats(allow_nan=False),
)
def test_notes_survive(
    title: str,
    aliases: tuple[str, ...],
    page_type: str | None,
    front: dict[str, Any],
    outline: Any,
    blocks: Any,
    created: float | None,
) -> None:
    note = NoteRow(
        "a.md",
        title,
        NoteStatus.INDEXED,
        aliases=aliases,
        page_type=page_type,
        front_matter=front,
        outline=outline,
        blocks=blocks,
        created=created,
    )
    assert note_row(list(note_values(note).values())) == note


@given(text=words, heading=tuples, tokens=st.dictionaries(words, tuples.filter(bool), max_size=4))
def test_chunks_survive(text: str, heading: tuple[str, ...], tokens: Any) -> None:
    made = replace(chunk("a.md", 0, "x"), text=text, heading_path=heading, tokens=tokens)
    values = chunk_values(made, pack_tokens(tokens), 5)
    assert chunk_row(list(values.values())) == replace(made, generation=5)


@given(target=words, display=st.none() | words, candidates=tuples)
def test_links_survive(target: str, display: str | None, candidates: tuple[str, ...]) -> None:
    made = replace(link("a.md", 0, "x"), raw_target=target, display=display, candidates=candidates)
    assert link_row(list(link_values(made, "key").values())) == made


@given(st.dictionaries(words, tuples, max_size=4))
def test_packed_tokens_are_the_tokens_without_empty_fields(tokens: Any) -> None:
    packed = pack_tokens(tokens)
    assert PackedTokens(packed) == {name: value for name, value in tokens.items() if value}
    assert pack_tokens(PackedTokens(packed)) == packed
    assert pack_tokens(dict(reversed(tokens.items()))) == packed


def test_long_tokens_are_packed_small() -> None:
    tokens = {"content": ("word",) * 1000}
    assert len(pack_tokens(tokens)) < 200
    assert PackedTokens(pack_tokens(tokens)) == tokens


@pytest.mark.parametrize("packed", [b"", b"\0", b"\1nope", b"\0[1]", b'\0{"a": 1}'])
def test_tokens_that_cannot_be_read_say_so(packed: bytes) -> None:
    with pytest.raises(IndexDamaged, match="--rebuild"):
        len(PackedTokens(packed))


def test_front_matter_that_json_lacks_becomes_text(catalog: Catalog) -> None:
    front = {
        "due": dt.date(2024, 1, 2),
        "at": dt.datetime(2024, 1, 2, 3, 4),
        3: {"deep": (1, dt.date(2024, 5, 6))},
        "odd": float("nan"),
        "set": {"b", "a"},
        "bytes": b"x",
    }
    note = replace(record("a.md").note, front_matter=front)
    catalog.commit(Batch(upsert=(NoteRecord(note),)))
    stored = catalog.note("a.md")
    assert stored is not None
    assert stored.front_matter == {
        "due": "2024-01-02",
        "at": "2024-01-02T03:04:00",
        "3": {"deep": [1, "2024-05-06"]},
        "odd": "nan",
        "set": ["a", "b"],
        "bytes": "b'x'",
    }


def test_lone_surrogates_are_replaced_not_fatal(catalog: Catalog) -> None:
    """YAML can spell half a character; a database of UTF-8 cannot hold it."""
    made = record("a.md", "text", title="bad \ud800 title", tags=("\udfff",))
    odd = replace(made.chunks[0], text="t \udc00", tokens={"content": ("\ud801",)})
    catalog.commit(Batch(upsert=(replace(made, chunks=(odd,)),)))
    stored = catalog.note("a.md")
    assert stored is not None
    assert stored.title == "bad \ufffd title"
    assert stored.tags == ("\ufffd",)
    assert catalog.chunks_of("a.md")[0].text == "t \ufffd"
    assert dict(catalog.chunk_tokens()) == {odd.id: {"content": ("\ud801",)}}


def test_front_matter_that_holds_itself_ends() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = loop
    values = note_values(replace(record("a.md").note, front_matter=loop))
    assert len(values["front_matter"]) < 10_000
