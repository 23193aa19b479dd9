"""Reads LlamaIndex's metadata filters as notehop's. Pure."""

from __future__ import annotations

from typing import Any

from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilters
from llama_index.core.vector_stores.types import MetadataFilter

from notehop.config.errors import QueryError

_FIELDS = {
    "tag": "tag",
    "tags": "tag",
    "path": "path",
    "file_path": "path",
    "folder": "path",
    "type": "type",
    "page_type": "type",
}

_ONE_OF = ("path", "type")
"""Fields of which a note meets one value; of the others it meets all."""

_KINDS = {
    FilterOperator.EQ: ("all", False),
    FilterOperator.CONTAINS: ("all", False),
    FilterOperator.ALL: ("all", False),
    FilterOperator.IN: ("any", False),
    FilterOperator.ANY: ("any", False),
    FilterOperator.NE: ("all", True),
    FilterOperator.NIN: ("any", True),
}
"""Operator -> whether all of its values are meant or any, and whether it is turned round."""

_DAYS = {FilterOperator.GTE: "after", FilterOperator.LT: "before"}


def fields_of(filters: MetadataFilters) -> dict[str, Any]:
    """The fields of :class:`notehop.app.models.Filters` that say the same.

    :raises QueryError: for what they cannot say; nothing is passed over.
    """
    found: dict[str, Any] = {}
    _read(filters, found, negated=False)
    return found


def _read(filters: MetadataFilters, found: dict[str, Any], *, negated: bool) -> None:
    if filters.condition == FilterCondition.OR and len(filters.filters) > 1:
        _read_alternatives(filters, found, negated=negated)
        return
    turned = filters.condition == FilterCondition.NOT
    if (turned and negated) or ((turned or negated) and len(filters.filters) > 1):
        raise QueryError("metadata filters are read with `not` around one filter alone")
    negated |= turned
    for one in filters.filters:
        if isinstance(one, MetadataFilters):
            _read(one, found, negated=negated)
        else:
            _put(found, one, negated=negated)


def _read_alternatives(filters: MetadataFilters, found: dict[str, Any], *, negated: bool) -> None:
    """Read filters of which one is enough: values of one field that takes several."""
    values: list[Any] = []
    fields = set()
    for one in filters.filters:
        if isinstance(one, MetadataFilters) or _KINDS.get(one.operator, ("", True))[1]:
            fields.add("")
            continue
        fields.add(_FIELDS.get(one.key, ""))
        values += _listed(one.value)
    if negated or len(fields) != 1 or not fields <= set(_ONE_OF):
        raise QueryError(
            "metadata filters are joined by `and` here, `or` is read between paths and between "
            "types alone; ask once for each, or write the filters of docs/filters.md"
        )
    _narrow(found, fields.pop(), values)


def _put(found: dict[str, Any], one: MetadataFilter, *, negated: bool) -> None:
    field, values = _FIELDS.get(one.key), _listed(one.value)
    if one.key == "date":
        name = _DAYS.get(one.operator)
        if name is None or negated or name in found or len(values) != 1:
            raise _unread(one, "a date is read with >= and with <, each once")
        found[name] = str(values[0])
        return
    if one.operator not in _KINDS or not values:
        raise _unread(one, "read are ==, !=, in, nin, any, all and contains, with a value")
    kind, turned = _KINDS[one.operator]
    negated ^= turned
    single = len(values) == 1
    if negated and not single and kind == "all":
        raise _unread(one, "it leaves out notes that have any of its values, not all of them")
    if not negated and not single and (kind == "any") != (field in _ONE_OF):
        raise _unread(
            one, "a note has one path and one type, and all the tags and values asked for"
        )
    into = found.setdefault("not", {}) if negated else found
    if field is None:
        into.setdefault("properties", {}).setdefault(one.key, []).extend(values)
    elif negated or field not in _ONE_OF:
        into.setdefault(field, []).extend(values)
    else:
        _narrow(found, field, values)


def _narrow(found: dict[str, Any], field: str, values: list[Any]) -> None:
    if field in found:
        raise QueryError(f"metadata filters name `{field}` twice; a note has one")
    found[field] = values


def _unread(one: MetadataFilter, why: str) -> QueryError:
    said = f"{one.key} {one.operator.value} {one.value!r}"
    return QueryError(f"the metadata filter `{said}` cannot be read: {why}")


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]
