"""Filters as they are written, and what they leave."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.product import ConditionKind as Kind
from tests.support.sample_index import SampleIndex, record
from tests.support.tables import rows

TODAY = date(2026, 10, 9)

DAY = 86_400.0

WORDS = product.Tokenizer("und")


def noted(path: str, *texts: str, **fields: Any) -> product.NoteRecord:
    """A note with a chunk for each text, whose words are in the index as the product has them."""
    title = path.rpartition("/")[2].removesuffix(".md")
    made = record(path, *texts, title=title, **fields)
    chunks = (replace(one, tokens=tokens_of(title, one.text)) for one in made.chunks)
    return replace(made, chunks=tuple(chunks))


def tokens_of(title: str, text: str) -> bytes:
    tokens = product.field_tokens(
        WORDS, title=title, aliases=(), tags=(), page_type=None, headings=(), content=text
    )
    return product.pack_tokens(tokens)


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
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[product.Snapshot]:
    index = SampleIndex(tmp_path_factory.mktemp("filters") / "index")
    index.write(*NOTES)
    with product.Reader(index.layout) as reader, reader.snapshot() as opened:
        yield opened


def conditions_of(view: product.Snapshot, query: str) -> tuple[product.Condition, ...]:
    known = view.labels.has
    return product.parse_query(
        query, product.Filters(), lambda key: known(product.property_label(key)), TODAY
    ).conditions


def left(view: product.Snapshot, query: str) -> set[str]:
    """The texts that the filters of a query leave."""
    conditions = conditions_of(view, query)
    notes = product.select_notes(conditions, view.labels, TODAY)
    allowed = product.select_chunks(notes, conditions, view, WORDS)
    ids = [one for path in view.paths() for one in view.chunk_ids_of(path)]
    found = [one for one in ids if one in allowed]
    assert len(found) == len(allowed)
    return {chunk.text for chunk in view.chunks(found).values()}


@pytest.mark.parametrize(("query", "texts"), rows(__file__, "what_is_left"))
def test_what_is_left(view: product.Snapshot, query: str, texts: list[str]) -> None:
    assert sorted(left(view, query)) == texts


def test_notes_that_a_path_or_tag_keeps_out_are_hidden(view: product.Snapshot) -> None:
    conditions = conditions_of(view, "-path:Archive -tag:gate -status:open -type:daily tag:fish")
    hidden = product.select_notes(conditions, view.labels, TODAY).hidden
    assert hidden == {"Archive/Old/Eel.md", "Topics/Tide gate.md"}


def told(view: product.Snapshot, query: str) -> list[str]:
    return list(product.apply_filters(query, product.Filters(), view, WORDS, bool).warnings)


@pytest.mark.parametrize(("query", "says"), rows(__file__, "what_is_said_of_nothing"))
def test_what_is_said_of_nothing(view: product.Snapshot, query: str, says: str) -> None:
    assert told(view, query) == [says]


PROPERTIES = {"status", "note", "due-date", "größe", "book.author"}


def reading(query: str) -> product.Written:
    return product.parse_filters(query, lambda key: key.lower() in PROPERTIES)


@pytest.mark.parametrize(("query", "text", "said"), rows(__file__, "a_filter"))
def test_a_filter(query: str, text: str, said: list[str]) -> None:
    found = reading(query)
    assert (found.text, [str(one) for one in found.conditions]) == (text, said)
    assert found.ignored == ()


@pytest.mark.parametrize("query", rows(__file__, "ordinary_text"))
def test_ordinary_text(query: str) -> None:
    assert reading(query) == product.Written(query)


@pytest.mark.parametrize(("query", "unknown"), rows(__file__, "what_looks_like_a_filter_is_text_and_said"))
def test_what_looks_like_a_filter_is_text_and_said(query: str, unknown: list[str]) -> None:
    assert reading(query) == product.Written(query, ignored=tuple(unknown))


@pytest.mark.parametrize("query", ["tag: fish", "fish tag:", "what was before: the flood"])
def test_a_key_without_value_is_text_and_said(query: str) -> None:
    found = reading(query)
    assert (found.text, found.conditions, len(found.ignored)) == (query, (), 1)


queries = st.text(st.sampled_from('tagpathstatus: -"“”()#/.,?!x\n\t\\`') | st.characters(), max_size=40)


@given(query=queries)
def test_any_text_is_read(query: str) -> None:
    found = reading(query)
    # Words are dropped with filters only.
    assert found.conditions or found.text == query.strip()


values = st.text("abÄ /-_#*?東().,:!", min_size=1, max_size=12).map(lambda s: " ".join(s.split()))


@given(
    kind=st.sampled_from(["tag", "path", "type", "phrase"]),
    value=values.filter(product.words_in_order),
    negated=st.booleans(),
)
def test_a_filter_is_read_as_it_is_written(kind: Kind, value: str, negated: bool) -> None:
    condition = product.Condition(kind, value, negated=negated)
    assert reading(f"x {condition} y").conditions == (condition,)
