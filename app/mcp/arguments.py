"""What an agent hands to a tool, and the schemas that it is told of. The descriptions are read by the
agent: they are all it knows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails

from notehop.app.models import Asked, CaptureQuery, Filters, Intent
from notehop.app.models.notes import MOST_SEEDS, Seed
from notehop.app.models.query import FilterFields, at_most, listed
from notehop.config.errors import QueryError

_DROPPED = frozenset(
    [
        "title",
        "minLength",
        "maxLength",
        "pattern",
        "maxItems",
        "maxProperties",
        "propertyNames",
        "patternProperties",
        "additionalProperties",
    ]
)
_NAMED = ("properties", "$defs")
"""Keys whose values map names of ours to schemas: a property may be called ``title``."""


@cache
def input_schema(model: type[BaseModel]) -> dict[str, Any]:
    """What a tool takes. Unknown arguments are refused, which the schema says at its top."""
    found = _lean(model.model_json_schema())
    # The description of the tool says it.
    found.pop("description", None)
    return {**found, "additionalProperties": False}


@cache
def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """What a tool replies."""
    found: dict[str, Any] = _lean(model.model_json_schema())
    return found


@cache
def filter_schema() -> dict[str, Any]:
    """Filters in one piece: what ``not`` takes is not said twice."""
    whole = Filters.model_json_schema()
    found: dict[str, Any] = _lean({**whole["$defs"]["FilterFields"], "description": ""})
    negated = {"type": "object", "description": "The same fields; notes with any of it are out."}
    return {"type": "object", "properties": {**found["properties"], "not": negated}}


@cache
def takes_text(model: type[BaseModel]) -> frozenset[str]:
    """The fields of a model whose value may be a text."""
    schema = model.model_json_schema()
    return frozenset(
        name for name, field in schema["properties"].items() if _is_text(field, schema)
    )


def _is_text(field: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    if field.get("type") == "string" or "enum" in field:
        return True
    return any(_is_text(one, schema) for one in field.get("anyOf", ()))


def _lean(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_lean(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {
        key: {name: _lean(one) for name, one in value.items()} if key in _NAMED else _lean(value)
        for key, value in schema.items()
        if key not in _DROPPED
    }
    if found.get("default", ...) is None:
        del found["default"]
    options = found.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options and "default" not in found:
        found = _with(found, [one for one in options if one != {"type": "null"}])
    elif isinstance(options, list) and any(_lists(one, options) for one in options):
        # One value will do where several may stand: it is enough to know of the list.
        found = _with(found, [one for one in options if _lists(one, options)])
    return found


def _with(schema: dict[str, Any], options: list[Any]) -> dict[str, Any]:
    """The schema with these in place of its ``anyOf``."""
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**(options[0] if len(options) == 1 else {"anyOf": options}), **rest}


def _lists(one: Any, options: list[Any]) -> bool:
    return isinstance(one, dict) and one.get("type") == "array" and one.get("items") in options


LEAST, MOST = 200, 50_000
"""Tokens that a budget may be: fewer hold no passage, more no model wants."""

LONGEST = 200
"""Characters of a name or message that is told back: a name may be as long as a request."""

Budget = Annotated[
    int,
    Field(
        ge=LEAST,
        le=MOST,
        description="Tokens that the result may take, about. What does not fit is named, not cut "
        "in the middle.",
    ),
]

Name = Annotated[str, Field(min_length=1, max_length=1_000, pattern=r"\S")]


Narrowing = Annotated[
    Filters,
    WithJsonSchema(filter_schema()),
    Field(default_factory=Filters, description="What notes must have, beside what the words say."),
]


class Narrowed(Asked):
    """What a question and a search have in common."""

    filters: Narrowing
    intent: Intent | None = Field(
        default=None,
        description="What you are after, where the words do not say it: status (how something "
        "stands now), timeline, person, concept, discovery; auto reads it from the words.",
    )
    top_k: int | None = Field(
        default=None, ge=1, le=100, description="Passages at most; more for a broad question."
    )


class SearchArguments(Narrowed):
    """Arguments of ``smart_search``."""

    guessed = (
        ("question", "query"),
        ("q", "query"),
        ("limit", "top_k"),
    )

    query: str = Field(
        description="What to look for: a question or key words, in the words of the notes. Filters "
        'may stand in it: tag:fish path:Projects after:2w type:meeting "exact words" -tag:old.'
    )
    results: Literal["chunks", "notes"] = Field(
        default="chunks", description="Passages, or the best passage of each note."
    )
    min_score: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Leave out hits of less relevance, which compares across searches; 0 shows weak "
        "ones, too, where nothing else matches.",
    )
    budget: Budget = 2_000


class AskArguments(Narrowed):
    """Arguments of ``ask``."""

    guessed = (
        ("query", "question"),
        ("q", "question"),
        ("limit", "top_k"),
    )

    question: str = Field(
        description="A question in plain words, one at a time. Filters may stand in it, as in "
        "smart_search."
    )
    connected: int | None = Field(
        default=None, ge=0, le=20, description="Connected notes at most; 0: none."
    )
    budget: Budget = 3_000


class BrowseArguments(Asked):
    """Arguments of ``graph_browse``."""

    guessed = (
        ("seeds", "notes"),
        ("note", "notes"),
        ("path", "notes"),
        ("file", "notes"),
        ("limit", "max"),
    )

    notes: Annotated[list[Seed], at_most(MOST_SEEDS), BeforeValidator(listed)] = Field(
        min_length=1,
        max_length=MOST_SEEDS,
        description="Notes to start from: paths, titles or aliases.",
    )
    depth: int = Field(default=1, ge=1, le=2, description="Links to follow.")
    direction: Literal["forward", "backward", "both"] = Field(
        default="both",
        description="forward: what they link to; backward: what links to them.",
    )
    rank: Literal["pagerank", "recency", "edges"] = Field(
        default="pagerank",
        description="Best first by how well linked, how new, or how often linked with these.",
    )
    max: int = Field(default=20, ge=1, le=100, description="Notes at most.")
    filters: Narrowing
    budget: Budget = 2_000


class ReadArguments(Asked):
    """Arguments of ``read_note``."""

    guessed = (
        ("path", "note"),
        ("file", "note"),
        ("name", "note"),
        ("heading", "section"),
    )

    note: Name = Field(description="Path in the vault, title or alias.")
    section: Name | None = Field(
        default=None,
        description="A heading (Plans, or Plans > Spring), or ^block; only that part is read.",
    )
    from_line: int = Field(
        default=1, ge=1, description="Line to go on from: next_line of the reading before."
    )
    outline_only: bool = Field(
        default=False, description="The headings and links alone, to choose a section by."
    )
    budget: Budget = 4_000


class CaptureArguments(CaptureQuery):
    """Arguments of ``capture``."""

    text: str = Field(
        min_length=1,
        max_length=200_000,
        pattern=r"\S",
        description="What to keep, in Markdown; [[links]] to notes are welcome.",
    )
    title: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="Its title; else the first line of the text."
    )


ArgumentsT = TypeVar("ArgumentsT", bound=Asked)


def read_arguments(kind: type[ArgumentsT], given: Mapping[str, Any]) -> ArgumentsT:
    """The arguments of a call.

    Agents are forgiven what they are known for: null for what is left out, and lists, objects and
    numbers written as text.

    :raises QueryError: naming the argument that is missing, unknown or wrong; without its value.
    """
    said = kind.by_own_names({name: value for name, value in given.items() if value is not None})
    plain = takes_text(kind)
    for name, value in said.items():
        if isinstance(value, str) and name in kind.model_fields and name not in plain:
            said[name] = _unpacked(value)
    text = "query" if "query" in kind.model_fields else "question"
    if isinstance(said.get("filters"), str) and isinstance(said.get(text), str):
        # As they are written in a query.
        said[text] = f"{said.pop('filters')} {said[text]}"
    try:
        return kind(**said)
    except ValidationError as exc:
        told = [
            f"{'.'.join(map(str, e['loc']))[:LONGEST] or 'together'}: {_why(kind, e)[:LONGEST]}"
            for e in exc.errors()[:5]
        ]
        raise QueryError(f"wrong arguments: {'; '.join(told)}") from exc


_GUESSED = dict(FilterFields.guessed)


def _why(kind: type[Asked], error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        name = str(error["loc"][0])
        if "filters" in kind.model_fields and name in {*FilterFields.model_fields, *_GUESSED}:
            return f'it is a filter; write "filters": {{"{_GUESSED.get(name, name)}": …}}'
        return f"there is none; it takes {', '.join(kind.model_fields)}"
    return error["msg"]


def _unpacked(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(found, str) else found
