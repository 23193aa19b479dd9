"""JSON schemas as an agent needs them: every session pays for them in tokens. Pure.

What only a validator reads is left out: the lengths and patterns are checked here in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

from notehop.app.models import Filters

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
