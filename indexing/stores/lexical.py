"""The lexical index: BM25 over the fields of chunks, exact while notes come and go."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.lexical_segments import Ints, Segment, joined, write_segments
from notehop.indexing.stores.rows import LIMITS, ChunkId, FieldTokens, Limits
from notehop.indexing.tokens.tokenizer import FIELDS, NearWords, Vocabulary

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
        # What a note is filed under ("project: [[Tidewatch]]") is what it is about.
        "linked": 1.0,
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


@dataclass(frozen=True, eq=False)
class LexicalIndex:
    """Chunks by the tokens of their fields, ranked by a weighted sum of BM25 (see :meth:`top`): a value
    that is never changed, and that threads may share."""

    ranking: Ranking = DEFAULT_RANKING
    limits: Limits = LIMITS
    segments: tuple[Segment, ...] = ()
    # Of the terms that were asked for: a query asks for each of its words several times.
    _frequencies: dict[str, int] = field(default_factory=dict, init=False)

    @classmethod
    def build(
        cls,
        docs: Iterable[tuple[ChunkId, FieldTokens]],
        ranking: Ranking = DEFAULT_RANKING,
        limits: Limits = LIMITS,
    ) -> LexicalIndex:
        """Index ``docs``, whose ids are distinct; their order does not matter."""
        return cls(ranking, limits).updated((), docs)

    def __len__(self) -> int:
        return sum(segment.living for segment in self.segments)

    def __contains__(self, id_: ChunkId) -> bool:
        return any(len(segment.docs_of([id_])) for segment in self.segments)

    def ids(self) -> list[ChunkId]:
        return sorted(id_ for segment in self.segments for id_ in segment.living_ids())

    def frequency(self, token: str) -> int:
        """How many chunks hold ``token`` in any field."""
        held = [segment for segment in self.segments if token in segment.terms]
        if held and token not in self._frequencies:
            self._frequencies[token] = sum(segment.frequency(token) for segment in held)
        return self._frequencies[token] if held else 0

    def tokens_with(self, part: str) -> list[str]:
        """The tokens of living chunks that begin or end with ``part`` and are longer.

        0.7 ms for 100,000 tokens; the first after a change takes some 10 more.
        """
        return [*filter(self._holds, self._vocabulary.with_part(part))]

    def near(self, word: str, stem: str, edits: int) -> dict[str, int]:
        """The tokens of living chunks that a word may be meant for, with the edits that part them
        (see :meth:`notehop.indexing.tokens.tokenizer.NearWords.near`)."""
        found = self._near_words.near(word, stem, edits)
        return {token: far for token, far in found.items() if self._holds(token)}

    def _holds(self, token: str) -> bool:
        return any(segment.holds(token) for segment in self.segments if token in segment.terms)

    @cached_property
    def _words(self) -> dict[str, None]:
        """Those of removed chunks too."""
        return dict.fromkeys(chain.from_iterable(segment.terms for segment in self.segments))

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self._words)

    @cached_property
    def _near_words(self) -> NearWords:
        return NearWords(self._words)

    def held(self, tokens: Iterable[str], ids: Collection[ChunkId]) -> dict[ChunkId, set[str]]:
        """Id -> those of the tokens that the chunk holds in any field, for ids that are there."""
        wanted = [*dict.fromkeys(tokens)]
        found: dict[ChunkId, set[str]] = {}
        for segment in self.segments:
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
        for segment in self.segments if wanted else ():
            postings = map(segment.postings, wanted)
            # From the rarest on: a name such as "Note 7" is looked for where its number stands.
            first, *others = sorted((docs[at == field] for docs, at, _ in postings), key=len)
            for docs in others:
                first = first[_within(first, docs)]
            found |= {segment.ids[doc] for doc in first[segment.alive[first]].tolist()}
        return found

    def updated(
        self, removed: Iterable[ChunkId], added: Iterable[tuple[ChunkId, FieldTokens]]
    ) -> LexicalIndex:
        """The same without some chunks, then with others: it ranks as if it had been built of what it now
        holds, to the last bit.

        :param removed: ids; one that is not there is passed over.
        :param added: distinct ids; one that is there is replaced.
        """
        fresh: list[Segment] = []
        stream = iter(added)
        while some := list(islice(stream, self.limits.segment)):
            fresh.append(Segment.count(some))
        gone = {*removed, *(id_ for segment in fresh for id_ in segment.ids)}
        segments = [*(segment.without(gone) for segment in self.segments), *fresh]
        most = self.limits.segment // self.limits.segments
        small = [segment for segment in segments if segment.living < most]
        if len(small) > self.limits.segments:
            segments = [*(one for one in segments if one not in small), joined(small)]
        return replace(self, segments=tuple(segments))

    def top(
        self, tokens: Sequence[str] | Mapping[str, float], k: int, allowed: Collection[ChunkId] | None = None
    ) -> list[tuple[ChunkId, float]]:
        """Rank the chunks that hold any of ``tokens``.

        score = sum over tokens t of weight(t) * idf(t) * sum over fields f of
        boost(f) * tf / (tf + k1 * (1 - b + b * length / average length)), where
        :func:`idf` counts the chunks that hold t in any field: within a single field, titles say,
        `the` is rare and would weigh like a name (Robertson, Zaragoza and Taylor, CIKM 2004, likewise).

        :param tokens: of :meth:`notehop.indexing.tokens.Tokenizer.query`; each counts as often as it
            stands there, or by the weight (0 or more) that a mapping gives it.
        :param allowed: the only chunks that may be returned; the statistics stay those of all.
        :returns: at most ``k`` of (id, score), best first, ties by id; scores are above 0.
        :raises ValueError: if ``k`` < 1.
        """
        if k < 1:
            raise ValueError(f"k is {k}, at least 1 is needed")
        weights = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        numbers = {token: self.frequency(token) for token in weights}
        gains = {
            token: weights[token] * idf(n, len(self)) * self._boosts for token, n in numbers.items() if n
        }
        found: list[tuple[Segment, npt.NDArray[np.int64], npt.NDArray[np.float64]]] = []
        for segment in self.segments:
            scores = self._scores(segment, gains)
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
        self, segment: Segment, gains: Mapping[str, npt.NDArray[np.float64]]
    ) -> npt.NDArray[np.float64]:
        """The score of each document; 0 for those that are gone."""
        scores = np.zeros(len(segment.ids))
        for token, gain in gains.items():
            docs, fields, counts = segment.postings(token)
            at = fields.astype(np.intp)
            sizes = segment.lengths.take(at * len(scores) + docs)
            part = self._norms.take(at * self._norms.shape[1] + sizes)
            part += counts
            np.divide(counts, part, out=part)
            part *= gain.take(at)
            np.add.at(scores, docs, part)
        if not segment.is_whole:
            scores[~segment.alive] = 0
        return scores

    @cached_property
    def _boosts(self) -> npt.NDArray[np.float64]:
        weights = {**BOOSTS, **(self.ranking.boosts or {})}
        return np.array([weights[name] for name in FIELDS])

    @cached_property
    def _norms(self) -> npt.NDArray[np.float64]:
        """Field, length -> what is added to tf in the denominator."""
        # The average is over the documents that have any token there: over all documents, a field
        # that few have (aliases) would have an average near 0, and every note with an alias would
        # count as far too long. By length and not by document: there are few.
        longest = max((segment.longest for segment in self.segments), default=0)
        none = np.zeros((2, len(FIELDS)), np.int64)
        tokens, filled = sum((segment.totals for segment in self.segments), none)
        average = tokens / np.maximum(filled, 1)
        average[average == 0] = 1.0
        relative = np.arange(longest + 1) / average[:, np.newaxis]
        return self.ranking.k1 * ((1 - self.ranking.b) + self.ranking.b * relative)

    def save(self, path: Path, generation: int, stamp: str) -> None:
        """Write the index to a file, in place of what is there or not at all.

        What was removed is left out, so that no file holds words of it.

        :raises IndexUnwritable: if that fails; what was there stays.
        """
        write_segments(path, _compacted(self.segments, self.limits.segment), generation, stamp)


def idf(holding: int, chunks: int) -> float:
    """Inverse document frequency as in Lucene's BM25Similarity, above 0."""
    return math.log(1 + (chunks - holding + 0.5) / (holding + 0.5))


def _within(docs: Ints, among: Ints) -> npt.NDArray[np.bool_]:
    """Which of some documents are among others; both ascend."""
    return among.searchsorted(docs) < among.searchsorted(docs, "right")


def _compacted(segments: Iterable[Segment], most: int) -> tuple[Segment, ...]:
    """The same documents in few segments of at most so many, and none that is gone."""
    groups: list[list[Segment]] = [[]]
    for segment in sorted(segments, key=lambda one: one.living):
        if groups[-1] and sum(one.living for one in groups[-1]) + segment.living > most:
            groups.append([])
        groups[-1].append(segment)
    return tuple(group[0] if len(group) == 1 and group[0].is_whole else joined(group) for group in groups)
