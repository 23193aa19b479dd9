"""Owns the index in motion: finished postings, a tail of newer documents, and what was removed."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.limits import LIMITS
from notehop.indexing.stores.model import ChunkId, FieldTokens
from notehop.indexing.stores.postings import Counted, Postings, Rows, count_tokens
from notehop.indexing.stores.postings_assembly import assemble
from notehop.indexing.tokens import FIELDS


@dataclass(frozen=True, slots=True)
class Frozen:
    """What living postings were at a moment: to be merged while they go on."""

    base: Postings
    counted: tuple[Counted, ...]
    ids: Sequence[ChunkId]
    terms: Sequence[str]
    keep: npt.NDArray[np.bool_]

    def merged(self, block: int = LIMITS.merge_block) -> Postings:
        """The postings of the documents that were living; ``block`` of them sorted at once."""
        return assemble(self.base, self.counted, self.ids, self.terms, self.keep, block)


class LivePostings:
    """Postings that take and lose documents; its numbers of documents and terms only grow.

    Statistics (documents, lengths, document frequencies) are those of the living documents, exact
    after every change. Not safe for threads: :class:`~indexing.stores.lexical.LexicalIndex` locks.
    """

    def __init__(self, base: Postings) -> None:
        self.base = base
        self.ids = list(base.ids)
        self.doc_of: dict[ChunkId, int] = {id_: doc for doc, id_ in enumerate(base.ids)}
        self.numbers: defaultdict[str, int] = defaultdict(None)
        self.numbers.update((term, number) for number, term in enumerate(base.terms))
        # A term that is new gets the next number when it is looked up by [].
        self.numbers.default_factory = self.numbers.__len__
        self._alive = np.ones(len(base.ids), dtype=np.bool_)
        self._lengths = base.lengths
        self._frequencies = base.frequencies.copy()
        self._tokens: list[int] = base.lengths.sum(axis=1, dtype=np.int64).tolist()
        self._holders: list[int] = np.count_nonzero(base.lengths, axis=1).tolist()
        self._longest: list[int] = base.lengths.max(axis=1, initial=0).tolist()
        self._tail: dict[int, array[int]] = {}
        self._counted: list[Counted] = []
        self._tail_terms: dict[int, npt.NDArray[np.int32]] = {}

    @property
    def changes(self) -> int:
        """Documents added to, and removed from, the base since it was made."""
        added = len(self.ids) - len(self.base.ids)
        return added + (len(self.ids) - len(self.doc_of))

    def count(self, documents: Sequence[FieldTokens], after: int) -> Counted:
        """Count the tokens of documents that are to be added after so many others that were
        counted already; readers see nothing of it."""
        return count_tokens(documents, self.numbers, len(self.ids) + after)

    def remove(self, id_: ChunkId) -> None:
        """Take a living document away; an id that there is none of is passed over."""
        doc = self.doc_of.pop(id_, None)
        if doc is None:
            return
        self._alive[doc] = False
        self._frequencies[self._terms_of(doc)] -= 1
        self._account(self._lengths[:, doc : doc + 1], -1)

    def add(self, ids: Sequence[ChunkId], counted: Counted) -> None:
        """Add documents whose ids are not living, with what :meth:`count` made of them."""
        rows, lengths = counted.rows, counted.lengths
        first, size = len(self.ids), len(self.ids) + len(ids)
        self.doc_of.update((id_, first + at) for at, id_ in enumerate(ids))
        self.ids += ids
        self._alive = _grown(self._alive, size)
        self._alive[first:size] = True
        self._lengths = _grown(self._lengths, size)
        self._lengths[:, first:size] = lengths
        self._longest = np.maximum(self._longest, lengths.max(axis=1, initial=0)).tolist()
        self._account(lengths, 1)
        self._counted.append(counted)
        keys = rows.term.astype(np.int64) * len(FIELDS) + rows.field
        for key, doc, count in zip(
            keys.tolist(), rows.doc.tolist(), rows.count.tolist(), strict=True
        ):
            self._tail.setdefault(key, array("i")).extend((doc, count))
        self._frequencies = _grown(self._frequencies, len(self.numbers))
        for doc, terms in zip(range(first, size), _terms_by_document(counted, first), strict=True):
            self._tail_terms[doc] = terms
            self._frequencies[terms] += 1

    def frozen(
        self,
        gone: Collection[ChunkId] = (),
        ids: Sequence[ChunkId] = (),
        counted: Sequence[Counted] = (),
    ) -> Frozen:
        """What this is now; or would be after removing and adding, which it does not do."""
        keep = np.concatenate((self._alive[: len(self.ids)], np.ones(len(ids), dtype=np.bool_)))
        keep[[self.doc_of[id_] for id_ in gone if id_ in self.doc_of]] = False
        parts = (*self._counted, *counted)
        return Frozen(self.base, parts, (*self.ids, *ids), tuple(self.numbers), keep)

    def onto(self, merged: Postings, frozen: Frozen) -> LivePostings:
        """The documents of now, on the postings that an earlier state of this was merged to."""
        live = LivePostings(merged)
        first = len(frozen.keep)
        for doc in np.flatnonzero(frozen.keep & ~self._alive[:first]).tolist():
            live.remove(self.ids[doc])
        terms = tuple(self.numbers)
        for part in self._counted[len(frozen.counted) :]:
            after = first + part.lengths.shape[1]
            alive = self._alive[first:after]
            ids = [self.ids[first + at] for at in np.flatnonzero(alive).tolist()]
            live.add(ids, live.recounted(part, first, alive, terms))
            first = after
        return live

    def recounted(
        self, part: Counted, first: int, keep: npt.NDArray[np.bool_], terms: Sequence[str]
    ) -> Counted:
        """What other postings counted of documents, as this one would have counted some of them.

        :param first: the number of the first of them there.
        :param keep: (documents,) which.
        :param terms: by their numbers there.
        """
        rows = part.rows
        stays = keep[rows.doc - first]
        places = len(self.ids) + np.cumsum(keep, dtype=np.int32) - 1
        used, at = np.unique(rows.term[stays], return_inverse=True)
        numbers = np.array([self.numbers[terms[term]] for term in used.tolist()], dtype=np.int32)
        kept = Rows(
            numbers[at], rows.field[stays], places[rows.doc[stays] - first], rows.count[stays]
        )
        return Counted(kept, part.lengths[:, keep])

    def frequency(self, term: str) -> int:
        """How many living documents hold ``term`` in any field."""
        number = self.numbers.get(term)
        if number is None or number >= len(self._frequencies):
            return 0
        return int(self._frequencies[number])

    def postings(self, term: str) -> Iterator[tuple[int, npt.NDArray[Any], npt.NDArray[Any]]]:
        """(field, documents, counts) of a term, by field, the base before the tail.

        Those removed are among them; :meth:`drop_removed` takes them out of the sums.
        """
        number = self.numbers[term]
        base = self.base
        if number < len(base.terms):
            for slot in range(base.slots[number], base.slots[number + 1]):
                held = slice(base.starts[slot], base.starts[slot + 1])
                yield int(base.slot_fields[slot]), base.docs[held], base.counts[held]
        for field in range(len(FIELDS)):
            found = self._tail.get(number * len(FIELDS) + field)
            if found is not None:
                pairs = np.array(found)
                yield field, pairs[::2], pairs[1::2]

    def drop_removed(self, scores: npt.NDArray[np.float64]) -> None:
        """Set the scores of documents that were removed to 0."""
        if len(self.doc_of) < len(self.ids):
            scores[~self._alive[: len(self.ids)]] = 0

    def lengths(self, field: int) -> npt.NDArray[np.int32]:
        """(documents,) tokens of each document in a field."""
        lengths: npt.NDArray[np.int32] = self._lengths[field]
        return lengths

    def relative_lengths(self, field: int) -> npt.NDArray[np.float64]:
        """Length in tokens -> length over the average of the documents that have any there.

        As in Lucene's BM25Similarity: over all documents, a field that few have (aliases) would
        have an average near 0, and every note with an alias would count as far too long.
        """
        average = self._tokens[field] / max(self._holders[field], 1)
        return np.arange(self._longest[field] + 1) / (average or 1.0)

    def _terms_of(self, doc: int) -> npt.NDArray[np.int32]:
        if doc in self._tail_terms:
            return self._tail_terms[doc]
        return self.base.held[self.base.bounds[doc] : self.base.bounds[doc + 1]]

    def _account(self, lengths: npt.NDArray[np.int32], sign: int) -> None:
        tokens = lengths.sum(axis=1, dtype=np.int64).tolist()
        holders = np.count_nonzero(lengths, axis=1).tolist()
        for field in range(len(FIELDS)):
            self._tokens[field] += sign * tokens[field]
            self._holders[field] += sign * holders[field]


def _terms_by_document(counted: Counted, first: int) -> list[npt.NDArray[np.int32]]:
    """The distinct terms of each of the documents, which are numbered from ``first`` on."""
    rows = counted.rows
    documents = counted.lengths.shape[1]
    span = int(rows.term.max(initial=0)) + 1
    pairs = np.unique((rows.doc.astype(np.int64) - first) * span + rows.term)
    doc, term = np.divmod(pairs, span)
    return np.split(term.astype(np.int32), np.searchsorted(doc, np.arange(1, documents)))[
        :documents
    ]


def _grown(values: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """``values`` with room for ``size`` on the last axis: doubled, so that growing costs little."""
    if values.shape[-1] >= size and values.flags.writeable:
        return values
    wider = np.zeros((*values.shape[:-1], max(size, 2 * values.shape[-1])), dtype=values.dtype)
    wider[..., : values.shape[-1]] = values
    return wider
