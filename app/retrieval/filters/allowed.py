"""Owns the chunks that filters leave, and ranking among them.

Touches: index (texts of chunks that may hold a phrase).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from notehop.app.retrieval.index_view import Hits
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.tokens.words import Phrase, said_by

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
                self.known[one] = any(self.phrase.stands_in(said_by(part)) for part in parts)
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
