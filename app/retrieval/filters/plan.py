"""Owns what a query asks: the text to search for, and the filters of both its forms. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from notehop.app.models import FilterFields, Filters
from notehop.app.retrieval.filters.condition import Condition
from notehop.app.retrieval.filters.days import day_of
from notehop.app.retrieval.filters.syntax import Written, read
from notehop.config.errors import QueryError
from notehop.indexing.tokens.words import words_said

EMPTY = "the query is empty; write what you look for"


@dataclass(frozen=True, slots=True)
class Plan:
    """A query as it will be run: ``text`` is searched for in what ``conditions`` leave.

    ``lists`` tells that there is no word to search for: the newest notes are wanted. ``unknown``
    and ``without_value`` are those of :class:`notehop.app.retrieval.filters.syntax.Written`; ``wordless``
    are the phrases that hold no word, and narrow nothing.
    """

    text: str
    conditions: tuple[Condition, ...]
    lists: bool
    unknown: tuple[str, ...] = ()
    without_value: tuple[str, ...] = ()
    wordless: tuple[str, ...] = ()


def plan(
    query: str,
    filters: Filters,
    is_property: Callable[[str], bool],
    today: date,
    *,
    literal: bool = False,
) -> Plan:
    """Read a query: the filters in its text, then those given apart.

    :param is_property: whether the front matter of any note has a key.
    :param literal: whether the text holds no filters, whatever it looks like.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    written = Written(query.strip()) if literal else read(query, is_property)
    conditions = tuple(dict.fromkeys((*written.conditions, *of_fields(filters))))
    for condition in conditions:
        if condition.kind in ("after", "before"):
            try:
                day_of(condition.value, today)
            except QueryError as exc:
                raise QueryError(f"{condition}: {exc}") from None
    if not written.text and not conditions:
        raise QueryError(EMPTY)
    lists = bool(conditions) and not words_said(written.text)
    return Plan(
        "" if lists else written.text,
        conditions,
        lists,
        written.unknown,
        written.without_value,
        tuple(
            phrase for phrase in (*filters.phrases, *filters.not_.phrases) if not words_said(phrase)
        ),
    )


def of_fields(filters: Filters) -> Iterator[Condition]:
    """The conditions of filters that are given as fields."""
    yield from _conditions(filters, negated=False)
    yield from _conditions(filters.not_, negated=True)


def _conditions(fields: FilterFields, *, negated: bool) -> Iterator[Condition]:
    for tag in fields.tag:
        yield Condition("tag", tag, negated=negated)
    for path in fields.path:
        yield Condition("path", path, negated=negated)
    if fields.after is not None:
        yield Condition("after", fields.after, negated=negated)
    if fields.before is not None:
        yield Condition("before", fields.before, negated=negated)
    for kind in fields.type:
        yield Condition("type", kind, negated=negated)
    for key, values in fields.properties.items():
        for value in values:
            yield Condition("property", _said(value), key, negated)
    for phrase in fields.phrases:
        if words_said(phrase):
            yield Condition("phrase", phrase, negated=negated)


def _said(value: str | bool | int | float) -> str:
    """A value as it is written in front matter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
