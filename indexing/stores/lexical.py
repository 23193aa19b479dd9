"""Owns the lexical index: BM25 over the fields of chunks, exact while notes come and go.

Touches: index (save and load).
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.lexical_segments import (
    Ints,
    Segment,
    joined,
    living_ids,
    read_segments,
    write_segments,
)
from notehop.indexing.stores.model import LIMITS, ChunkId, FieldTokens, Limits
from notehop.indexing.tokens import FIELDS
from notehop.indexing.tokens.vocabulary import NearWords, Vocabulary

K1 = 1.5
B = 0.75
BOOSTS: Mapping[str, float] = MappingProxyType(
    {
        "title": 2.0,
        "aliases": 2.0,
        "tags": 2.0,
        "page_type": 1.5,
        "h1": 1.5,
        "h2": 1.3,
        "h3": 1.1,
        "content": 1.0,
    }
)
"""Weights of the fields where none are given."""


_NOTHING = (0,) * len(FIELDS)


@dataclass(frozen=True, eq=False)
class _State:
    """Segments, which of their documents are living, and what is counted over those."""

    segments: tuple[Segment, ...] = ()
    alive: tuple[npt.NDArray[np.bool_], ...] = ()
    living: tuple[int, ...] = ()
    tokens: tuple[int, ...] = _NOTHING
    holders: tuple[int, ...] = _NOTHING
    norms: dict[int, npt.NDArray[np.float64]] = field(default_factory=dict)

    @property
    def parts(self) -> Iterator[tuple[Segment, npt.NDArray[np.bool_]]]:
        return zip(self.segments, self.alive, strict=True)

    def place(self, id_: object) -> tuple[int, int] | None:
        """Segment and document of a living chunk; None if there is none of that id."""
        for at in range(len(self.segments) - 1, -1, -1):
            doc = self.segments[at].places.get(id_)  # type: ignore[call-overload]
            if doc is not None and self.alive[at][doc]:
                return at, doc
        return None

    def frequency(self, term: str) -> int:
        """How many living documents hold a term."""
        found = 0
        for at, segment in enumerate(self.segments):
            holders = segment.holders_of(term)
            whole = self.living[at] == len(segment.ids)
            found += len(holders) if whole else int(np.count_nonzero(self.alive[at][holders]))
        return found

    def without(self, gone: Iterable[ChunkId]) -> _State:
        """The same without some living chunks."""
        state = self
        for at, chosen in _chosen(self, gone).items():
            docs = sorted(chosen)
            alive = state.alive[at].copy()
            alive[docs] = False
            state = replace(
                state._accounted(state.segments[at].lengths[:, docs], -1),
                alive=(*state.alive[:at], alive, *state.alive[at + 1 :]),
                living=(*state.living[:at], int(alive.sum()), *state.living[at + 1 :]),
            )
        return state

    def with_segment(self, segment: Segment) -> _State:
        """The same with the documents of one more segment, none of whose ids is living."""
        size = len(segment.ids)
        return replace(
            self._accounted(segment.lengths, 1),
            segments=(*self.segments, segment),
            alive=(*self.alive, np.ones(size, dtype=np.bool_)),
            living=(*self.living, size),
        )

    def with_joined(self, places: Collection[int]) -> _State:
        """The same documents, those of some segments in one."""
        parts = [*self.parts]
        one = joined([parts[at] for at in sorted(places)])
        left = [at for at in range(len(parts)) if at not in places]
        return replace(
            self,
            segments=(*(self.segments[at] for at in left), one),
            alive=(*(self.alive[at] for at in left), np.ones(len(one.ids), dtype=np.bool_)),
            living=(*(self.living[at] for at in left), len(one.ids)),
        )

    def _accounted(self, lengths: Ints, sign: int) -> _State:
        tokens = lengths.sum(axis=1, dtype=np.int64).tolist()
        holders = np.count_nonzero(lengths, axis=1).tolist()
        return replace(
            self,
            tokens=tuple(a + sign * b for a, b in zip(self.tokens, tokens, strict=True)),
            holders=tuple(a + sign * b for a, b in zip(self.holders, holders, strict=True)),
            norms={},
        )


class LexicalIndex:
    """Chunks by the tokens of their fields, ranked by a weighted sum of BM25 (see :meth:`top`).

    Weights and the two parameters of BM25 are not part of what is saved: they act when a query is
    answered. Threads may query while one updates: what a query sees is never changed.

    :param boosts: weight by field, 0 to leave it out; fields not named keep that of `BOOSTS`.
    :param k1: how slowly a token's repeats level off, from 0 (a token counts once).
    :param b: how much a long field is marked down, from 0 (not) to 1 (fully).
    :raises ValueError: for an unknown field or a number out of range.
    """

    def __init__(
        self,
        boosts: Mapping[str, float] | None = None,
        k1: float = K1,
        b: float = B,
        limits: Limits = LIMITS,
    ) -> None:
        weights = {**BOOSTS, **(boosts or {})}
        if unknown := sorted(set(weights) - set(FIELDS)):
            raise ValueError(f"unknown fields {unknown}; fields are {', '.join(FIELDS)}")
        if not (min(weights.values()) >= 0 and k1 >= 0 and 0 <= b <= 1):
            raise ValueError(f"boosts and k1 are 0 or more and b is 0 to 1: {weights}, {k1=}, {b=}")
        self._boosts = tuple(weights[name] for name in FIELDS)
        self._k1 = k1
        self._b = b
        self._limits = limits
        self._writing = threading.Lock()
        self._state = _State()
        self._words: dict[str, None] = {}
        self._vocabulary: tuple[int, Vocabulary] | None = None
        self._near: tuple[int, NearWords] | None = None

    @classmethod
    def build(
        cls,
        docs: Iterable[tuple[ChunkId, FieldTokens]],
        boosts: Mapping[str, float] | None = None,
        k1: float = K1,
        b: float = B,
        limits: Limits = LIMITS,
    ) -> LexicalIndex:
        """Index ``docs``, whose ids are distinct; their order does not matter."""
        index = cls(boosts, k1, b, limits)
        index.update((), docs)
        return index

    def __len__(self) -> int:
        return sum(self._state.living)

    def __contains__(self, id_: object) -> bool:
        return self._state.place(id_) is not None

    def ids(self) -> list[ChunkId]:
        """The ids of all chunks, sorted."""
        return sorted(id_ for part, alive in self._state.parts for id_ in living_ids(part, alive))

    def frequency(self, token: str) -> int:
        """How many chunks hold ``token`` in any field."""
        return self._state.frequency(token)

    def tokens_with(self, part: str) -> list[str]:
        """The tokens of living chunks that begin or end with ``part`` and are longer.

        0.7 ms for 100,000 tokens; the first after a change that brought new ones takes 3 more.
        """
        state, words = self._state, self._words
        known = self._vocabulary
        if known is None or known[0] != len(words):
            known = self._vocabulary = len(words), Vocabulary(tuple(words))
        return [token for token in known[1].with_part(part) if state.frequency(token)]

    def near(self, word: str, stem: str, edits: int) -> dict[str, int]:
        """The tokens of living chunks that a word may be meant for, with the edits that part them
        (see :meth:`notehop.indexing.tokens.vocabulary.NearWords.near`)."""
        state, words = self._state, self._words
        known = self._near
        if known is None or known[0] != len(words):
            known = self._near = len(words), NearWords(tuple(words))
        found = known[1].near(word, stem, edits)
        return {token: far for token, far in found.items() if state.frequency(token)}

    def held(self, tokens: Iterable[str], ids: Collection[ChunkId]) -> dict[ChunkId, set[str]]:
        """Id -> those of the tokens that the chunk holds in any field, for ids that are there."""
        state, wanted = self._state, [*dict.fromkeys(tokens)]
        by_segment: dict[int, dict[int, ChunkId]] = {}
        for id_ in ids:
            if (place := state.place(id_)) is not None:
                by_segment.setdefault(place[0], {})[place[1]] = id_
        found: dict[ChunkId, set[str]] = {}
        for at, id_of in by_segment.items():
            segment, docs = state.segments[at], np.fromiter(id_of, np.int64, len(id_of))
            found |= {id_: set() for id_ in id_of.values()}
            for token in wanted:
                holders = segment.holders_of(token)
                first, end = holders.searchsorted(docs), holders.searchsorted(docs, "right")
                for doc in docs[first < end].tolist():
                    found[id_of[doc]].add(token)
        return found

    def holding(self, tokens: Iterable[str], name: str) -> set[ChunkId]:
        """The chunks that hold every one of ``tokens`` in a field; none where there is no token.

        :raises ValueError: for an unknown field.
        """
        wanted, number = FIELDS.index(name), [*dict.fromkeys(tokens)]
        found: set[ChunkId] = set()
        for segment, alive in self._state.parts if number else ():
            postings = [
                next((docs for at, docs, _ in segment.postings(token) if at == wanted), ())
                for token in number
            ]
            # From the rarest on: a name such as "Note 7" is looked for where its number stands.
            first, *others = sorted(
                (np.asarray(docs, dtype=np.int64) for docs in postings), key=len
            )
            for docs in others:
                if len(first):
                    at = np.minimum(np.searchsorted(docs, first), len(docs) - 1)
                    first = first[docs[at] == first]
            found |= {segment.ids[doc] for doc in first.tolist() if alive[doc]}
        return found

    def update(
        self, removed: Iterable[ChunkId], added: Iterable[tuple[ChunkId, FieldTokens]]
    ) -> None:
        """Remove chunks, then add chunks; queries see all of it or nothing.

        Afterwards the index ranks as if it had been built of what it now holds, to the last bit.

        :param removed: ids; one that is not there is passed over, so that an update can be redone.
        :param added: distinct ids; one that is there is replaced.
        :raises ValueError: if an id is added twice or a field is unknown; nothing is changed then.
        """
        with self._writing:
            fresh: list[Segment] = []
            ids: set[ChunkId] = set()
            stream = iter(added)
            while some := list(islice(stream, self._limits.segment)):
                for id_, _ in some:
                    if id_ in ids:
                        raise ValueError(f"chunk {id_} is added twice in one update")
                    ids.add(id_)
                fresh.append(Segment.count(some))
            state = self._state.without((*removed, *ids))
            for segment in fresh:
                state = state.with_segment(segment)
            self._replace(_tidied(state, self._limits))

    def top(
        self,
        tokens: Sequence[str] | Mapping[str, float],
        k: int,
        allowed: Collection[ChunkId] | None = None,
    ) -> list[tuple[ChunkId, float]]:
        """Rank the chunks that hold any of ``tokens``.

        score = sum over tokens t of weight(t) * idf(t) * sum over fields f of
        boost(f) * tf / (tf + k1 * (1 - b + b * length / average length)), where
        idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)), as in Lucene's BM25Similarity, and n counts the
        chunks that hold t in any field: within a single field, titles say, `the` is rare and would
        weigh like a name (Robertson, Zaragoza and Taylor, CIKM 2004, take n likewise).

        :param tokens: of :meth:`notehop.indexing.tokens.Tokenizer.query`; each counts as often as it
            stands there, or by the weight (0 or more) that a mapping gives it.
        :param allowed: the only chunks that may be returned; the statistics stay those of all.
        :returns: at most ``k`` of (id, score), best first, ties by id; scores are above 0.
        :raises ValueError: if ``k`` < 1.
        """
        if k < 1:
            raise ValueError(f"k is {k}, at least 1 is needed")
        state = self._state
        weights = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        places: list[Ints] = []
        values: list[npt.NDArray[np.float64]] = []
        chosen = None if allowed is None else _chosen(state, allowed)
        for at, scores in enumerate(self._scores(state, weights)):
            if chosen is not None:
                found = np.array(sorted(chosen.get(at, ())), dtype=np.int64)
                found = found[scores[found] > 0]
            else:
                found = np.flatnonzero(scores > 0)
            places.append(found)
            values.append(scores[found])
        least = _least(np.concatenate(values), k) if values else 0.0
        hits: list[tuple[ChunkId, float]] = []
        for segment, found, scores in zip(state.segments, places, values, strict=True):
            within = scores >= least
            best = zip(found[within].tolist(), scores[within].tolist(), strict=True)
            hits += [(segment.ids[doc], score) for doc, score in best]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]

    def _scores(self, state: _State, weights: Mapping[str, float]) -> list[npt.NDArray[np.float64]]:
        """The score of each document, by segment; 0 for those that are gone."""
        scores = [np.zeros(len(segment.ids)) for segment in state.segments]
        for token, weight in weights.items():
            n = state.frequency(token)
            if n == 0:
                continue
            idf = math.log(1 + (sum(state.living) - n + 0.5) / (n + 0.5))
            for segment, out in zip(state.segments, scores, strict=True):
                for name, docs, counts in segment.postings(token):
                    at = docs.astype(np.intp)
                    part = self._norms(state, name).take(segment.lengths[name].take(at))
                    part += counts
                    np.divide(counts, part, out=part)
                    part *= weight * idf * self._boosts[name]
                    out[at] += part
        for out, alive, count in zip(scores, state.alive, state.living, strict=True):
            if count < len(out):
                out[~alive] = 0
        return scores

    def _norms(self, state: _State, name: int) -> npt.NDArray[np.float64]:
        """Length -> what is added to tf in the denominator.

        The average is over the documents that have any token there: over all documents, a field
        that few have (aliases) would have an average near 0, and every note with an alias would
        count as far too long. By length and not by document: a change costs no pass over all.
        """
        norms = state.norms.get(name)
        if norms is None:
            longest = max(int(part.lengths[name].max(initial=0)) for part in state.segments)
            average = state.tokens[name] / max(state.holders[name], 1)
            relative = np.arange(longest + 1) / (average or 1.0)
            norms = state.norms[name] = self._k1 * ((1 - self._b) + self._b * relative)
        return norms

    def save(self, folder: Path, generation: int, fingerprint: str) -> None:
        """Write the index to ``folder``, in place of what is there or not at all.

        What was removed is left out, so that no file holds words of it.

        :raises IndexUnwritable: if that fails; what was there stays.
        """
        with self._writing:
            self._replace(_compacted(self._state, self._limits))
            write_segments(
                folder, self._state.segments, {"generation": generation, "made": fingerprint}
            )

    @classmethod
    def load(
        cls,
        folder: Path,
        boosts: Mapping[str, float] | None = None,
        k1: float = K1,
        b: float = B,
        limits: Limits = LIMITS,
    ) -> tuple[LexicalIndex, int, str]:
        """Read what :meth:`save` wrote: index, generation, fingerprint.

        :raises IndexDamaged: if it is missing, unreadable or not as it was written.
        """
        index = cls(boosts, k1, b, limits)
        segments, about = read_segments(folder)
        state = _State()
        for segment in segments:
            state = state.with_segment(segment)
        index._replace(state)
        return index, int(about["generation"]), str(about["made"])

    def _replace(self, state: _State) -> None:
        known = {id(segment) for segment in self._state.segments}
        new = [
            term
            for segment in state.segments
            if id(segment) not in known
            for term in segment.terms
            if term not in self._words
        ]
        if new:
            self._words = self._words | dict.fromkeys(new)
        self._state = state


def _chosen(state: _State, allowed: Iterable[ChunkId]) -> dict[int, set[int]]:
    """Segment -> documents of the living ones of some chunks."""
    found: dict[int, set[int]] = {}
    for id_ in allowed:
        if (place := state.place(id_)) is not None:
            found.setdefault(place[0], set()).add(place[1])
    return found


def _least(values: npt.NDArray[np.float64], k: int) -> float:
    """The score of the last place: all that tie with it stay until ids have decided."""
    if len(values) <= k:
        return 0.0
    return float(np.partition(values, len(values) - k)[len(values) - k])


def _tidied(state: _State, limits: Limits) -> _State:
    """The same with fewer segments where they have become many: the small ones joined."""
    if len(state.segments) <= limits.segments:
        return state
    by_size = sorted(range(len(state.segments)), key=state.living.__getitem__)
    some, total = by_size[:2], sum(state.living[at] for at in by_size[:2])
    for at in by_size[2:]:
        # One that is far larger is joined when the small ones together have come near it.
        if state.living[at] > 4 * total or total + state.living[at] > limits.segment:
            break
        some.append(at)
        total += state.living[at]
    return state.with_joined(some)


def _compacted(state: _State, limits: Limits) -> _State:
    """The same documents in as few segments as their size allows, and none that is gone."""
    groups: list[list[int]] = []
    for at in sorted(range(len(state.segments)), key=state.living.__getitem__, reverse=True):
        room = (one for one in groups if _size(state, one) + state.living[at] <= limits.segment)
        group = next(room, None)
        if group is None:
            groups.append([at])
        else:
            group.append(at)
    untouched = [
        one
        for one in groups
        if len(one) == 1 and _size(state, one) == len(state.segments[one[0]].ids)
    ]
    if len(untouched) == len(groups):
        return state
    made = _State()
    for group in groups:
        parts = [(state.segments[at], state.alive[at]) for at in group]
        made = made.with_segment(parts[0][0] if group in untouched else joined(parts))
    return made


def _size(state: _State, group: Sequence[int]) -> int:
    return sum(state.living[at] for at in group)
