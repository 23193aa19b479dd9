"""The filters of a query, as they are written in its text, as fields, and as LlamaIndex has them; what they
leave of one generation of the index, and what is to be said of it."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import get_close_matches
from functools import partial, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from notehop.app.models import FilterFields, Filters
from notehop.config.errors import QueryError
from notehop.indexing.display import on_one_line
from notehop.indexing.graph.files import fold
from notehop.indexing.stores.filter_labels import (
    TAG,
    TYPE,
    NoteLabels,
    property_label,
    tag_label,
    value_label,
)
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import joined_words, words_in_order

if TYPE_CHECKING:
    from llama_index.core.vector_stores import MetadataFilters

ConditionKind = Literal["tag", "path", "after", "before", "type", "property", "phrase"]

FILTER_KEYS: dict[str, ConditionKind] = {
    "tag": "tag",
    "tags": "tag",
    "path": "path",
    "after": "after",
    "before": "before",
    "type": "type",
}
"""What may stand before the colon in any vault; keys of its front matter come to it."""

# Values that need no quotes.
_UNQUOTED = re.compile(r"[^\s:/\"“”()][^\s\"“”()]*(?<![.,;?!])|/(?!/)[^\s\"“”()]*(?<![.,;?!])")


class Condition(NamedTuple):
    """One thing that a note, or for a phrase a passage, must have, or if ``negated`` not: ``value`` as it
    was written, of the property ``key``, which is empty for other kinds."""

    kind: ConditionKind
    value: str
    key: str = ""
    negated: bool = False

    def __str__(self) -> str:
        """The condition as it is written in a query."""
        bare = self.kind != "phrase" and _UNQUOTED.fullmatch(self.value)
        value = self.value if bare else f'"{self.value}"'
        key = "" if self.kind == "phrase" else f"{self.key or self.kind}:"
        return f"{'-' if self.negated else ''}{key}{value}"


_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_RELATIVE_AGE = re.compile(r"(\d{1,5})([dwmy])")


def parse_filter_date(text: str, today: date) -> date:
    """Return the day that a date begins with: of a month or year, its first.

    :param text: as a person writes it, without regard to case.
    :raises QueryError: if it is none of what is accepted; the message says what is.
    """
    plain = text.strip().casefold()
    try:
        if plain == "today":
            return today
        if plain == "yesterday":
            return today - timedelta(days=1)
        if ago := _RELATIVE_AGE.fullmatch(plain):
            count, unit = int(ago[1]), ago[2]
            if unit in "dw":
                return today - timedelta(days=count * (7 if unit == "w" else 1))
            month = today.year * 12 + today.month - 1 - count * (12 if unit == "y" else 1)
            year, month = month // 12, month % 12 + 1
            # The same day of that month, or its last.
            return date(year, month, min(today.day, monthrange(year, month)[1]))
        if written := _DATE.fullmatch(plain):
            return date(int(written[1]), int(written[2] or 1), int(written[3] or 1))
    except (ValueError, OverflowError):
        # A 31st of June, or a time before the first year.
        pass
    raise QueryError(
        f"{text!r} is no date; write 2026-10-07, 2026-10, 2026, today, yesterday, or a time ago: "
        "7d, 2w, 3m, 1y"
    )


_QUOTED = r'"[^"\n]+"|“[^“”\n]+”'
_FILTER = re.compile(
    # At the start of a word: `5" pipe` and `std::map` hold no filter.
    rf"(?<![^\s(])(?P<minus>-?)"
    rf"(?:(?P<phrase>{_QUOTED})(?![\w])"
    rf"|(?P<key>[^\W\d_][\w-]*(?:\.\w[\w-]*)*):(?P<value>{_QUOTED}|[^\s\"“”:][^\s\"“”]*)?)"
)
_WORD_LIKE = re.compile(r"[^\W\d_][^/@\\]*")


class ParsedQuery(NamedTuple):
    """A query in its parts: ``text`` is searched for in what ``conditions`` leave. ``ignored`` look like
    filters and are none: nobody knows their key, or no value stands right behind the colon."""

    text: str
    conditions: tuple[Condition, ...] = ()
    ignored: tuple[str, ...] = ()


def parse_filters(query: str, is_property: Callable[[str], bool]) -> ParsedQuery:
    """Split a query into filters and text. The words of a phrase that must be there are searched for, too.

    :param is_property: whether the front matter of any note has a key; asked only where it matters.
    """
    parts: list[str] = []
    conditions: dict[Condition, None] = {}
    ignored: dict[str, None] = {}
    end = 0
    for match in _FILTER.finditer(query):
        negated, searched = bool(match["minus"]), ""
        if match["phrase"]:
            words = match["phrase"][1:-1]
            if not words_in_order(words):
                continue
            condition = Condition("phrase", " ".join(words.split()), negated=negated)
            searched = "" if negated else condition.value
        else:
            key, kind = match["key"], FILTER_KEYS.get(match["key"].casefold())
            value, searched = _unquote(match)
            # An address, or a key of no note, is ordinary text; so is a key without a value.
            if not value or match["value"].startswith("//") or not (kind or is_property(key)):
                # Hardly meant as a filter: an address, a time, a port or a drive.
                like_a_filter = len(key) > 1 and _WORD_LIKE.fullmatch(value)
                if (kind and not match["value"]) or (not kind and like_a_filter):
                    ignored[match[0]] = None
                continue
            condition = Condition(kind or "property", value, "" if kind else key, negated)
        conditions[condition] = None
        parts += [query[end : match.start()], searched]
        end = match.end()
    text = "".join([*parts, query[end:]])
    text = " ".join(text.replace("()", "").split()) if conditions else text.strip()
    return ParsedQuery(text, tuple(conditions), tuple(ignored))


def _unquote(found: re.Match[str]) -> tuple[str, str]:
    """Return a value without its quotes, or without the punctuation behind it, and that punctuation."""
    value = found["value"] or ""
    if value.startswith(('"', "“")):
        return value[1:-1].strip(), ""
    bare = value.rstrip(".,;?!" if "(" in value else ".,;?!)")
    return bare, value[len(bare) :]


EMPTY_QUERY_MESSAGE = "the query is empty; write what you look for"


def parse_query(
    query: str, filters: Filters, is_property: Callable[[str], bool], today: date, *, literal: bool = False
) -> ParsedQuery:
    """Parse a query: the filters in its text, unless that is ``literal``, then those given apart.

    :param is_property: whether the front matter of any note has a key.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    written = ParsedQuery(query.strip()) if literal else parse_filters(query, is_property)
    conditions = tuple(dict.fromkeys((*written.conditions, *conditions_of_fields(filters))))
    for condition in conditions:
        if condition.kind in ("after", "before"):
            try:
                parse_filter_date(condition.value, today)
            except QueryError as exc:
                raise QueryError(f"{condition}: {exc}") from None
    if not written.text and not conditions:
        raise QueryError(EMPTY_QUERY_MESSAGE)
    return ParsedQuery(written.text, conditions, written.ignored)


