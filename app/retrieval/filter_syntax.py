"""The filters of a query, as they are written in its text, as fields, and as LlamaIndex has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Literal

from notehop.app.models import BaseQuery, FilterFields, Filters
from notehop.config.errors import QueryError
from notehop.indexing.tokens.words import words_in_order

if TYPE_CHECKING:
    from llama_index.core.vector_stores import MetadataFilters
    from llama_index.core.vector_stores.types import MetadataFilter

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


_BARE = re.compile(r"[^\s:/\"“”()][^\s\"“”()]*(?<![.,;?!])|/(?!/)[^\s\"“”()]*(?<![.,;?!])")
"""Values that need no quotes."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that a note, or for a phrase a passage, must have; ``negated``: must not have.

    ``key`` is that of a property, empty for other kinds. ``value`` is as it was written.
    """

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


ACCEPTED = "write 2026-10-07, 2026-10, 2026, today, yesterday, or a time ago: 7d, 2w, 3m, 1y"

_WRITTEN = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_AGO = re.compile(r"(\d{1,5})([dwmy])")


def _months_before(day: date, months: int) -> date:
    """The same day so many months before, or the last of that month."""
    month = day.year * 12 + day.month - 1 - months
    first = date(month // 12, month % 12 + 1, 1)
    after = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    return first + timedelta(days=min(day.day, (after - first).days) - 1)


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
            count = int(ago[1])
            if ago[2] in "dw":
                return today - timedelta(days=count * (7 if ago[2] == "w" else 1))
            return _months_before(today, count * (12 if ago[2] == "y" else 1))
        if written := _WRITTEN.fullmatch(text):
            return date(int(written[1]), int(written[2] or 1), int(written[3] or 1))
    except (ValueError, OverflowError):
        # A 31st of June, or a time before the first year.
        pass
    raise QueryError(f"{said!r} is no date; {ACCEPTED}")


_QUOTED = r'"[^"\n]+"|“[^“”\n]+”'
_ITEM = re.compile(
    # At the start of a word: `5" pipe` and `std::map` hold no filter.
    rf"(?<![^\s(])(?P<minus>-?)"
    rf"(?:(?P<phrase>{_QUOTED})(?![\w])"
    rf"|(?P<key>[^\W\d_][\w-]*(?:\.\w[\w-]*)*):(?P<value>{_QUOTED}|[^\s\"“”:][^\s\"“”]*)?)"
)
_WORD_LIKE = re.compile(r"[^\W\d_][^/@\\]*")
_AFTER_A_VALUE = ".,;?!"
"""Signs at the end of a bare value that belong to the sentence around it."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What a query says: ``text`` is searched for in what ``conditions`` leave.

    ``unknown`` are texts that look like filters by a key that neither notehop nor the vault knows,
    ``without_value`` keys with nothing behind the colon, ``wordless`` phrases that hold no word and
    narrow nothing. ``lists`` tells that there is no word to search for: the newest notes are wanted.
    """

    text: str
    conditions: tuple[Condition, ...] = ()
    unknown: tuple[str, ...] = ()
    without_value: tuple[str, ...] = ()
    wordless: tuple[str, ...] = ()
    lists: bool = False


def read(query: str, is_property: Callable[[str], bool]) -> ParsedQuery:
    """Take the filters out of a query.

    The words of a phrase that must be there are searched for, too; all other filters are no text.

    :param is_property: whether the front matter of any note has a key; asked only where it matters.
    """
    parts: list[str] = []
    conditions: list[Condition] = []
    unknown: list[str] = []
    without_value: list[str] = []
    end = 0
    for found in _ITEM.finditer(query):
        if found["phrase"]:
            condition, left = _phrase(found), ""
        elif not found["value"]:
            if found["key"].casefold() in KEYS:
                without_value.append(found["key"])
            continue
        else:
            condition, left = _filter(found, is_property)
        if condition is not None:
            conditions.append(condition)
            kept = condition.value if condition.kind == "phrase" and not condition.negated else ""
            parts += [query[end : found.start()], kept + left]
            end = found.end()
        elif found["key"] and _looks_like_a_filter(found):
            unknown.append(found[0])
    parts.append(query[end:])
    text = "".join(parts)
    return ParsedQuery(
        " ".join(text.replace("()", "").split()) if conditions else text.strip(),
        tuple(dict.fromkeys(conditions)),
        tuple(dict.fromkeys(unknown)),
        tuple(dict.fromkeys(without_value)),
    )


def _phrase(found: re.Match[str]) -> Condition | None:
    """A phrase in quotes; None for quotes around no word."""
    words = found["phrase"][1:-1]
    if not words_in_order(words):
        return None
    return Condition("phrase", " ".join(words.split()), negated=bool(found["minus"]))


def _filter(
    found: re.Match[str], is_property: Callable[[str], bool]
) -> tuple[Condition | None, str]:
    """A key with its value, and what of the text belongs to neither.

    None where it is ordinary text: an address, or a key of no note.
    """
    key, (value, left) = found["key"], _bare(found["value"])
    if (
        left[:1] == "?"
        and KEYS.get(key.casefold()) == "path"
        and found.string[found.end() :].strip()
    ):
        # Within a query it is a sign of a glob, at its end that of a question.
        value, left = value + "?", left[1:]
    if not value or found["value"].startswith("//"):
        return None, ""
    negated = bool(found["minus"])
    kind = KEYS.get(key.casefold())
    if kind is not None:
        return Condition(kind, value, negated=negated), left
    return Condition("property", value, key, negated) if is_property(key) else None, left


def _bare(value: str) -> tuple[str, str]:
    """A value without its quotes; or without what belongs to the sentence around it, and that."""
    if value[0] in '"“':
        return value[1:-1].strip(), ""
    signs = _AFTER_A_VALUE if "(" in value else _AFTER_A_VALUE + ")"
    bare = value.rstrip(signs)
    return bare, value[len(bare) :]


def _looks_like_a_filter(found: re.Match[str]) -> bool:
    """Whether a writer may have meant a filter: not an address, a time, a port or a drive."""
    return len(found["key"]) > 1 and bool(_WORD_LIKE.fullmatch(_bare(found["value"])[0]))


EMPTY = "the query is empty; write what you look for"


def plan(
    query: str,
    filters: Filters,
    is_property: Callable[[str], bool],
    today: date,
    *,
    literal: bool = False,
) -> ParsedQuery:
    """Read a query: the filters in its text, then those given apart.

    :param is_property: whether the front matter of any note has a key.
    :param literal: whether the text holds no filters, whatever it looks like.
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
    lists = bool(conditions) and not words_in_order(written.text)
    phrases = (*filters.phrases, *filters.not_.phrases)
    return replace(
        written,
        text="" if lists else written.text,
        conditions=conditions,
        wordless=tuple(phrase for phrase in phrases if not words_in_order(phrase)),
        lists=lists,
    )


