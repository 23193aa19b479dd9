"""A base (a saved view of notes) as a note: which notes it shows, view by view. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from notehop.indexing.vault.front_matter import YamlProblem, read_yaml
from notehop.indexing.vault.parts import Part, PartsRead, Unreadable

_JOINS = {"and": "all of", "or": "any of", "not": "none of"}
_PLACES = ("type", "name", "filters", "order", "sort", "groupBy")
"""Keys of a view that are said in words, or have none to say (a column's width is kept apart)."""


def read_base(data: bytes) -> PartsRead:
    """Read a base: what holds for all of it, then a part a view, called by the view's name.

    Filters and formulas are text here: nothing is evaluated.

    :raises Unreadable: if it is no YAML mapping.
    """
    try:
        whole = read_yaml(data.decode("utf-8-sig")).values
    except (UnicodeDecodeError, YamlProblem) as exc:
        at = f"line {exc.line + 1}: " if isinstance(exc, YamlProblem) else ""
        raise Unreadable(f"is no base: {at}{exc}; open it in the app and save it") from exc
    parts = []
    if said := [*_filters(whole.get("filters"), "All views show notes with"), *_properties(whole)]:
        parts.append(Part((), "\n".join(said)))
    views = whole.get("views")
    for number, view in enumerate(views if isinstance(views, list) else (), start=1):
        if isinstance(view, Mapping):
            name = _flat(view.get("name")) or f"View {number}"
            parts.append(Part(((1, name),), "\n".join(_view(view))))
    return parts, []


def _view(view: Mapping[str, Any]) -> Iterable[str]:
    yield f"A {_flat(view.get('type')) or 'table'} of notes."
    yield from _filters(view.get("filters"), "It shows notes with")
    order = view.get("order")
    if columns := [_flat(one) for one in order] if isinstance(order, list) else []:
        yield f"Its columns are {', '.join(columns)}."
    for key, words in (("sort", "sorted"), ("groupBy", "grouped")):
        some = view.get(key)
        listed = some if isinstance(some, list) else [some]
        by = [" ".join(map(_flat, one.values())) for one in listed if isinstance(one, Mapping)]
        by += [_flat(one) for one in listed if isinstance(one, str)]
        if by:
            yield f"They are {words} by {', '.join(by)}."
    for key, value in view.items():
        if key not in _PLACES and isinstance(value, str | int) and _flat(value):
            yield f"{_flat(key)}: {_flat(value)}"


def _filters(found: Any, said: str, depth: int = 0) -> Iterable[str]:
    """Filters as a nested list; a mapping joins its own by ``and``, ``or`` or ``not``."""
    if found is None:
        return
    indent = "  " * depth
    if depth == 0:
        yield f"{said}:"
    if isinstance(found, Mapping):
        for key, value in found.items():
            yield f"{indent}- {_JOINS.get(key, _flat(key))}:"
            yield from _filters(value, said, depth + 1)
    elif isinstance(found, list):
        for one in found:
            yield from _filters(one, said, max(depth, 1))
    else:
        yield f"{indent}- {_flat(found)}"


def _properties(whole: Mapping[str, Any]) -> Iterable[str]:
    for key, said in (
        ("formulas", "Formula"),
        ("properties", "Property"),
        ("summaries", "Summary"),
    ):
        found = whole.get(key)
        for name, value in found.items() if isinstance(found, Mapping) else ():
            shown = value.get("displayName") if isinstance(value, Mapping) else value
            if isinstance(shown, str | int):
                yield f"{said} {_flat(name)}: {_flat(shown)}"


def _flat(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())
