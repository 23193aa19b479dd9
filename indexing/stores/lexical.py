"""Owns the lexical index: BM25 over the fields of chunks, exact while notes come and go.

Touches: index (save and load).
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.lexical_file import read_postings, write_postings
from notehop.indexing.stores.lexical_live import Frozen, LivePostings
from notehop.indexing.stores.limits import LIMITS, Limits
from notehop.indexing.stores.model import ChunkId, FieldTokens
from notehop.indexing.stores.postings import Counted, Postings, no_postings
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


class LexicalIndex:
    """Chunks by the tokens of their fields, ranked by a weighted sum of BM25 (see :meth:`top`).

    Weights and the two parameters of BM25 are not part of what is saved: they act when a query is
    answered. Threads may query while one updates: a query or a small update holds a lock for less
    than a millisecond, merging and saving do not hold queries up.

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
        self._boosts = tuple(weights[field] for field in FIELDS)
        self._k1 = k1
        self._b = b
        self._limits = limits
        self._live = LivePostings(no_postings())
        self._norms: dict[int, npt.NDArray[np.float64]] = {}
        self._vocabulary: tuple[int, Vocabulary] | None = None
        self._near: tuple[int, NearWords] | None = None
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._merging: threading.Thread | None = None

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
        return len(self._live.doc_of)

    def __contains__(self, id_: object) -> bool:
        return id_ in self._live.doc_of

    def ids(self) -> list[ChunkId]:
        """The ids of all chunks, sorted."""
        with self._reading:
            return sorted(self._live.doc_of)

    def frequency(self, token: str) -> int:
        """How many chunks hold ``token`` in any field."""
        with self._reading:
            return self._live.frequency(token)

    def tokens_with(self, part: str) -> list[str]:
        """The tokens of living chunks that begin or end with ``part`` and are longer.

        0.7 ms for 100,000 tokens; the first after a change that brought new ones takes 3 more.
        """
        with self._reading:
            live = self._live
            if self._vocabulary is None or self._vocabulary[0] != len(live.numbers):
                self._vocabulary = len(live.numbers), Vocabulary(live.numbers)
            found = self._vocabulary[1].with_part(part)
            return [token for token in found if live.frequency(token)]

    def near(self, word: str, stem: str, edits: int) -> dict[str, int]:
        """The tokens of living chunks that a word may be meant for, with the edits that part them
        (see :meth:`notehop.indexing.tokens.vocabulary.NearWords.near`)."""
        with self._reading:
            live = self._live
            if self._near is None or self._near[0] != len(live.numbers):
                self._near = len(live.numbers), NearWords(live.numbers)
            found = self._near[1].near(word, stem, edits)
            return {token: far for token, far in found.items() if live.frequency(token)}

    def held(self, tokens: Iterable[str], ids: Collection[ChunkId]) -> dict[ChunkId, set[str]]:
        """Id -> those of the tokens that the chunk holds in any field, for ids that are there."""
        with self._reading:
            live = self._live
            docs = {live.doc_of[id_]: id_ for id_ in ids if id_ in live.doc_of}
            found: dict[ChunkId, set[str]] = {id_: set() for id_ in docs.values()}
            places = np.array(list(docs), dtype=np.int64)
            for token in set(tokens):
                if live.frequency(token):
                    for _, holders, _ in live.postings(token):
                        for doc in places[np.isin(places, holders)].tolist():
                            found[docs[doc]].add(token)
            return found

    def holding(self, tokens: Iterable[str], field: str) -> set[ChunkId]:
        """The chunks that hold every one of ``tokens`` in a field; none where there is no token.

        :raises ValueError: for an unknown field.
        """
        wanted = FIELDS.index(field)
        found: npt.NDArray[np.intp] | None = None
        with self._reading:
            live = self._live
            for token in sorted(set(tokens), key=live.frequency):
                if live.frequency(token) == 0:
                    return set()
                docs = [docs for at, docs, _ in live.postings(token) if at == wanted]
                held = np.concatenate(docs) if docs else np.empty(0, dtype=np.intp)
                found = held if found is None else np.intersect1d(found, held)
            ids = [] if found is None else [(live.ids[doc], doc) for doc in found.tolist()]
            return {id_ for id_, doc in ids if live.doc_of.get(id_) == doc}

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
            live = self._live
            ids, counted = self._count(added)
            gone = [id_ for id_ in dict.fromkeys((*removed, *ids)) if id_ in live.doc_of]
            if not gone and not ids:
                return
            changes = len(gone) + len(ids)
            limits = self._limits
            most = max(limits.merge_changes, len(live.base.ids) // limits.merge_share)
            due = live.changes + changes > most
            if due and (changes > most or len(live.ids) <= limits.merge_at_once):
                self._replace(LivePostings(self._merged(live.frozen(gone, ids, counted))))
                return
            with self._reading:
                for id_ in gone:
                    live.remove(id_)
                step = limits.counted
                for start, part in zip(range(0, len(ids), step), counted, strict=True):
                    live.add(ids[start : start + step], part)
                self._norms.clear()
            if due:
                self._merge_beside(live)

    def wait(self) -> None:
        """Return when nothing is being merged beside."""
        thread = self._merging
        if thread is not None:
            thread.join()

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
        weights = tokens if isinstance(tokens, Mapping) else Counter(tokens)
        with self._reading:
            scores = self._scores(weights)
            found = np.flatnonzero(scores > 0)
            if allowed is not None:
                found = self._among(found, allowed)
            ids = self._live.ids
        values = scores[found]
        if len(found) > k:
            # All that tie with the last place stay until ids have decided.
            within = values >= np.partition(values, len(values) - k)[len(values) - k]
            found, values = found[within], values[within]
        hits = [
            (ids[doc], score) for doc, score in zip(found.tolist(), values.tolist(), strict=True)
        ]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]

    def save(self, folder: Path, generation: int, fingerprint: str) -> None:
        """Write the index to ``folder``, in place of what is there or not at all.

        Equal contents make equal files, whatever updates led to them.

        :raises IndexUnwritable: if that fails; what was there stays.
        """
        with self._writing:
            if self._live.changes:
                self._replace(LivePostings(self._merged(self._live.frozen())))
            write_postings(folder, self._live.base, generation, fingerprint)

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
        postings, generation, fingerprint = read_postings(folder)
        index._live = LivePostings(postings)
        return index, generation, fingerprint

    def _count(
        self, added: Iterable[tuple[ChunkId, FieldTokens]]
    ) -> tuple[list[ChunkId], list[Counted]]:
        """The ids, and what each so many of them hold as are counted at once."""
        ids: dict[ChunkId, None] = {}
        counted: list[Counted] = []
        stream = iter(added)
        while part := list(islice(stream, self._limits.counted)):
            for id_, _ in part:
                if id_ in ids:
                    raise ValueError(f"chunk {id_} is added twice in one update")
                ids[id_] = None
            documents = [tokens for _, tokens in part]
            counted.append(self._live.count(documents, len(ids) - len(part)))
        return list(ids), counted

    def _merge_beside(self, live: LivePostings) -> None:
        if self._merging is not None and self._merging.is_alive():
            return
        self._merging = threading.Thread(
            target=self._merge, args=(live, live.frozen()), name="notehop-merge", daemon=True
        )
        self._merging.start()

    def _merge(self, live: LivePostings, frozen: Frozen) -> None:
        merged = self._merged(frozen)
        with self._writing:
            # Unless it was merged meanwhile, by a large update or to be saved.
            if self._live is live:
                self._replace(live.onto(merged, frozen))

    def _merged(self, frozen: Frozen) -> Postings:
        return frozen.merged(self._limits.merge_block)

    def _replace(self, live: LivePostings) -> None:
        with self._reading:
            self._live = live
            self._norms.clear()
            self._vocabulary = self._near = None

    def _scores(self, weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
        live = self._live
        scores = np.zeros(len(live.ids))
        for token, weight in weights.items():
            n = live.frequency(token)
            if n == 0:
                continue
            idf = math.log(1 + (len(live.doc_of) - n + 0.5) / (n + 0.5))
            for field, docs, counts in live.postings(token):
                at = docs.astype(np.intp)
                part = self._field_norms(field).take(live.lengths(field).take(at))
                part += counts
                np.divide(counts, part, out=part)
                part *= weight * idf * self._boosts[field]
                scores[at] += part
        live.drop_removed(scores)
        return scores

    def _among(
        self, found: npt.NDArray[np.int64], allowed: Collection[ChunkId]
    ) -> npt.NDArray[np.int64]:
        """Those of ``found`` that are allowed, looking up whichever are fewer."""
        live = self._live
        if len(allowed) < len(found):
            among = np.zeros(len(live.ids), dtype=np.bool_)
            among[[live.doc_of[id_] for id_ in allowed if id_ in live.doc_of]] = True
            return found[among[found]]
        members = allowed if isinstance(allowed, Set) else frozenset(allowed)
        flags = (live.ids[doc] in members for doc in found.tolist())
        return found[np.fromiter(flags, dtype=np.bool_, count=len(found))]

    def _field_norms(self, field: int) -> npt.NDArray[np.float64]:
        """Length -> what is added to tf in the denominator; kept until the next change.

        By length and not by document: a change of one note costs no pass over all.
        """
        norms = self._norms.get(field)
        if norms is None:
            lengths = self._live.relative_lengths(field)
            norms = self._norms[field] = self._k1 * ((1 - self._b) + self._b * lengths)
        return norms
