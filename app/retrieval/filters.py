"""What the filters of a query leave of one generation of the index, and what is to be said of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from functools import reduce
from itertools import chain, islice
from posixpath import basename, dirname
from typing import TypeAlias

from notehop.app.models import Filters
from notehop.app.retrieval.filter_syntax import Condition, ParsedQuery, day_of, plan
from notehop.app.retrieval.nodes import Hits
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

_AT_ONCE = 200
"""Texts read at a time while one that holds a phrase is looked for."""

Top = Callable[[int, frozenset[ChunkId] | None], Hits]
"""(k, ids or None for all) -> the best k of them, fewer only if there are no more."""


@dataclass(slots=True)
class PhraseTest:
    """Whether a chunk says a phrase, or does not: in its text, a heading or a name of its note.

    ``maybe`` are the chunks that hold all its words; no other can say it. ``known`` keeps what was
    found out.
    """

    phrase: str
    negated: bool
    maybe: frozenset[ChunkId]
    said_in: Callable[[Iterable[ChunkId]], Mapping[ChunkId, tuple[str, ...]]]
    known: dict[ChunkId, bool] = field(default_factory=dict)

    def passing(self, ids: Sequence[ChunkId]) -> list[ChunkId]:
        """Those of the ids that pass, in their order."""
        new = [one for one in ids if one in self.maybe and one not in self.known]
        if new:
            said = self.said_in(new)
            for one in new:
                parts = reversed(said.get(one, ()))
                self.known[one] = any(self.phrase in joined_words(part) for part in parts)
        return [one for one in ids if self.known.get(one, False) is not self.negated]


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """The chunks that the filters of a query leave: those of ``ids`` that pass the phrases."""

    ids: frozenset[ChunkId]
    phrases: tuple[PhraseTest, ...] = ()

    def among(self, ids: Iterable[ChunkId]) -> list[ChunkId]:
        """Those of the ids that are left, in their order."""
        left = [one for one in ids if one in self.ids]
        for test in self.phrases:
            left = test.passing(left)
        return left

    def __bool__(self) -> bool:
        """Whether any chunk is left; looks no further than it must."""
        waiting = sorted(self.ids) if self.phrases else list(self.ids)
        slices = (waiting[at : at + _AT_ONCE] for at in range(0, len(waiting), _AT_ONCE))
        return any(self.among(some) for some in slices)

    def best(self, top: Top, k: int) -> Hits:
        """The best ``k`` of what is left.

        :param top: ranks some of all chunks.
        """
        if not self.phrases:
            return top(k, self.ids)
        # A phrase is looked for in what is ranked first, and no further than it must.
        wanted = k
        while True:
            hits = top(wanted, self.ids)
            left = set(self.among(one for one, _ in hits))
            found = [hit for hit in hits if hit[0] in left]
            if len(found) >= k or len(hits) < wanted:
                return found[:k]
            wanted *= 4


AllowedChunks: TypeAlias = Allowed | Collection[ChunkId] | None
"""The only chunks that a signal may find; None for all."""


def among(ids: Sequence[ChunkId], allowed: AllowedChunks) -> Sequence[ChunkId]:
    """Those of the ids that are allowed, in their order; None allows all."""
    if allowed is None:
        return ids
    if isinstance(allowed, Allowed):
        return allowed.among(ids)
    return [one for one in ids if one in allowed]


def ranked(top: Top, k: int, allowed: AllowedChunks) -> Hits:
    """The best ``k`` by a ranking, among what is allowed; None allows all."""
    if allowed is None:
        return top(k, None)
    if isinstance(allowed, Allowed):
        return allowed.best(top, k)
    return top(k, frozenset(allowed))


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
) -> Allowed | None:
    """The chunks of these notes that pass the phrases; None if there are none."""
    tests = []
    for condition in conditions:
        if condition.kind == "phrase":
            phrase = joined_words(condition.value)
            tokens = [tokenizer.of_phrase_word(word) for word in phrase.split()]
            fields = (view.lexical.holding(tokens, field) for field in _SAID)
            # Only chunks that hold all its words have to be read.
            maybe = frozenset[ChunkId]().union(*fields)
            tests.append(PhraseTest(phrase, condition.negated, maybe, view.catalog.said_in))
    labels = view.labels
    wanted = sorted((test.maybe for test in tests if not test.negated), key=len)
    if wanted:
        ids = wanted[0].intersection(*wanted[1:])
        ids = frozenset(
            one for one in ids if (path := view.path_of(one)) is not None and notes(path)
        )
    else:
        paths = filter(notes, labels.paths() if notes.only is None else notes.only)
        ids = frozenset(chain.from_iterable(map(labels.chunk_ids, paths)))
    allowed = Allowed(ids, tuple(tests))
    return allowed if allowed else None


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A query without its filters, and what they leave.

    ``allowed`` is None where there are no filters; ``nothing`` tells that they leave nothing.
    ``lists`` tells that there is no word to search for. ``said`` are the filters as they are
    written in a query.
    """

    text: str
    notes: Notes
    allowed: Allowed | None
    nothing: bool
    lists: bool
    said: tuple[str, ...]
    warnings: tuple[str, ...]


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
    labels = view.labels
    today = date.today()
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
    nothing = bool(conditions) and allowed is None
    if nothing:

        def alone(one: Condition) -> bool:
            return chunks_left(EVERY_NOTE, [one], view, tokenizer) is not None

        warnings += remarks.of_nothing(conditions, alone)
    return Narrowed(
        text=asked.text,
        notes=notes,
        allowed=allowed,
        nothing=nothing,
        lists=asked.lists,
        said=tuple(map(str, conditions)),
        warnings=tuple(warnings),
    )


NAMED = 5
"""Tags, folders or values that are named instead of one that is not there."""

LOOKED_AT = 24
"""Notes of a name that are held against the files."""

Stands = Callable[[Collection[str]], bool]
"""Whether any of some notes is there still; ``bool`` takes them as they were indexed.

What only a note says that became private since is named to nobody."""

KEYS_NAMED = 15
"""Keys of front matter that are named."""

_NEVER_MET = {
    False: "no passage says this; without the quotes its words are searched for",
    True: "every passage says this",
}

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
        unsaid = [one for one in conditions if one.kind == "phrase" and not is_met(one)]
        if unsaid:
            return [f"{on_one_line(str(one))}: {_NEVER_MET[one.negated]}" for one in unsaid]
        counts = {
            one: len(notes_of(one, self.labels, self.today))
            for one in conditions
            if one.kind != "phrase"
        }
        if any(not count and not one.negated for one, count in counts.items()):
            return []
        said = [
            on_one_line(str(one)) + (f" ({counted(counts[one], 'note')})" if one in counts else "")
            for one in conditions
        ]
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
