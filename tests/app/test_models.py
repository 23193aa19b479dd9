"""The models of the edges refuse what they do not know, and read what they write."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from notehop.app.models import Answer, Hit, Query, SearchQuery, SearchResult
from tests.app.answer.samples import connected, source


@pytest.mark.parametrize("model", [Query, SearchQuery])
def test_a_query_needs_only_its_text(model: type[Query]) -> None:
    asked = model(query="q")
    assert (asked.top_k, asked.explain, asked.connected.max) == (None, False, None)


@pytest.mark.parametrize("extra", [{"colour": 1}, {"connected": {"colour": 1}}, {"top_k": 101}])
def test_unknown_and_wrong_values_are_refused(extra: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Query.model_validate({"query": "q", **extra})


def test_a_whole_number_is_one_however_it_is_written() -> None:
    asked = Query.model_validate({"query": "q", "top_k": 5.0, "connected": {"max": 1.0}})
    assert (asked.top_k, asked.connected.max) == (5, 1)


@pytest.mark.parametrize("value", [5.5, "5", True, float("inf"), float("nan")])
def test_no_other_value_passes_for_a_whole_number(value: object) -> None:
    with pytest.raises(ValidationError):
        Query.model_validate({"query": "q", "top_k": value})


@pytest.mark.parametrize(
    "reply",
    [
        Answer(
            answer="In June [1].",
            mode="llm",
            citations=[],
            sources=[source(1, "text")],
            connected_notes=[connected(1, "text")],
            generation=3,
        ),
        SearchResult(
            hits=[Hit(**source(1, "text").model_dump(), file="a.md")],
            connected_notes=[],
            generation=3,
        ),
    ],
)
def test_replies_survive_json(reply: BaseModel) -> None:
    assert type(reply).model_validate_json(reply.model_dump_json()) == reply
