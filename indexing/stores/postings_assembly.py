"""Makes finished postings of older ones and newly counted documents, a block of terms at a time.

A vault of 100,000 notes has some 30 million postings. Sorted all at once they take gigabytes; in
blocks, the room of what goes in and of what comes out, and little more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.postings import Counted, Postings, Rows
from notehop.indexing.tokens import FIELDS

_UNUSED = -1

_Numbers = npt.NDArray[np.int64]

_Places = npt.NDArray[np.int32]
"""Number before -> number now, or ``_UNUSED``."""


def assemble(
    base: Postings,
    tail: Sequence[Counted],
    ids: Sequence[ChunkId],
    terms: Sequence[str],
    keep: npt.NDArray[np.bool_],
    block: int,
) -> Postings:
    """Sort documents into an index, with documents and terms numbered anew.

    :param base: numbers the first documents and terms as its own.
    :param tail: documents that are numbered on from part to part.
    :param ids: of all documents; distinct where kept.
    :param terms: that base and tail number, distinct; those that no kept document holds are left
        out.
    :param keep: (documents,) which of them stay.
    :param block: postings that are sorted at once, or those of one term.
    """
    documents = sorted(np.flatnonzero(keep).tolist(), key=ids.__getitem__)
    doc_of = _places(documents, len(ids))
    runs = [_Tail(part.rows, doc_of) for part in tail]
    counts = np.zeros(len(terms), dtype=np.int64)
    counts[: len(base.terms)] = _kept(base, keep)
    for run in runs:
        counts += np.bincount(run.rows.term, minlength=len(terms))
    used = sorted(np.flatnonzero(counts).tolist(), key=terms.__getitem__)
    term_of = _places(used, len(terms))
    for run in runs:
        run.sort(term_of)
    sources: list[_Base | _Tail] = [_Base(base, doc_of, term_of), *runs]
    made = _Made(len(documents), counts[used])
    for first, last in _blocks(counts[used], block):
        made.add(first, [source.between(first, last) for source in sources])
    lengths = np.concatenate([base.lengths, *(part.lengths for part in tail)], axis=1)
    return made.postings(
        [ids[number] for number in documents],
        [terms[number] for number in used],
        np.ascontiguousarray(lengths[:, documents]),
    )


class _Base:
    """The older postings under their new numbers. Their terms are sorted, so that those between two
    new numbers lie together."""

    def __init__(self, base: Postings, doc_of: _Places, term_of: _Places) -> None:
        self._base = base
        self._doc_of = doc_of
        self._term_of = term_of
        mine = term_of[: len(base.terms)]
        self._old = np.flatnonzero(mine != _UNUSED)
        self._new = mine[self._old]

    def between(self, first: int, last: int) -> Rows:
        start, stop = np.searchsorted(self._new, (first, last))
        if start == stop:
            return _NO_ROWS
        rows = self._base.rows(int(self._old[start]), int(self._old[stop - 1]) + 1)
        return _renumbered(rows, self._doc_of, self._term_of)


class _Tail:
    """Documents counted later, under their new numbers, without those that are gone."""

    def __init__(self, rows: Rows, doc_of: _Places) -> None:
        self.rows = _renumbered(rows, doc_of, None)

    def sort(self, term_of: _Places) -> None:
        """Number the terms anew and sort by them."""
        term = term_of[self.rows.term]
        self.rows = _taken(self.rows, term, np.argsort(term, kind="stable"))

    def between(self, first: int, last: int) -> Rows:
        start, stop = np.searchsorted(self.rows.term, (first, last))
        return _taken(self.rows, self.rows.term, slice(int(start), int(stop)))


@dataclass(slots=True)
class _Slots:
    """What one block came to: term and field of its slots, and where their postings start."""

    term: _Numbers
    field: _Numbers
    start: _Numbers
    size: _Numbers


class _Made:
    """Takes the blocks in the order of their terms."""

    def __init__(self, documents: int, counts: _Numbers) -> None:
        self._n = documents
        self._terms = len(counts)
        self._docs = np.empty(int(counts.sum()), dtype=np.int32)
        self._counts = np.empty(len(self._docs), dtype=np.uint16)
        self._frequencies = np.zeros(len(counts), dtype=np.int32)
        self._held = np.zeros(documents, dtype=np.int64)
        self._slots: list[_Slots] = []
        self._size = 0

    def add(self, first: int, parts: Sequence[Rows]) -> None:
        """Sort the rows of a block whose terms are numbered from ``first`` on."""
        n = max(self._n, 1)
        key = np.concatenate([_keys(part, first, n) for part in parts])
        count = np.concatenate([part.count for part in parts])
        # A stable sort merges runs: nearly linear where sorted rows take in a few more.
        order = np.argsort(key, kind="stable")
        slot, doc = np.divmod(key[order], n)
        at = slice(self._size, self._size + len(key))
        self._docs[at] = doc
        self._counts[at] = count[order]
        start = np.flatnonzero(np.diff(slot, prepend=-1))
        term, field = np.divmod(slot[start], len(FIELDS))
        size = np.diff(start, append=len(slot))
        self._slots.append(_Slots(term + first, field, start + self._size, size))
        self._size = at.stop
        pairs = _distinct((slot // len(FIELDS)) * n + doc)
        holder = np.bincount(pairs // n)
        self._frequencies[first : first + len(holder)] = holder
        self._held += np.bincount(pairs % n, minlength=self._n)[: self._n]

    def postings(
        self, ids: list[ChunkId], terms: list[str], lengths: npt.NDArray[np.int32]
    ) -> Postings:
        """What was taken in."""
        bounds = np.concatenate(([0], np.cumsum(self._held)))
        slot_terms = _joined([slots.term for slots in self._slots])
        starts = _joined([slots.start for slots in self._slots])
        return Postings(
            ids=ids,
            terms=terms,
            slots=np.searchsorted(slot_terms, np.arange(self._terms + 1)).astype(np.int32),
            slot_fields=_joined([slots.field for slots in self._slots]).astype(np.uint8),
            starts=np.append(starts, self._size),
            docs=self._docs,
            counts=self._counts,
            lengths=lengths,
            frequencies=self._frequencies,
            bounds=bounds,
            held=self._terms_by_document(bounds),
        )

    def _terms_by_document(self, bounds: _Numbers) -> npt.NDArray[np.int32]:
        """The terms of each document, ascending: the pairs of each block again, to spare room."""
        n = max(self._n, 1)
        held = np.empty(int(bounds[-1]), dtype=np.int32)
        free = bounds[:-1].copy()
        for slots in self._slots:
            at = slice(slots.start[0], slots.start[-1] + slots.size[-1])
            pairs = _distinct(np.repeat(slots.term, slots.size) * n + self._docs[at])
            term, doc = np.divmod(pairs, n)
            order = np.argsort(doc, kind="stable")
            sizes = np.bincount(doc, minlength=self._n)
            runs = np.cumsum(sizes) - sizes
            held[np.arange(len(doc)) + np.repeat(free - runs, sizes)] = term[order]
            free += sizes
        return held


_NO_ROWS = Rows(
    np.zeros(0, dtype=np.int32),
    np.zeros(0, dtype=np.uint8),
    np.zeros(0, dtype=np.int32),
    np.zeros(0, dtype=np.uint16),
)


def _blocks(counts: _Numbers, block: int) -> Iterator[tuple[int, int]]:
    """Bounds of runs of terms with so many postings that a block holds them; each has some."""
    ends = np.cumsum(counts)
    first, done = 0, 0
    while first < len(counts):
        last = max(int(np.searchsorted(ends, done + block, side="right")), first + 1)
        yield first, last
        first, done = last, int(ends[last - 1])


def _renumbered(rows: Rows, doc_of: _Places, term_of: _Places | None) -> Rows:
    """Rows with the new numbers, without documents that have none."""
    doc = doc_of[rows.doc]
    term = rows.term if term_of is None else term_of[rows.term]
    renumbered = Rows(term, rows.field, doc, rows.count)
    stays = doc != _UNUSED
    return renumbered if stays.all() else _taken(renumbered, term, stays)


def _taken(
    rows: Rows, term: npt.NDArray[np.int32], which: slice | npt.NDArray[np.bool_ | np.intp]
) -> Rows:
    return Rows(term[which], rows.field[which], rows.doc[which], rows.count[which])


def _keys(rows: Rows, first: int, n: int) -> _Numbers:
    key = rows.term.astype(np.int64)
    key -= first
    key *= len(FIELDS)
    key += rows.field
    key *= n
    key += rows.doc
    return key


def _kept(base: Postings, keep: npt.NDArray[np.bool_]) -> _Numbers:
    """How many postings of each term of the base stay."""
    if not base.terms:
        return np.zeros(0, dtype=np.int64)
    starts = base.starts[base.slots[:-1]]
    if keep[: len(base.ids)].all():
        return np.diff(base.starts[base.slots])
    return np.add.reduceat(keep[base.docs], starts, dtype=np.int64)


def _places(chosen: Sequence[int], size: int) -> _Places:
    """Number -> its place among ``chosen``, or that it has none."""
    places = np.full(size, _UNUSED, dtype=np.int32)
    places[np.asarray(chosen, dtype=np.int64)] = np.arange(len(chosen), dtype=np.int32)
    return places


def _distinct(keys: _Numbers) -> _Numbers:
    """The distinct keys, sorted. np.unique hashes here, 100 times as slow on millions of keys."""
    ascending = np.sort(keys)
    return ascending[np.concatenate(([True], ascending[1:] != ascending[:-1]))[: len(keys)]]


def _joined(parts: Sequence[_Numbers]) -> _Numbers:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
