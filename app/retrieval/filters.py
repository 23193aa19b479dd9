"""What the filters of a query leave of one generation of the index, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import reduce
from itertools import chain, islice
from posixpath import basename, dirname
from typing import TypeAlias

from notehop.app.models import Filters
from notehop.app.retrieval.filter_syntax import Condition, ParsedQuery, day_of, plan
from notehop.indexing.graph.files import fold
from notehop.indexing.shown import counted, on_one_line
from notehop.indexing.stores.labels import (
    TAG,
    TYPE,
    NoteLabels,
    key_label,
    property_label,
    tag_label,
    value_label,
)
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.words import joined_words

AllowedChunks: TypeAlias = Collection[ChunkId] | None
"""The only chunks that a signal may find; None for all."""


def among(ids: Iterable[ChunkId], allowed: AllowedChunks) -> list[ChunkId]:
    """Those of the ids that are allowed, in their order; None allows all."""
    return [one for one in ids if allowed is None or one in allowed]


Paths = frozenset[str]

_EITHER = ("path", "type")
"""Kinds of which a note has one: several of them mean any of them."""

_SAID = ("title", "aliases", "h1", "h2", "h3", "content")
"""Fields of the lexical index that a phrase may stand in."""


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes that filters leave: those of ``only`` (None is all) that are not in ``without``.

    ``hidden`` are those of ``without`` that a tag or path keeps out.
    """

    only: Paths | None
    without: Paths
    hidden: Paths

    def __call__(self, path: str) -> bool:
        """Whether a note is left."""
        return path not in self.without and (self.only is None or path in self.only)


EVERY_NOTE = Notes(None, frozenset(), frozenset())


def notes_left(conditions: Iterable[Condition], labels: NoteLabels, today: date) -> Notes:
    """The notes that meet the conditions; phrases are those of passages and left out here."""
    groups: dict[object, Paths] = {}
    without = hidden = Paths()
    for condition in conditions:
        if condition.kind == "phrase":
            continue
        found = notes_of(condition, labels, today)
        if condition.negated:
            without |= found
            if condition.kind in ("tag", "path"):
                hidden |= found
        else:
            group = condition.kind if condition.kind in _EITHER else condition
            groups[group] = groups.get(group, Paths()) | found
    smallest_first = sorted(groups.values(), key=len)
    only = reduce(frozenset.intersection, smallest_first) if groups else None
    return Notes(only, without, hidden)


def notes_of(condition: Condition, labels: NoteLabels, today: date) -> Paths:
    """The notes that have what a condition names, negated or not."""
    value = condition.value
    if condition.kind == "tag":
        return labels.having(TAG, tag_label(value))
    if condition.kind == "type":
        return labels.having(TYPE, value_label(value))
    if condition.kind == "property":
        return labels.having(property_label(condition.key), value_label(value))
    if condition.kind == "path":
        return labels.under(value)
    day = day_of(value, today).isoformat()
    return labels.dated(day, None) if condition.kind == "after" else labels.dated(None, day)


def chunks_left(
    notes: Notes, conditions: Iterable[Condition], view: Snapshot, tokenizer: Tokenizer
) -> frozenset[ChunkId]:
    """The chunks of these notes that pass the phrases."""
    labels = view.labels
    paths = filter(notes, labels.paths() if notes.only is None else notes.only)
    left = frozenset(chain.from_iterable(map(labels.chunk_ids, paths)))
    for condition in conditions:
        if condition.kind == "phrase":
            saying = _saying(condition.value, left, view, tokenizer)
            left = left - saying if condition.negated else saying
    return left


