"""Names that are compared whole."""

from __future__ import annotations

import unicodedata

import pytest

from notehop.app.retrieval.signals.title import TitleRetriever
from tests.app.retrieval.fake_index import FakeIndex, ids


def found(query, **options):
    index = (
        FakeIndex()
        .add("b/Übersicht.md", 10, 20)
        .add("a/Overview.md", 10, aliases=("Übersicht", "Straße 1"))
        .add("Empty.md")
    )
    return TitleRetriever(index, **options).retrieve(query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("overview", ["a/Overview.md:0"], id="title"),
        pytest.param("STRASSE  1\n", ["a/Overview.md:0"], id="alias, folded, spaces collapsed"),
        pytest.param(
            unicodedata.normalize("NFD", "übersicht"),
            ["a/Overview.md:0", "b/Übersicht.md:0"],
            id="composed or not; two notes by path",
        ),
        pytest.param("the overview", [], id="more than the name"),
        pytest.param("Empty", [], id="a note without text"),
        pytest.param("   ", [], id="nothing"),
    ],
)
def test_names(query, expected):
    assert ids(found(query)) == expected


def test_text_is_there():
    assert found("overview")[0].node.get_content() == "Overview part 0"


def test_only_what_is_allowed_the_first_of_it_in_each_note():
    assert ids(found("Übersicht", allowed={"b/Übersicht.md:1"})) == ["b/Übersicht.md:1"]
    assert found("Übersicht", allowed=set()) == []