def conditions_of_fields(filters: Filters) -> Iterator[Condition]:
    """Yield the conditions of filters that are given as fields."""
    given: tuple[tuple[FilterFields, bool], ...] = ((filters, False), (filters.not_, True))
    for fields, negated in given:
        for kind in dict.fromkeys(FILTER_KEYS.values()):
            value = getattr(fields, kind)
            several = [value] if isinstance(value, str) else value or ()
            yield from (Condition(kind, one, negated=negated) for one in several)
        for key, of_key in fields.properties.items():
            for one in of_key:
                # As it is written in front matter.
                if isinstance(one, float) and one.is_integer():
                    one = int(one)
                value = str(one).lower() if isinstance(one, bool) else str(one)
                yield Condition("property", value, key, negated)
        phrases = filter(words_in_order, fields.phrases)
        yield from (Condition("phrase", one, negated=negated) for one in phrases)


MAX_QUERY_CHARS = 10_000  # of a query; a longer one is refused, not cut


def validate_query(text: str, filters: Filters | None = None) -> str:
    """Return the text of a query without white space around it, as text that can be encoded.

    A half of a surrogate pair, from a broken escape or from bytes that are no text, becomes ``?``.

    :param filters: those given beside it; a query that has any needs no text.
    :raises QueryError: if it is empty, or longer than :data:`MAX_QUERY_CHARS`.
    """
    if not text.strip() and (filters is None or not any(conditions_of_fields(filters))):
        raise QueryError(EMPTY_QUERY_MESSAGE)
    if len(text) > MAX_QUERY_CHARS:
        most = f"{MAX_QUERY_CHARS:,} is the most"
        raise QueryError(f"the query has {len(text):,} characters, and {most}; shorten it")
    return text.strip().encode("utf-8", "replace").decode()