def of_fields(filters: Filters) -> Iterator[Condition]:
    """The conditions of filters that are given as fields."""
    yield from _conditions(filters, negated=False)
    yield from _conditions(filters.not_, negated=True)


def _conditions(fields: FilterFields, *, negated: bool) -> Iterator[Condition]:
    said: tuple[tuple[Kind, Sequence[str | None]], ...] = (
        ("tag", fields.tag),
        ("path", fields.path),
        ("after", [fields.after]),
        ("before", [fields.before]),
        ("type", fields.type),
    )
    for kind, values in said:
        yield from (Condition(kind, one, negated=negated) for one in values if one is not None)
    for key, of_key in fields.properties.items():
        yield from (Condition("property", _said(one), key, negated) for one in of_key)
    phrases = filter(words_in_order, fields.phrases)
    yield from (Condition("phrase", one, negated=negated) for one in phrases)


def _said(value: str | bool | int | float) -> str:
    """A value as it is written in front matter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def check(query: BaseQuery, longest: int) -> None:
    """Refuse a query that no index could answer, before one is opened.

    :param longest: characters that it may have.
    :raises QueryError: as :func:`checked`, or if a date is none.
    """
    text = checked(query.query, longest, query.filters)
    plan(text, query.filters, lambda _: False, date.today(), literal=query.literal)


def checked(text: str, longest: int, filters: Filters | None = None) -> str:
    """Return the text of a query without white space around it, as text that can be encoded.

    A half of a surrogate pair, from a broken escape or from bytes that are no text, becomes ``?``.

    :param longest: characters it may have.
    :param filters: those given beside it; a query that has any needs no text.
    :raises QueryError: if it is empty or longer.
    """
    if not text.strip() and (filters is None or not any(of_fields(filters))):
        raise QueryError(EMPTY)
    if len(text) > longest:
        raise QueryError(
            f"the query has {len(text):,} characters, and {longest:,} is the most; shorten it "
            "(or raise retrieval.max_query_chars)"
        )
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

_ONE_OF = frozenset(("path", "type"))
"""Fields of which a note meets one value; of the others it meets all."""

_KINDS = {
    "==": ("all", False),
    "contains": ("all", False),
    "all": ("all", False),
    "in": ("any", False),
    "any": ("any", False),
    "!=": ("all", True),
    "nin": ("any", True),
}
"""LlamaIndex's operator -> whether all of its values are meant or any, and whether it is turned round."""

