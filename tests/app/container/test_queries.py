"""A query that cannot be run is refused before anything is loaded."""

from __future__ import annotations

import pytest

from notehop.app.container.queries import as_query, checked
from notehop.app.models import Query, SearchQuery
from notehop.config.errors import QueryError


def test_white_space_around_a_query_is_dropped() -> None:
    assert checked(" a b\n", 10) == "a b"


def test_what_is_no_text_becomes_text() -> None:
    assert checked("launch \ud800 \udcff", 20) == "launch ? ?"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param(" \n\t", "empty", id="blank"),
        pytest.param("x" * 100_000, "100,000 characters, and 10,000 is the most", id="long"),
    ],
)
def test_refused(text: str, says: str) -> None:
    with pytest.raises(QueryError, match=says):
        checked(text, 10_000)


def test_options_become_a_query() -> None:
    asked = as_query(SearchQuery, "q", {"top_k": 3, "connected": {"max": 0}, "results": "notes"})
    assert (asked.query, asked.top_k, asked.connected.max, asked.results) == ("q", 3, 0, "notes")


def test_a_question_can_be_searched_for() -> None:
    assert as_query(SearchQuery, Query(query="q", top_k=2), {}).top_k == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        pytest.param({"top_k": 0}, "top_k", id="out-of-range"),
        pytest.param({"colour": 1}, "colour", id="unknown"),
        pytest.param({"connected": {"order": "best"}}, "connected.order", id="nested"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], says: str) -> None:
    with pytest.raises(QueryError, match=says):
        as_query(Query, "q", options)