_METADATA_FIELDS = {name: kind for name, kind in FILTER_KEYS.items() if kind not in ("after", "before")}
_METADATA_FIELDS |= {"file_path": "path", "folder": "path", "page_type": "type"}

ANY_VALUE_FIELDS = frozenset(("path", "type"))
"""Fields of which a note meets one value; of the others it meets all."""

# LlamaIndex's operators: all of their values are meant, or any; and those that are negated.
_ALL_OPERATORS, _ANY_OPERATORS = ("==", "contains", "all", "!="), ("in", "any", "nin")
_NEGATED_OPERATORS = ("!=", "nin")


def fields_of_metadata_filters(filters: MetadataFilters) -> dict[str, Any]:
    """Convert LlamaIndex's filters to the fields of :class:`notehop.app.models.Filters`.

    :raises QueryError: for what they cannot say; nothing is passed over.
    """
    fields: dict[str, Any] = {}
    condition = filters.condition or "and"
    if condition == "not" or (condition == "or" and len(filters.filters) > 1):
        raise _unsupported_filter(getattr(condition, "value", condition))
    for one in filters.filters:
        key, operator = getattr(one, "key", ""), getattr(one, "operator", None)
        if operator is None:
            raise _unsupported_filter("filters within filters")
        value = getattr(one, "value", None)
        values = value if isinstance(value, list) else [] if value is None else [value]
        refused = _unsupported_filter(f"{key} {operator.value} {value!r}")
        if key == "date":
            name = {">=": "after", "<": "before"}.get(operator)
            if name is None or name in fields or len(values) != 1:
                raise refused
            fields[name] = str(values[0])
            continue
        field, negated = _METADATA_FIELDS.get(key), operator in _NEGATED_OPERATORS
        if operator not in _ALL_OPERATORS + _ANY_OPERATORS or not values:
            raise refused
        is_any = operator in _ANY_OPERATORS
        if len(values) > 1 and (negated or field in ANY_VALUE_FIELDS) != is_any:
            raise refused
        into = fields.setdefault("not", {}) if negated else fields
        if field is None:
            into.setdefault("properties", {}).setdefault(key, []).extend(values)
        elif field in ANY_VALUE_FIELDS and field in into and not negated:
            raise refused
        else:
            into.setdefault(field, []).extend(values)
    return fields


def _unsupported_filter(text: str) -> QueryError:
    return QueryError(
        f"the metadata filter `{text}` cannot be read; read are ==, !=, in, nin, any, all and "
        "contains with a value (any of several paths or types, of which a note has one, and all of "
        "several tags or values), and `date` once with >= and once with <, joined by `and`"
    )


AllowedChunks: TypeAlias = Collection[ChunkId] | None
"""The only chunks that a signal may find; None for all."""


def keep_allowed(ids: Iterable[ChunkId], allowed: AllowedChunks) -> list[ChunkId]:
    """Return the ids that are allowed, in their order; None allows all."""
    return [one for one in ids if allowed is None or one in allowed]