def _saying(
    text: str, ids: frozenset[ChunkId], view: Snapshot, tokenizer: Tokenizer
) -> frozenset[ChunkId]:
    """Those of the chunks that say a phrase: in their text, a heading or a name of their note."""
    phrase = joined_words(text)
    tokens = [tokenizer.of_phrase_word(word) for word in phrase.split()]
    # Only chunks that hold all its words have to be read.
    maybe = ids.intersection(chain.from_iterable(view.lexical.holding(tokens, f) for f in _SAID))
    said = view.catalog.said_in(maybe)
    return frozenset(
        one for one, parts in said.items() if any(phrase in joined_words(part) for part in parts)
    )


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A query without its filters, and what they leave.

    ``allowed`` is None where there are no filters. ``lists`` tells that there is no word to search
    for. ``said`` are the filters as they are written in a query.
    """

    text: str
    notes: Notes
    allowed: frozenset[ChunkId] | None
    lists: bool
    said: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def nothing(self) -> bool:
        """Whether the filters leave nothing."""
        return self.allowed is not None and not self.allowed


def narrow(
    query: str,
    filters: Filters,
    view: Snapshot,
    tokenizer: Tokenizer,
    stands: Stands,
    *,
    literal: bool = False,
) -> Narrowed:
    """Read the filters of a query, in its text and apart, and find the chunks they leave.

    :param stands: whether any of some notes is there still: no other is named in a remark.
    :param literal: whether the text holds no filters, whatever it looks like.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    labels, today = view.labels, date.today()
    asked = plan(
        query, filters, lambda key: labels.has(property_label(key)), today, literal=literal
    )
    conditions = asked.conditions
    remarks = Remarks(labels, today, stands)
    warnings = remarks.of_text(asked)
    notes, allowed = EVERY_NOTE, None
    if conditions:
        notes = notes_left(conditions, labels, today)
        allowed = chunks_left(notes, conditions, view, tokenizer)
        warnings += remarks.of_conditions(conditions)
        if not allowed:
            warnings += remarks.of_nothing(
                conditions, lambda one: bool(chunks_left(EVERY_NOTE, [one], view, tokenizer))
            )
    said = tuple(map(str, conditions))
    return Narrowed(asked.text, notes, allowed, asked.lists, said, tuple(warnings))


NAMED = 5
"""Tags, folders or values that are named instead of one that is not there."""

LOOKED_AT = 24
"""Notes of a name that are held against the files."""

Stands = Callable[[Collection[str]], bool]
"""Whether any of some notes is there still; ``bool`` takes them as they were indexed.

What only a note says that became private since is named to nobody."""

KEYS_NAMED = 15
"""Keys of front matter that are named."""

_PATH_HELP = "folders are named from the vault's root, and a name with blanks is quoted"


