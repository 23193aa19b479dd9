"""The lexical index: BM25 over the fields of chunks, exact while notes come and go."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.lexical_segments import (
    Ints,
    Segment,
    joined,
    read_segments,
    write_segments,
)
from notehop.indexing.stores.model import LIMITS, ChunkId, FieldTokens, Limits
from notehop.indexing.tokens.tokenizer import FIELDS, NearWords, Vocabulary

Words = TypeVar("Words", Vocabulary, NearWords)

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


@dataclass(frozen=True, slots=True)
class Ranking:
    """The parameters of the ranking; they act when a query is answered, and are not saved.

    :ivar boosts: weight by field, 0 to leave it out; fields not named keep that of `BOOSTS`.
    :ivar k1: how slowly a token's repeats level off, from 0 (a token counts once).
    :ivar b: how much a long field is marked down, from 0 (not) to 1 (fully).
    """

    boosts: Mapping[str, float] | None = None
    k1: float = 1.5
    b: float = 0.75


DEFAULT_RANKING = Ranking()


class LexicalIndex:
    """Chunks by the tokens of their fields, ranked by a weighted sum of BM25 (see :meth:`top`).

    Threads may query while one updates: what a query sees is never changed.

    :raises ValueError: for an unknown field or a number out of range.
    """

    def __init__(self, ranking: Ranking = DEFAULT_RANKING, limits: Limits = LIMITS) -> None:
        weights = {**BOOSTS, **(ranking.boosts or {})}
        if unknown := sorted(set(weights) - set(FIELDS)):
            raise ValueError(f"unknown fields {unknown}; fields are {', '.join(FIELDS)}")
        if not (min(weights.values()) >= 0 and ranking.k1 >= 0 and 0 <= ranking.b <= 1):
            raise ValueError(f"boosts and k1 are 0 or more and b is 0 to 1: {ranking}")
        self._boosts = np.array([weights[name] for name in FIELDS])
        self._ranking = ranking
        self._limits = limits
        self._writing = threading.Lock()
        self._turn = threading.Lock()
        self._segments: tuple[Segment, ...] = ()
        self._words: dict[str, None] = {}
        self._of_words: dict[type, tuple[int, Vocabulary | NearWords]] = {}

    @classmethod
    def build(
        cls,
        docs: Iterable[tuple[ChunkId, FieldTokens]],
        ranking: Ranking = DEFAULT_RANKING,
        limits: Limits = LIMITS,
    ) -> LexicalIndex:
        """Index ``docs``, whose ids are distinct; their order does not matter."""
        index = cls(ranking, limits)
        index.update((), docs)
        return index

    def __len__(self) -> int:
        return sum(segment.living for segment in self._segments)

    def __contains__(self, id_: ChunkId) -> bool:
        return any(len(segment.docs_of([id_])) for segment in self._segments)

    def ids(self) -> list[ChunkId]:
        return sorted(id_ for segment in self._segments for id_ in segment.living_ids())

    def frequency(self, token: str) -> int:
        """How many chunks hold ``token`` in any field."""
        return _frequency(self._segments, token)

    def tokens_with(self, part: str) -> list[str]:
        """The tokens of living chunks that begin or end with ``part`` and are longer.

        0.7 ms for 100,000 tokens; the first after a change that brought new ones takes 3 more.
        """
        found = self._made_of_words(Vocabulary).with_part(part)
        return [token for token in found if self._holds(token)]

    def near(self, word: str, stem: str, edits: int) -> dict[str, int]:
        """The tokens of living chunks that a word may be meant for, with the edits that part them
        (see :meth:`notehop.indexing.tokens.tokenizer.NearWords.near`)."""
        found = self._made_of_words(NearWords).near(word, stem, edits)
        return {token: far for token, far in found.items() if self._holds(token)}

    def _holds(self, token: str) -> bool:
        return any(segment.holds(token) for segment in self._segments if token in segment.terms)

    def held(self, tokens: Iterable[str], ids: Collection[ChunkId]) -> dict[ChunkId, set[str]]:
        """Id -> those of the tokens that the chunk holds in any field, for ids that are there."""
        wanted = [*dict.fromkeys(tokens)]
        found: dict[ChunkId, set[str]] = {}
        for segment in self._segments:
            docs = segment.docs_of(ids)
            found |= {segment.ids[doc]: set() for doc in docs.tolist()}
            for token in wanted:
                for doc in docs[_within(docs, segment.postings(token)[0])].tolist():
                    found[segment.ids[doc]].add(token)
        return found

    def holding(self, tokens: Iterable[str], name: str) -> set[ChunkId]:
        """The chunks that hold every one of ``tokens`` in a field; none where there is no token;
        ValueError for an unknown field."""
        field, wanted = FIELDS.index(name), [*dict.fromkeys(tokens)]
        found: set[ChunkId] = set()
        for segment in self._segments if wanted else ():
            postings = map(segment.postings, wanted)
            # From the rarest on: a name such as "Note 7" is looked for where its number stands.
            first, *others = sorted((docs[at == field] for docs, at, _ in postings), key=len)
            for docs in others:
                first = first[_within(first, docs)]
            found |= {segment.ids[doc] for doc in first[segment.alive[first]].tolist()}
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
            gone = {*removed, *ids}
            left = [segment.without(gone) for segment in self._segments]
            self._replace(_tidied([*left, *fresh], self._limits))

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
        segments = self._segments
        weights = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        found: list[tuple[Segment, npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
        for segment, scores in zip(segments, self._scores(segments, weights), strict=True):
            docs = np.flatnonzero(scores) if allowed is None else segment.docs_of(allowed)
            docs = docs[scores[docs] > 0]
            found.append((segment, docs, scores[docs]))
        every = np.concatenate([np.empty(0), *(scores for *_, scores in found)])
        # All that tie with the last place stay until ids have decided.
        least = np.partition(every, len(every) - k)[len(every) - k] if len(every) > k else 0.0
        hits: list[tuple[ChunkId, float]] = []
        for segment, docs, scores in found:
            within = scores >= least
            best = zip(docs[within].tolist(), scores[within].tolist(), strict=True)
            hits += [(segment.ids[doc], score) for doc, score in best]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]

    def _scores(
        self, segments: Sequence[Segment], weights: Mapping[str, float]
    ) -> list[npt.NDArray[np.float64]]:
        """The score of each document, by segment; 0 for those that are gone."""
        scores = [np.zeros(len(segment.ids)) for segment in segments]
        count = sum(segment.living for segment in segments)
        norms = self._norms(segments)
        for token, weight in weights.items():
            n = _frequency(segments, token)
            if n == 0:
                continue
            idf = math.log(1 + (count - n + 0.5) / (n + 0.5))
            gains = weight * idf * self._boosts
            for segment, out in zip(segments, scores, strict=True):
                docs, fields, counts = segment.postings(token)
                at = fields.astype(np.intp)
                sizes = segment.lengths.take(at * len(out) + docs)
                part = norms.take(at * norms.shape[1] + sizes)
                part += counts
                np.divide(counts, part, out=part)
                part *= gains.take(at)
                np.add.at(out, docs, part)
        for segment, out in zip(segments, scores, strict=True):
            if not segment.is_whole:
                out[~segment.alive] = 0
        return scores

    def _norms(self, segments: Sequence[Segment]) -> npt.NDArray[np.float64]:
        """Field, length -> what is added to tf in the denominator."""
        # The average is over the documents that have any token there: over all documents, a field
        # that few have (aliases) would have an average near 0, and every note with an alias would
        # count as far too long. By length and not by document: there are few.
        none = np.zeros(len(FIELDS), np.int64)
        longest = max((segment.longest for segment in segments), default=0)
        tokens = sum((segment.tokens for segment in segments), none)
        average = tokens / np.maximum(sum((segment.filled for segment in segments), none), 1)
        average[average == 0] = 1.0
        relative = np.arange(longest + 1) / average[:, np.newaxis]
        return self._ranking.k1 * ((1 - self._ranking.b) + self._ranking.b * relative)

    def save(self, path: Path, generation: int, stamp: str) -> None:
        """Write the index to a file, in place of what is there or not at all.

        What was removed is left out, so that no file holds words of it.

        :raises IndexUnwritable: if that fails; what was there stays.
        """
        with self._writing:
            self._replace(_compacted(self._segments, self._limits))
            write_segments(path, self._segments, generation, stamp)

    @classmethod
    def load(
        cls, path: Path, ranking: Ranking = DEFAULT_RANKING, limits: Limits = LIMITS
    ) -> tuple[LexicalIndex, int, str]:
        """Read what :meth:`save` wrote: index, generation, stamp; IndexDamaged if it is missing,
        unreadable or not as it was written."""
        index = cls(ranking, limits)
        segments, generation, stamp = read_segments(path)
        index._replace(segments)
        return index, generation, stamp

    def _replace(self, segments: Sequence[Segment]) -> None:
        known = {id(segment.terms) for segment in self._segments}
        new = (one.terms for one in segments if id(one.terms) not in known)
        with self._turn:
            # In place: a copy of all words would be the dearest of a small change.
            for terms in new:
                self._words.update(dict.fromkeys(terms))
        self._segments = tuple(segments)

    def _made_of_words(self, kind: type[Words]) -> Words:
        """What looks words up among those that there are, or were."""
        made = self._of_words.get(kind)
        if made is None or made[0] != len(self._words):
            with self._turn:
                words = tuple(self._words)
            made = self._of_words[kind] = len(words), kind(words)
        assert isinstance(made[1], kind)
        return made[1]


def _frequency(segments: Iterable[Segment], token: str) -> int:
    return sum(segment.frequency(token) for segment in segments if token in segment.terms)


def _within(docs: Ints, among: Ints) -> npt.NDArray[np.bool_]:
    """Which of some documents are among others; both ascend."""
    return among.searchsorted(docs) < among.searchsorted(docs, "right")


def _tidied(segments: list[Segment], limits: Limits) -> list[Segment]:
    """The same with the small segments joined, where they have become many."""
    small = [one for one in segments if one.living < limits.segment // limits.segments]
    if len(small) <= limits.segments:
        return segments
    return [*(one for one in segments if one not in small), joined(small)]


def _compacted(segments: Iterable[Segment], limits: Limits) -> list[Segment]:
    """The same documents in as few segments as their size allows, and none that is gone."""
    groups: list[list[Segment]] = []
    for segment in sorted(segments, key=lambda one: one.living, reverse=True):
        for group in groups:
            if sum(one.living for one in group) + segment.living <= limits.segment:
                group.append(segment)
                break
        else:
            groups.append([segment])
    return [
        group[0] if len(group) == 1 and group[0].is_whole else joined(group) for group in groups
    ]