Paths = frozenset[str]

AnyNoteExists = Callable[[Collection[str]], bool]
"""Paths -> whether any of these notes still exists; ``bool`` takes them as they were indexed.

What only a note says that became private since is named to nobody."""

_PHRASE_FIELDS = ("title", "aliases", "h1", "h2", "h3", "content")
"""Fields of the lexical index that a phrase may stand in."""


@dataclass(frozen=True, slots=True)
class NoteSelection:
    """The notes that filters leave: those of ``only`` (None is all) that are not in ``without``, of
    which a tag or path keeps out those that are ``hidden``."""

    only: Paths | None
    without: Paths
    hidden: Paths

    def __call__(self, path: str) -> bool:
        """Tell whether a note is left."""
        return path not in self.without and (self.only is None or path in self.only)


EVERY_NOTE = NoteSelection(None, frozenset(), frozenset())


def select_notes(conditions: Iterable[Condition], labels: NoteLabels, today: date) -> NoteSelection:
    """Select the notes that meet the conditions; phrases, which passages meet, are left out here."""
    groups: dict[object, Paths] = {}
    without = hidden = Paths()
    for condition in conditions:
        if condition.kind == "phrase":
            continue
        matching = notes_matching(condition, labels, today)
        if condition.negated:
            without |= matching
            if condition.kind in ("tag", "path"):
                hidden |= matching
        else:
            group = condition.kind if condition.kind in ANY_VALUE_FIELDS else condition
            groups[group] = groups.get(group, Paths()) | matching
    only = reduce(frozenset.intersection, groups.values()) if groups else None
    return NoteSelection(only, without, hidden)


def notes_matching(condition: Condition, labels: NoteLabels, today: date) -> Paths:
    """Return the notes that have what a condition names, negated or not."""
    value = condition.value
    if condition.kind == "tag":
        return labels.having(TAG, tag_label(value))
    if condition.kind == "type":
        return labels.having(TYPE, value_label(value))
    if condition.kind == "property":
        return labels.having(property_label(condition.key), value_label(value))
    if condition.kind == "path":
        return labels.under(value)
    day = parse_filter_date(value, today).isoformat()
    return labels.dated(day, None) if condition.kind == "after" else labels.dated(None, day)


def select_chunks(
    notes: NoteSelection, conditions: Iterable[Condition], view: Snapshot, tokenizer: Tokenizer
) -> frozenset[ChunkId]:
    """Select the chunks of these notes that have the phrases: in text, a heading or a name of the note."""
    labels = view.labels
    paths = filter(notes, labels.paths() if notes.only is None else notes.only)
    allowed = frozenset(chain.from_iterable(map(labels.chunk_ids, paths)))
    for condition in conditions:
        if condition.kind == "phrase":
            phrase = joined_words(condition.value)
            tokens = [tokenizer.of_phrase_word(word) for word in phrase.split()]
            # Only chunks that hold all its words have to be read.
            holding = map(partial(view.lexical.holding, tokens), _PHRASE_FIELDS)
            texts = view.catalog.said_in(allowed.intersection(chain.from_iterable(holding)))
            matching = frozenset(
                chunk_id
                for chunk_id, parts in texts.items()
                if any(phrase in joined_words(part) for part in parts)
            )
            allowed = allowed - matching if condition.negated else matching
    return allowed


