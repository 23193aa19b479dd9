"""What the filters of a query leave of one generation of the index, and what is to be said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import partial, reduce
from itertools import chain, islice
from posixpath import basename, dirname
from typing import TypeAlias

from notehop.app.models import Filters
from notehop.app.retrieval.filter_syntax import ONE_OF, Condition, day_of, plan
from notehop.indexing.graph.files import fold
from notehop.indexing.shown import on_one_line
from notehop.indexing.stores.labels import (
    TAG,
    TYPE,
    NoteLabels,
    property_label,
    tag_label,
    value_label,
)
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import joined_words, words_in_order

AllowedChunks: TypeAlias = Collection[ChunkId] | None
"""The only chunks that a signal may find; None for all."""


def among(ids: Iterable[ChunkId], allowed: AllowedChunks) -> list[ChunkId]:
    """Those of the ids that are allowed, in their order; None allows all."""
    return [one for one in ids if allowed is None or one in allowed]


Paths = frozenset[str]

Stands = Callable[[Collection[str]], bool]
"""Whether any of some notes is there still; ``bool`` takes them as they were indexed.

What only a note says that became private since is named to nobody."""

_SAID = ("title", "aliases", "h1", "h2", "h3", "content")
"""Fields of the lexical index that a phrase may stand in."""


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes that filters leave: those of ``only`` (None is all) that are not in ``without``, of
    which a tag or path keeps out those that are ``hidden``."""

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
            group = condition.kind if condition.kind in ONE_OF else condition
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
    """The chunks of these notes that pass the phrases: in their text, a heading or a name of the note."""
    labels = view.labels
    paths = filter(notes, labels.paths() if notes.only is None else notes.only)
    left = frozenset(chain.from_iterable(map(labels.chunk_ids, paths)))
    for condition in conditions:
        if condition.kind == "phrase":
            phrase = joined_words(condition.value)
            tokens = [tokenizer.of_phrase_word(word) for word in phrase.split()]
            # Only chunks that hold all its words have to be read.
            holding = chain.from_iterable(view.lexical.holding(tokens, field) for field in _SAID)
            said = view.catalog.said_in(left.intersection(holding))
            saying = frozenset(
                one
                for one, parts in said.items()
                if any(phrase in joined_words(part) for part in parts)
            )
            left = left - saying if condition.negated else saying
    return left


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A query without its filters, and what they leave: ``allowed`` is None where there are none.
    ``lists``: there is no word to search for, the newest notes are wanted. ``said`` are the filters as
    they are written in a query."""

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

    :param literal: whether the text holds no filters, whatever it looks like.
    :raises QueryError: if there is neither text nor filter, or a date is none.
    """
    labels, today = view.labels, date.today()
    asked = plan(
        query, filters, lambda key: labels.has(property_label(key)), today, literal=literal
    )
    conditions = asked.conditions
    lists = bool(conditions) and not words_in_order(asked.text)
    warnings: list[str] = []
    for text in asked.ignored:
        key, _, value = text.lstrip("-").partition(":")
        why = "write the value right after the colon, without a blank"
        if value:
            why = f"no note has the property {key} ({_keys(key, labels, stands)})"
        warnings.append(f"{on_one_line(text)} was searched for as text: {why}")
    warnings += [
        f"filters.phrases: {phrase!r} holds no word and narrows nothing; it was left out"
        for phrase in (*filters.phrases, *filters.not_.phrases)
        if not words_in_order(phrase)
    ]
    notes, allowed = EVERY_NOTE, None
    if conditions:
        notes = notes_left(conditions, labels, today)
        allowed = chunks_left(notes, conditions, view, tokenizer)
        warnings += unmet(conditions, labels, today, stands)
        if not allowed:
            warnings += why_nothing(conditions, view, tokenizer, today)
    return Narrowed(
        "" if lists else asked.text,
        notes,
        allowed,
        lists,
        tuple(map(str, conditions)),
        tuple(warnings),
    )


NAMED = 5  # tags, folders, keys or values that are named instead of one that is not there
LOOKED_AT = 24  # notes of a name that are held against the files

