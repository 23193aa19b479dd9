"""What conditions leave of the index: notes, chunks, and rankings among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import reduce
from itertools import chain

from notehop.app.retrieval.filters.parse import Condition, day_of
from notehop.app.retrieval.nodes import Hits
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
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.tokens.words import Phrase, joined_words

FEW = 8
"""Chunks are ranked by name where they are at most this fraction of all. Looking up each of more
takes longer than walking down the ranking of all (measured at 30,000 and 300,000 chunks)."""

_SPARE = 1.5
"""How many more hits are asked for than should be needed: those that are left lie unevenly."""

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

    phrase: Phrase
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
                self.known[one] = any(self.phrase.stands_in(joined_words(part)) for part in parts)
        return [one for one in ids if self.known.get(one, False) is not self.negated]


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """The chunks that the filters of a query leave.

    ``path_of`` gives the note of a chunk, ``takes`` whether the filters leave a note. ``pool``
    holds all chunks that may be left, None where those are most. ``share`` is that of all chunks,
    above 0, by estimate.
    """

    path_of: Callable[[ChunkId], str | None]
    takes: Callable[[str], bool]
    pool: frozenset[ChunkId] | None
    share: float
    phrases: tuple[PhraseTest, ...] = ()

    def __contains__(self, chunk_id: ChunkId) -> bool:
        return bool(self.among([chunk_id]))

    def among(self, ids: Sequence[ChunkId]) -> list[ChunkId]:
        """Those of the ids that are left, in their order."""
        left = [one for one in ids if (path := self.path_of(one)) is not None and self.takes(path)]
        for test in self.phrases:
            left = test.passing(left)
        return left

    def any_of(self, ids: Iterable[ChunkId]) -> bool:
        """Whether any of the ids is left; looks no further than it must."""
        waiting: list[ChunkId] = []
        for one in ids:
            waiting.append(one)
            if len(waiting) == _AT_ONCE:
                if self.among(waiting):
                    return True
                waiting = []
        return bool(self.among(waiting))

    def best(self, top: Top, k: int) -> Hits:
        """The best ``k`` of what is left: the ranking of all without the others.

        :param top: ranks all chunks, or some.
        """
        if self.pool is not None and not self.phrases:
            return top(k, self.pool)
        wanted = k if self.pool is not None else math.ceil(k * _SPARE / self.share)
        while True:
            hits = top(wanted, self.pool)
            left = set(self.among([one for one, _ in hits]))
            found = [hit for hit in hits if hit[0] in left]
            if len(found) >= k or len(hits) < wanted:
                return found[:k]
            wanted *= 4


def among(
    ids: Sequence[ChunkId], allowed: Allowed | Collection[ChunkId] | None
) -> Sequence[ChunkId]:
    """Those of the ids that are allowed, in their order; None allows all."""
    if allowed is None:
        return ids
    if isinstance(allowed, Allowed):
        return allowed.among(ids)
    return [one for one in ids if one in allowed]


def ranked(top: Top, k: int, allowed: Allowed | Collection[ChunkId] | None) -> Hits:
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
    groups: dict[object, list[Paths]] = {}
    out: list[Paths] = []
    hidden: list[Paths] = []
    for condition in conditions:
        if condition.kind == "phrase":
            continue
        found = notes_of(condition, labels, today)
        if not condition.negated:
            groups.setdefault(
                condition.kind if condition.kind in _EITHER else condition, []
            ).append(found)
            continue
        out.append(found)
        if condition.kind in ("tag", "path"):
            hidden.append(found)
    either = [
        frozenset[str]().union(*group) if len(group) > 1 else group[0] for group in groups.values()
    ]
    either.sort(key=len)
    return Notes(
        reduce(frozenset.intersection, either) if either else None,
        frozenset[str]().union(*out),
        frozenset[str]().union(*hidden),
    )


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
    notes: Notes,
    conditions: Iterable[Condition],
    view: Snapshot,
    labels: NoteLabels,
    tokenizer: Tokenizer,
) -> Allowed | None:
    """The chunks of these notes that pass the phrases; None if there are none."""
    tests = [
        phrase_test(condition, view, labels, tokenizer)
        for condition in conditions
        if condition.kind == "phrase"
    ]
    wanted = [test.maybe for test in tests if not test.negated]
    ids, share = _held(notes, wanted, view, labels)
    if share <= 0:
        return None
    pool = frozenset(ids) if share * FEW <= 1 else None
    allowed = Allowed(view.path_of, notes, pool, share, tuple(tests))
    if tests and not allowed.any_of(ids if pool is None else sorted(pool)):
        return None
    return allowed


def _held(
    notes: Notes, wanted: Sequence[Collection[ChunkId]], view: Snapshot, labels: NoteLabels
) -> tuple[Iterable[ChunkId], float]:
    """The chunks of the notes that are in all of ``wanted``, and their share of all chunks.

    Of many notes it is their share of all notes: to count their chunks would take longer than to
    find the notes.
    """
    total = max(len(view.chunk_vectors), 1)
    if wanted:
        small = min(wanted, key=len)
        held = [one for one in small if all(one in chunks for chunks in wanted)]
        ids = [one for one in held if (path := view.path_of(one)) is not None and notes(path)]
        return ids, min(1.0, len(ids) / total)
    paths = labels.paths() if notes.only is None else notes.only
    left = [path for path in paths if path not in notes.without] if notes.without else paths
    every = chain.from_iterable(map(labels.chunk_ids, left))
    if len(left) * FEW > len(labels.paths()):
        return every, min(1.0, len(left) / len(labels.paths()))
    ids = list(every)
    return ids, min(1.0, len(ids) / total)


def phrase_test(
    condition: Condition, view: Snapshot, labels: NoteLabels, tokenizer: Tokenizer
) -> PhraseTest:
    """The test for a phrase; only chunks that hold all its words have to be read."""
    phrase = Phrase(condition.value)
    tokens = [tokenizer.of_phrase_word(word) for word in phrase.words]
    fields = (view.lexical.holding(tokens, field) for field in _SAID)
    maybe = frozenset[ChunkId]().union(*fields)
    return PhraseTest(phrase, condition.negated, maybe, labels.said_in)
