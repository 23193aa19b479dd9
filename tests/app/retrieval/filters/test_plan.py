"""A query is its text and its fields, joined."""

from __future__ import annotations

from datetime import date

import pytest

from notehop.app.models import Filters
from notehop.app.retrieval.filters.plan import Plan, plan
from notehop.config.errors import QueryError

TODAY = date(2026, 10, 9)


def planned(query: str, *, literal: bool = False, **fields: object) -> Plan:
    filters = Filters.model_validate(fields)
    return plan(query, filters, lambda key: key == "status", TODAY, literal=literal)


def said(found: Plan) -> list[str]:
    return [str(one) for one in found.conditions]


def test_text_and_fields_are_joined() -> None:
    found = planned("eels tag:fish", tag="river", **{"not": {"path": ["Archive", "Old"]}})
    assert (found.text, found.lists) == ("eels", False)
    assert said(found) == ["tag:fish", "tag:river", "-path:Archive", "-path:Old"]


def test_every_field_is_a_condition() -> None:
    fields = {
        "tag": ["a", "b"],
        "path": "P",
        "after": "7d",
        "before": "today",
        "type": "book",
        "properties": {"rating": 3, "done": True, "score": 2.0, "lead": ["x", "y z"]},
        "phrases": ["tide gate"],
    }
    expected = [
        *("tag:a", "tag:b", "path:P", "after:7d", "before:today", "type:book"),
        *("rating:3", "done:true", "score:2", "lead:x", 'lead:"y z"', '"tide gate"'),
    ]
    assert said(planned("x", **fields)) == expected
    assert said(planned("x", **{"not": fields})) == [f"-{one}" for one in expected]


def test_the_same_filter_twice_is_one() -> None:
    assert said(planned("x tag:a", tag=["a", "a"])) == ["tag:a"]


def test_a_phrase_in_the_text_is_searched_for_and_a_field_is_not() -> None:
    assert planned('"tide gate" cost').text == "tide gate cost"
    assert planned("cost", phrases="tide gate").text == "cost"


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        pytest.param("tag:a", {}, id="filters"),
        pytest.param("?! tag:a", {}, id="signs"),
        pytest.param("", {"tag": "a"}, id="fields"),
        pytest.param("", {"phrases": "a b"}, id="phrase-as-a-field"),
        pytest.param('-"a b"', {}, id="negated-phrase"),
    ],
)
def test_without_words_it_lists(query: str, fields: dict[str, object]) -> None:
    found = planned(query, **fields)
    assert (found.text, found.lists) == ("", True)


@pytest.mark.parametrize("query", ["eels tag:a", '"a b"', "?!"])
def test_with_words_or_without_filters_it_searches(query: str) -> None:
    assert not planned(query).lists


def test_a_literal_query_holds_no_filters() -> None:
    found = planned('"a" status:open after:noon tag:', literal=True, tag="x")
    assert found.text == '"a" status:open after:noon tag:'
    assert said(found) == ["tag:x"]
    assert (found.unknown, found.without_value) == ((), ())


def test_a_phrase_without_a_word_narrows_nothing() -> None:
    found = planned("x", phrases=["?!", "tide gate"])
    assert said(found) == ['"tide gate"']
    assert found.wordless == ("?!",)


@pytest.mark.parametrize(
    ("query", "fields", "says"),
    [
        pytest.param(" ", {}, "the query is empty", id="nothing"),
        pytest.param("x after:noon", {}, "after:noon: 'noon' is no date; write 2026", id="text"),
        pytest.param("x", {"before": "soon"}, "before:soon: 'soon' is no date", id="field"),
        pytest.param("x", {"not": {"after": "x"}}, "-after:x: 'x' is no date", id="negated"),
        pytest.param("", {"phrases": "?!"}, "empty", id="phrase without a word alone"),
    ],
)
def test_refused(query: str, fields: dict[str, object], says: str) -> None:
    with pytest.raises(QueryError, match=says):
        planned(query, **fields)