_UNMET = {
    "tag": "no note has this tag",
    "path": "no note is there",
    "type": "no note is of this type",
    "property": "no note has this value",
}


def unmet(
    conditions: Iterable[Condition], labels: NoteLabels, today: date, stands: Stands = bool
) -> list[str]:
    """A remark on each condition that no note meets, negated or not: it may be misspelt."""
    said: list[str] = []
    for one in conditions:
        if one.kind == "phrase":
            continue
        paths = notes_of(one, labels, today)
        # Of more than a few, it is taken that one of them is there.
        if len(paths) > LOOKED_AT or stands(paths):
            continue
        why = "no note is of that time"
        if one.kind == "property" and not stands(_some_with(one.key, labels)):
            why = f"no note has this property; {_keys(one.key, labels, stands)}"
        elif one.kind in _UNMET:
            names = _instead(one, labels, stands)
            why = _UNMET[one.kind] + (f"; there are: {names}" if names else ", or any")
            if one.kind == "property":
                why += "; to search for the words, put them in quotes"
        said.append(f"{on_one_line(str(one))}: {why}")
    return said


def why_nothing(
    conditions: Sequence[Condition], view: Snapshot, tokenizer: Tokenizer, today: date
) -> list[str]:
    """Say why nothing is left, as far as :func:`unmet` does not."""
    phrases = [one for one in conditions if one.kind == "phrase"]
    said = [
        f"{on_one_line(str(one))}: no passage is left by this alone"
        + ("" if one.negated else "; without the quotes its words are searched for")
        for one in phrases
        if not chunks_left(EVERY_NOTE, [one], view, tokenizer)
    ]
    others = [one for one in conditions if one not in phrases and not one.negated]
    if not said and all(notes_of(one, view.labels, today) for one in others):
        named = ", ".join(on_one_line(str(one)) for one in conditions)
        said = [f"nothing meets all filters together: {named}"]
    return said


def _instead(condition: Condition, labels: NoteLabels, stands: Stands) -> str:
    """What of the kind of a condition is there."""
    known: Mapping[str, int]
    having: Callable[[str], Paths]
    if condition.kind == "path":
        folders: Counter[str] = Counter()
        for path in labels.paths():
            while path := dirname(path):
                folders[path] += 1
        known, having = folders, labels.under
    else:
        names = {"tag": TAG, "type": TYPE}
        label = names.get(condition.kind) or property_label(condition.key)
        known, having = labels.values(label), partial(labels.having, label)
    often = sorted(known, key=lambda one: (-known[one], one))
    return _nearest(condition.value, often, lambda one: stands(sorted(having(one))[:LOOKED_AT]))


def _nearest(asked: str, often: Sequence[str], is_there: Callable[[str], bool]) -> str:
    """Those of the names that are like one: ending alike, spelt like it or holding it first, then in
    their order."""
    folded = {fold(one): one for one in reversed(often) if one and not one.startswith("[[")}
    asked = fold(asked).strip("#/ ")
    alike = [one for one in sorted(folded) if basename(one) == basename(asked)]
    alike += get_close_matches(asked, folded, n=LOOKED_AT, cutoff=0.6)
    alike += [one for one in sorted(folded) if asked and asked in one]
    first = list(dict.fromkeys([*(folded[one] for one in alike), *reversed(folded.values())]))
    return ", ".join(map(on_one_line, islice(filter(is_there, first[:LOOKED_AT]), NAMED)))


def _some_with(key: str, labels: NoteLabels) -> list[str]:
    """Some of the notes that have a property, by its first values."""
    name = property_label(key)
    values = islice(labels.values(name), LOOKED_AT)
    held = chain.from_iterable(islice(labels.having(name, one), LOOKED_AT) for one in values)
    return sorted(held)[:LOOKED_AT]


def _keys(asked: str, labels: NoteLabels, stands: Stands) -> str:
    """The keys of properties that are like one."""
    near = _nearest(asked, labels.keys(), lambda key: stands(_some_with(key, labels)))
    return f"there are: {near}" if near else "no note has any"
