"""What agents hand over is read kindly where its meaning is clear, and refused where not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from notehop.app.mcp.arguments import (
    BrowseArguments,
    CaptureArguments,
    SearchArguments,
    read_arguments,
)
from notehop.app.mcp.schemas import input_schema
from notehop.app.mcp.tools import TOOLS
from notehop.config.errors import QueryError


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        pytest.param({"top_k": "5"}, "top_k", 5, id="number-as-text"),
        pytest.param({"top_k": None}, "top_k", None, id="null-is-left-out"),
        pytest.param({"budget": None}, "budget", 2_000, id="null-is-the-default"),
        pytest.param({"results": "notes"}, "results", "notes", id="a-choice"),
        pytest.param({"query": "5"}, "query", "5", id="a-text-stays-one"),
        pytest.param({"query": '["a"]'}, "query", '["a"]', id="a-text-of-json-stays-one"),
    ],
)
def test_a_search_is_read(given: dict[str, Any], field: str, value: object) -> None:
    assert getattr(read_arguments(SearchArguments, {"query": "x", **given}), field) == value


@pytest.mark.parametrize("tag", ["fish", ["fish"]])
@pytest.mark.parametrize("pack", [lambda x: x, json.dumps])
def test_filters_may_be_written_as_text(tag: object, pack: Any) -> None:
    given = {"query": "x", "filters": pack({"tag": tag, "not": {"path": "Old"}})}
    filters = read_arguments(SearchArguments, given).filters
    assert (filters.tag, filters.not_.path) == (["fish"], ["Old"])


@pytest.mark.parametrize("notes", ["Atlas", ["Atlas"], '["Atlas"]'])
def test_one_note_will_do_for_a_list(notes: object) -> None:
    assert read_arguments(BrowseArguments, {"notes": notes}).notes == ["Atlas"]


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        (SearchArguments, {}, "query: Field required"),
        (SearchArguments, {"query": 5}, "query: Input should be a valid string"),
        (SearchArguments, {"query": "x", "budget": 10}, "budget: Input should be greater"),
        (SearchArguments, {"query": "x", "filters": {"tags": "a"}}, "filters.tags: Extra"),
        (CaptureArguments, {"text": "x", "title": "t" * 300}, "title: String should have"),
    ],
)
def test_what_is_wrong_is_named_and_not_repeated(
    kind: Any, given: dict[str, Any], told: str
) -> None:
    with pytest.raises(QueryError, match=told) as caught:
        read_arguments(kind, given)
    assert "ttt" not in str(caught.value)


def test_schemas_are_lean_and_name_every_argument() -> None:
    for tool in TOOLS.values():
        schema = input_schema(tool.arguments)
        fields = tool.arguments.model_fields.values()
        assert len(schema["properties"]) == len(fields)
        assert "$ref" not in json.dumps(schema)
        assert "null" not in json.dumps(schema)
        assert len(json.dumps(schema)) < 2_500
    filters = input_schema(SearchArguments)["properties"]["filters"]["properties"]
    assert filters["tag"]["items"] == {"type": "string"}
    assert filters["not"]["type"] == "object"


@pytest.mark.parametrize(
    "given",
    [
        {"filters": {"tag": [1] * 300_000}},
        {f"k{n}": 1 for n in range(300_000)},
        {"k" * 1_000_000: 1},
    ],
    ids=["values", "fields", "a-long-name"],
)
def test_of_much_that_is_wrong_little_is_told(given: dict[str, Any]) -> None:
    with pytest.raises(QueryError) as caught:
        read_arguments(SearchArguments, {"query": "x", **given})
    assert len(str(caught.value)) < 2_000