class FilteredQuery(NamedTuple):
    """A query without its filters, and what they leave: ``allowed`` is None where there are none.
    ``has_no_terms``: there is no word to search for, the newest notes are wanted. ``filter_texts`` are the
    filters as they are written in a query."""

    text: str
    notes: NoteSelection
    allowed: frozenset[ChunkId] | None
    has_no_terms: bool
    filter_texts: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether the filters leave nothing."""
        return self.allowed is not None and not self.allowed


def apply_filters(
    query: str,
    filters: Filters,
    view: Snapshot,
    tokenizer: Tokenizer,
    any_exists: AnyNoteExists,
    *,
    literal: bool = False,
) -> FilteredQuery:
    """Read the filters of a query, in its text and apart, and find the chunks they leave.

    :param literal: whether the text holds no filters, whatever it looks like.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    labels, today = view.labels, date.today()
    parsed = parse_query(query, filters, lambda key: labels.has(property_label(key)), today, literal=literal)
    conditions = parsed.conditions
    has_no_terms = bool(conditions) and not words_in_order(parsed.text)
    warnings: list[str] = []
    for ignored in parsed.ignored:
        key, _, value = ignored.lstrip("-").partition(":")
        why = "write the value right after the colon, without a blank"
        if value:
            why = f"no note has the property {key}"
        warnings.append(f"{on_one_line(ignored)} was searched for as text: {why}")
    warnings += [
        f"filters.phrases: {phrase!r} holds no word and narrows nothing; it was left out"
        for phrase in (*filters.phrases, *filters.not_.phrases)
        if not words_in_order(phrase)
    ]
    notes, allowed = EVERY_NOTE, None
    if conditions:
        notes = select_notes(conditions, labels, today)
        allowed = select_chunks(notes, conditions, view, tokenizer)
        missing = unmatched_warnings(conditions, labels, today, any_exists)
        if not allowed and not missing:
            named = ", ".join(on_one_line(str(one)) for one in conditions)
            missing = [f"nothing meets all filters together: {named}"]
        warnings += missing
    text, filter_texts = "" if has_no_terms else parsed.text, tuple(map(str, conditions))
    return FilteredQuery(text, notes, allowed, has_no_terms, filter_texts, tuple(warnings))


MAX_SUGGESTED_VALUES = 3  # tags, types or values that are named instead of one that is not there
MAX_CHECKED_NOTES = 24  # notes of a name that are held against the files

_UNMATCHED_REASONS = {
    "tag": "no note has this tag",
    "path": "no note is there",
    "type": "no note is of this type",
    "property": "no note has this value; to search for the words, put them in quotes",
}


def unmatched_warnings(
    conditions: Iterable[Condition], labels: NoteLabels, today: date, any_exists: AnyNoteExists = bool
) -> list[str]:
    """Return a warning for each condition that no note meets, negated or not: it may be misspelt."""
    warnings: list[str] = []
    for one in conditions:
        # Of more than a few notes, it is taken that one of them is there.
        matching = () if one.kind == "phrase" else notes_matching(one, labels, today)
        if one.kind == "phrase" or len(matching) > MAX_CHECKED_NOTES or any_exists(matching):
            continue
        why = _UNMATCHED_REASONS.get(one.kind, "no note is of that time")
        if one.kind in ("tag", "type", "property"):
            label = {"tag": TAG, "type": TYPE}.get(one.kind) or property_label(one.key)
            known_values, wanted_value = labels.values(label), fold(one.value.lstrip("#"))
            why = why if known_values or one.kind != "property" else "no note has this property"
            alike = [
                *get_close_matches(wanted_value, known_values),
                *(value for value in known_values if wanted_value in value),
            ]
            near = [
                value
                for value in dict.fromkeys(alike[:MAX_CHECKED_NOTES])
                if any_exists(sorted(labels.having(label, value))[:MAX_CHECKED_NOTES])
            ][:MAX_SUGGESTED_VALUES]
            why += f"; alike: {', '.join(map(on_one_line, near))}" if near else ""
        warnings.append(f"{on_one_line(str(one))}: {why}")
    return warnings


def split_filters(view: Snapshot, text: str, *, literal: bool = False) -> ParsedQuery:
    """Split a query into its text and its filters; all of it is text where it is literal."""
    if literal:
        return ParsedQuery(text)
    return parse_filters(text, lambda key: view.labels.has(property_label(key)))
