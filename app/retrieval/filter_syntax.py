"""The filters of a query, as they are written in its text, as fields, and as LlamaIndex has them."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal

from notehop.app.models import BaseQuery, FilterFields, Filters
from notehop.config.errors import QueryError
from notehop.indexing.tokens.words import words_in_order

if TYPE_CHECKING:
    from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

Kind = Literal["tag", "path", "after", "before", "type", "property", "phrase"]

KEYS: dict[str, Kind] = {
    "tag": "tag",
    "tags": "tag",
    "path": "path",
    "after": "after",
    "before": "before",
    "type": "type",
}
"""What may stand before the colon in any vault; keys of its front matter come to it."""

# Values that need no quotes.
_BARE = re.compile(r"[^\s:/\"“”()][^\s\"“”()]*(?<![.,;?!])|/(?!/)[^\s\"“”()]*(?<![.,;?!])")


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that a note, or for a phrase a passage, must have, or if ``negated`` not: ``value`` as it
    was written, of the property ``key``, which is empty for other kinds."""

    kind: Kind
    value: str
    key: str = ""
    negated: bool = False

    def __str__(self) -> str:
        """The condition as it is written in a query."""
        bare = self.kind != "phrase" and _BARE.fullmatch(self.value)
        value = self.value if bare else f'"{self.value}"'
        key = "" if self.kind == "phrase" else f"{self.key or self.kind}:"
        return f"{'-' if self.negated else ''}{key}{value}"


_WRITTEN = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_AGO = re.compile(r"(\d{1,5})([dwmy])")


def day_of(said: str, today: date) -> date:
    """Return the day that a date begins with: of a month or year, its first.

    :param said: as a person writes it, without regard to case.
    :raises QueryError: if it is none of what is accepted; the message says what is.
    """
    text = said.strip().casefold()
    try:
        if text == "today":
            return today
        if text == "yesterday":
            return today - timedelta(days=1)
        if ago := _AGO.fullmatch(text):
            count, unit = int(ago[1]), ago[2]
            if unit in "dw":
                return today - timedelta(days=count * (7 if unit == "w" else 1))
            month = today.year * 12 + today.month - 1 - count * (12 if unit == "y" else 1)
            year, month = month // 12, month % 12 + 1
            # The same day of that month, or its last.
            return date(year, month, min(today.day, monthrange(year, month)[1]))
        if written := _WRITTEN.fullmatch(text):
            return date(int(written[1]), int(written[2] or 1), int(written[3] or 1))
    except (ValueError, OverflowError):
        # A 31st of June, or a time before the first year.
        pass
    raise QueryError(
        f"{said!r} is no date; write 2026-10-07, 2026-10, 2026, today, yesterday, or a time ago: "
        "7d, 2w, 3m, 1y"
    )


_QUOTED = r'"[^"\n]+"|“[^“”\n]+”'
_ITEM = re.compile(
    # At the start of a word: `5" pipe` and `std::map` hold no filter.
    rf"(?<![^\s(])(?P<minus>-?)"
    rf"(?:(?P<phrase>{_QUOTED})(?![\w])"
    rf"|(?P<key>[^\W\d_][\w-]*(?:\.\w[\w-]*)*):(?P<value>{_QUOTED}|[^\s\"“”:][^\s\"“”]*)?)"
)
_WORD_LIKE = re.compile(r"[^\W\d_][^/@\\]*")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query says: ``text`` is searched for in what ``conditions`` leave. ``ignored`` look like
    filters and are none: nobody knows their key, or no value stands right behind the colon."""

    text: str
    conditions: tuple[Condition, ...] = ()
    ignored: tuple[str, ...] = ()


def read(query: str, is_property: Callable[[str], bool]) -> ParsedQuery:
    """Take the filters out of a query. The words of a phrase that must be there are searched for, too.

    :param is_property: whether the front matter of any note has a key; asked only where it matters.
    """
    parts: list[str] = []
    conditions: dict[Condition, None] = {}
    ignored: dict[str, None] = {}
    end = 0
    for found in _ITEM.finditer(query):
        negated, kept = bool(found["minus"]), ""
        if found["phrase"]:
            words = found["phrase"][1:-1]
            if not words_in_order(words):
                continue
            condition = Condition("phrase", " ".join(words.split()), negated=negated)
            kept = "" if negated else condition.value
        else:
            key, kind = found["key"], KEYS.get(found["key"].casefold())
            value, kept = _bare(found)
            # An address, or a key of no note, is ordinary text; so is a key without a value.
            if not value or found["value"].startswith("//") or not (kind or is_property(key)):
                # Hardly meant as a filter: an address, a time, a port or a drive.
                like_a_filter = len(key) > 1 and _WORD_LIKE.fullmatch(value)
                if (kind and not found["value"]) or (not kind and like_a_filter):
                    ignored[found[0]] = None
                continue
            condition = Condition(kind or "property", value, "" if kind else key, negated)
        conditions[condition] = None
        parts += [query[end : found.start()], kept]
        end = found.end()
    text = "".join([*parts, query[end:]])
    text = " ".join(text.replace("()", "").split()) if conditions else text.strip()
    return ParsedQuery(text, tuple(conditions), tuple(ignored))


def _bare(found: re.Match[str]) -> tuple[str, str]:
    """A value without its quotes; or without what belongs to the sentence around it, and that."""
    value = found["value"] or ""
    if value.startswith(('"', "“")):
        return value[1:-1].strip(), ""
    bare = value.rstrip(".,;?!" if "(" in value else ".,;?!)")
    return bare, value[len(bare) :]


EMPTY = "the query is empty; write what you look for"


def plan(
    query: str,
    filters: Filters,
    is_property: Callable[[str], bool],
    today: date,
    *,
    literal: bool = False,
) -> ParsedQuery:
    """Read a query: the filters in its text, unless that is ``literal``, then those given apart.

    :param is_property: whether the front matter of any note has a key.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    written = ParsedQuery(query.strip()) if literal else read(query, is_property)
    conditions = tuple(dict.fromkeys((*written.conditions, *of_fields(filters))))
    for condition in conditions:
        if condition.kind in ("after", "before"):
            try:
                day_of(condition.value, today)
            except QueryError as exc:
                raise QueryError(f"{condition}: {exc}") from None
    if not written.text and not conditions:
        raise QueryError(EMPTY)
    return ParsedQuery(written.text, conditions, written.ignored)