@dataclass(frozen=True, slots=True)
class Remarks:
    """What is to be said of the filters of a query: what they may have been meant to be."""

    labels: NoteLabels
    today: date
    stands: Stands = bool

    def of_text(self, plan: ParsedQuery) -> list[str]:
        """Remarks on what looks like a filter and was taken for text."""
        said = [
            f"{on_one_line(text)} was searched for as text: no note has the property "
            f"{text.lstrip('-').partition(':')[0]} ({self._keys()})"
            for text in plan.unknown
        ]
        said += [
            f"{key}: was searched for as text: write the value right after the colon, without a "
            "blank"
            for key in plan.without_value
        ]
        said += [
            f"filters.phrases: {phrase!r} holds no word and narrows nothing; it was left out"
            for phrase in plan.wordless
        ]
        return said

    def of_conditions(self, conditions: Sequence[Condition]) -> list[str]:
        """A remark on each condition that no note meets, negated or not: it may be misspelt."""
        said: list[str] = []
        for condition in conditions:
            if condition.kind != "phrase":
                paths = notes_of(condition, self.labels, self.today)
                # Of more than a few, it is taken that one of them is there.
                if len(paths) <= LOOKED_AT and not self.stands(paths):
                    said.append(f"{on_one_line(str(condition))}: {self._unmet(condition)}")
        return said

    def of_nothing(
        self, conditions: Sequence[Condition], is_met: Callable[[Condition], bool]
    ) -> list[str]:
        """Say why nothing is left, as far as :meth:`of_conditions` does not.

        :param is_met: whether any passage meets the condition of a phrase.
        """
        unmet = [one for one in conditions if one.kind == "phrase" and not is_met(one)]
        if unmet:
            return [
                f"{on_one_line(str(one))}: "
                + (
                    "every passage says this"
                    if one.negated
                    else "no passage says this; without the quotes its words are searched for"
                )
                for one in unmet
            ]
        said: list[str] = []
        for one in conditions:
            count = ""
            if one.kind != "phrase":
                notes = len(notes_of(one, self.labels, self.today))
                if not notes and not one.negated:
                    return []
                count = f" ({counted(notes, 'note')})"
            said.append(on_one_line(str(one)) + count)
        if len(said) == 1:
            return [f"{said[0]}: this keeps out every note"]
        return [f"nothing meets all filters; alone they name: {', '.join(said)}"]

    def _unmet(self, condition: Condition) -> str:
        value, labels = condition.value, self.labels
        if condition.kind == "tag":
            tags = labels.values(TAG)
            otherwise = "it is spelt like none there is" if tags else "no note has any"
            near = self._standing(_near(tag_label(value), tags), TAG)
            return f"no note has this tag; {_named('the nearest are', near, otherwise)}"
        if condition.kind == "path":
            folders = _near_folders(value, labels.paths())
            near = list(islice((one for one in folders if self._any(labels.under(one))), NAMED))
            return f"no note is there; {_named('folders like it are', near, _PATH_HELP)}"
        if condition.kind == "type":
            types = self._standing(_often(labels.values(TYPE)), TYPE)
            return f"no note is of this type; {_named('there are', types, 'no note has one')}"
        if condition.kind != "property":
            return "no note is of that time"
        if not self._has(condition.key):
            return f"no note has this property; {self._keys()}"
        name, key = property_label(condition.key), key_label(condition.key)
        values = {one: n for one, n in labels.values(name).items() if not one.startswith("[[")}
        near = self._standing(_near(value_label(value), values), name)
        near = near or self._standing(_often(values), name)
        return (
            f"no note has this value; {_named(f'{key} is', near, f'{key} is empty')}; "
            "to search for the words, put them in quotes"
        )

    def _any(self, paths: Iterable[str]) -> bool:
        return self.stands(sorted(paths)[:LOOKED_AT])

    def _standing(self, values: Iterable[str], label: str) -> list[str]:
        """The first of the values that a note still has."""
        there = (one for one in values if self._any(self.labels.having(label, one)))
        return list(islice(there, NAMED))

    def _has(self, key: str) -> bool:
        """Whether a note still has a property, by its first values."""
        name = property_label(key)
        values = islice(self.labels.values(name), LOOKED_AT)
        held = (islice(self.labels.having(name, value), LOOKED_AT) for value in values)
        return self._any(chain.from_iterable(held))

    def _keys(self) -> str:
        every = self.labels.keys()
        keys = [key for key in every[: 2 * KEYS_NAMED] if self._has(key)]
        more = len(every) - KEYS_NAMED
        return _named("there are", keys[:KEYS_NAMED], "no note has any", more)


def _named(lead: str, names: Sequence[str], otherwise: str, more: int = 0) -> str:
    if not names:
        return otherwise
    rest = f" and {more} more" if more > 0 else ""
    return f"{lead}: {', '.join(on_one_line(name) for name in names)}{rest}"


def _near(value: str, known: Collection[str]) -> list[str]:
    """Names that are spelt like a value or hold it, nearest first; those it is nested in last."""
    spelt = get_close_matches(value, known, n=LOOKED_AT, cutoff=0.6)
    within = sorted(name for name in known if value in name) if value else []
    return list(dict.fromkeys([*spelt, *within]))[:LOOKED_AT]


def _often(known: Mapping[str, int]) -> list[str]:
    """The values that most notes have."""
    values = [value for value in known if value]
    return sorted(values, key=lambda value: (-known[value], value))[:LOOKED_AT]


def _near_folders(place: str, paths: Iterable[str]) -> list[str]:
    folders: dict[str, str] = {}
    for path in paths:
        folder = dirname(path)
        while folder and fold(folder) not in folders:
            folders[fold(folder)] = folder
            folder = dirname(folder)
    asked = fold(place).strip("/")
    same = sorted(one for one in folders if basename(one) == basename(asked))
    return [folders[one] for one in dict.fromkeys([*same, *_near(asked, sorted(folders))])][
        :LOOKED_AT
    ]