_DAYS = {">=": "after", "<": "before"}


def fields_of(filters: MetadataFilters) -> dict[str, Any]:
    """The fields of :class:`notehop.app.models.Filters` that say the same.

    :raises QueryError: for what they cannot say; nothing is passed over.
    """
    found: dict[str, Any] = {}
    _read(filters, found, negated=False)
    return found


def _read(filters: MetadataFilters, found: dict[str, Any], *, negated: bool) -> None:
    from llama_index.core.vector_stores import MetadataFilters

    parts, turned = list(filters.filters), filters.condition == "not"
    if filters.condition == "or" and len(parts) > 1:
        parts = [_alternatives(parts, negated=negated)]
    if (turned and negated) or ((turned or negated) and len(parts) > 1):
        raise QueryError("metadata filters are read with `not` around one filter alone")
    for one in parts:
        if isinstance(one, MetadataFilters):
            _read(one, found, negated=negated or turned)
        else:
            _put(found, one, negated=negated or turned)


def _alternatives(
    parts: Sequence[MetadataFilter | MetadataFilters], *, negated: bool
) -> MetadataFilter:
    """Filters of which one is enough as one: values of one field that takes several."""
    from llama_index.core.vector_stores import FilterOperator, MetadataFilter

    plain = [one for one in parts if isinstance(one, MetadataFilter)]
    fields = {_FIELDS.get(one.key, "") for one in plain}
    turned = any(_KINDS.get(one.operator, ("", True))[1] for one in plain)
    if negated or turned or len(plain) < len(parts) or len(fields) != 1 or not fields & _ONE_OF:
        raise QueryError(
            "metadata filters are joined by `and` here, `or` is read between paths and between "
            "types alone; ask once for each, or write the filters of docs/filters.md"
        )
    values = [value for one in plain for value in _listed(one.value)]
    return MetadataFilter(key=fields.pop(), operator=FilterOperator.IN, value=values)


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
    elif field in _ONE_OF and field in into and not negated:
        raise QueryError(f"metadata filters name `{field}` twice; a note has one")
    else:
        into.setdefault(field, []).extend(values)


def _unread(one: MetadataFilter, why: str) -> QueryError:
    said = f"{one.key} {one.operator.value} {one.value!r}"
    return QueryError(f"the metadata filter `{said}` cannot be read: {why}")


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]