def of_fields(filters: Filters) -> Iterator[Condition]:
    """The conditions of filters that are given as fields."""
    yield from _conditions(filters, negated=False)
    yield from _conditions(filters.not_, negated=True)


def _conditions(fields: FilterFields, *, negated: bool) -> Iterator[Condition]:
    for kind in dict.fromkeys(KEYS.values()):
        given = getattr(fields, kind)
        several = [given] if isinstance(given, str) else given or ()
        yield from (Condition(kind, one, negated=negated) for one in several)
    for key, of_key in fields.properties.items():
        for value in of_key:
            # As it is written in front matter.
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            said = str(value).lower() if isinstance(value, bool) else str(value)
            yield Condition("property", said, key, negated)
    phrases = filter(words_in_order, fields.phrases)
    yield from (Condition("phrase", one, negated=negated) for one in phrases)


MAX_QUERY_CHARS = 10_000  # of a query; a longer one is refused, not cut


def check(query: BaseQuery) -> None:
    """Refuse a query that no index could answer, before one is opened.

    :raises QueryError: as :func:`checked`, or if a date is none.
    """
    text = checked(query.query, query.filters)
    plan(text, query.filters, lambda _: False, date.today(), literal=query.literal)


def checked(text: str, filters: Filters | None = None) -> str:
    """Return the text of a query without white space around it, as text that can be encoded.

    A half of a surrogate pair, from a broken escape or from bytes that are no text, becomes ``?``.

    :param filters: those given beside it; a query that has any needs no text.
    :raises QueryError: if it is empty, or longer than :data:`MAX_QUERY_CHARS`.
    """
    if not text.strip() and (filters is None or not any(of_fields(filters))):
        raise QueryError(EMPTY)
    if len(text) > MAX_QUERY_CHARS:
        most = f"{MAX_QUERY_CHARS:,} is the most"
        raise QueryError(f"the query has {len(text):,} characters, and {most}; shorten it")
    return text.strip().encode("utf-8", "replace").decode()


_FIELDS = {
    "tag": "tag",
    "tags": "tag",
    "path": "path",
    "file_path": "path",
    "folder": "path",
    "type": "type",
    "page_type": "type",
}

ONE_OF = frozenset(("path", "type"))
"""Fields of which a note meets one value; of the others it meets all."""

_ALL, _ANY, _NOT = ("==", "contains", "all", "!="), ("in", "any", "nin"), ("!=", "nin")
"""LlamaIndex's operators: all of their values are meant, or any; and those that are turned round."""


def fields_of(filters: MetadataFilters) -> dict[str, Any]:
    """The fields of :class:`notehop.app.models.Filters` that say the same.

    :raises QueryError: for what they cannot say; nothing is passed over.
    """
    found: dict[str, Any] = {}
    for one in _joined(filters):
        key, operator, value = one.key, one.operator.value, one.value
        values = value if isinstance(value, list) else [] if value is None else [value]
        refused = _refused(f"{key} {operator} {value!r}")
        if key == "date":
            name = {">=": "after", "<": "before"}.get(operator)
            if name is None or name in found or len(values) != 1:
                raise refused
            found[name] = str(values[0])
            continue
        field, negated = _FIELDS.get(key), operator in _NOT
        if operator not in _ALL + _ANY or not values:
            raise refused
        if len(values) > 1 and (negated or field in ONE_OF) != (operator in _ANY):
            raise refused
        into = found.setdefault("not", {}) if negated else found
        if field is None:
            into.setdefault("properties", {}).setdefault(key, []).extend(values)
        elif field in ONE_OF and field in into and not negated:
            raise refused
        else:
            into.setdefault(field, []).extend(values)
    return found


def _joined(filters: MetadataFilters) -> Iterator[MetadataFilter]:
    """Each filter; all of them have to be met."""
    from llama_index.core.vector_stores import MetadataFilter

    condition = filters.condition or "and"
    if condition == "not" or (condition == "or" and len(filters.filters) > 1):
        raise _refused(getattr(condition, "value", condition))
    for one in filters.filters:
        if isinstance(one, MetadataFilter):
            yield one
        else:
            yield from _joined(one)


def _refused(said: str) -> QueryError:
    return QueryError(
        f"the metadata filter `{said}` cannot be read; read are ==, !=, in, nin, any, all and "
        "contains with a value (any of several paths or types, of which a note has one, and all of "
        "several tags or values), and `date` once with >= and once with <, joined by `and`"
    )
