"""Owns the inverted index as arrays: which chunk holds which token in which field, how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from indexing.stores.model import ChunkId, FieldTokens
from indexing.tokens import FIELDS

MAX_COUNT = 65_535
"""Occurrences of a token in a field that are told apart; BM25 levels off long before."""

_NUMBER = {field: number for number, field in enumerate(FIELDS)}


@dataclass(frozen=True, slots=True)
class Rows:
    """Counted tokens, in any order: doc[i] holds term[i] count[i] times in field[i].

    ``lengths`` is (fields, documents): the tokens of each of the documents counted.
    """

    term: npt.NDArray[np.int32]
    field: npt.NDArray[np.uint8]
    doc: npt.NDArray[np.int32]
    count: npt.NDArray[np.uint16]
    lengths: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Postings:
    """A finished index of n documents, T terms, P postings in S slots; nothing of it is changed.

    Documents are numbered in the order of ``ids``, terms in that of ``terms``, both sorted, so that
    the same documents make the same arrays, however they came. A slot is a term in a field; slots
    are sorted by term, then field. ``slots`` (T + 1) bounds the slots of a term, ``starts`` (S + 1)
    the postings of a slot; ``docs`` and ``counts`` (P) are those, by document. ``lengths`` is
    (fields, n). ``frequencies`` (T) counts the documents that hold a term in any field, ``held``
    lists the terms of a document between ``bounds`` (n + 1).
    """

    ids: list[ChunkId]
    terms: list[str]
    slots: npt.NDArray[np.int32]
    slot_fields: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    docs: npt.NDArray[np.int32]
    counts: npt.NDArray[np.uint16]
    lengths: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.int32]
    bounds: npt.NDArray[np.int64]
    held: npt.NDArray[np.int32]

    def rows(self) -> Rows:
        """The postings as rows, by term, field and document."""
        sizes = np.diff(self.starts)
        slot_terms = np.repeat(np.arange(len(self.terms), dtype=np.int32), np.diff(self.slots))
        return Rows(
            np.repeat(slot_terms, sizes),
            np.repeat(self.slot_fields, sizes),
            self.docs,
            self.counts,
            self.lengths,
        )


def count_tokens(documents: Sequence[FieldTokens], numbers: Mapping[str, int], first: int) -> Rows:
    """Count the tokens of ``documents``, which are numbered from ``first`` on.

    :param numbers: term -> its number; it numbers new terms when asked for them.
    :returns: rows by term, field and document.
    :raises ValueError: for a field that is not in :data:`indexing.tokens.FIELDS`.
    """
    terms: list[int] = []
    places: list[int] = []
    sizes: list[int] = []
    n = max(len(documents), 1)
    lengths = np.zeros((len(FIELDS), len(documents)), dtype=np.int32)
    for at, fields in enumerate(documents):
        for field, tokens in fields.items():
            if field not in _NUMBER:
                raise ValueError(f"unknown field {field!r}; fields are {', '.join(FIELDS)}")
            terms += [numbers[token] for token in tokens]
            places.append(_NUMBER[field] * n + at)
            sizes.append(len(tokens))
            lengths[_NUMBER[field], at] = len(tokens)
    keys = np.array(terms, dtype=np.int64) * (len(FIELDS) * n)
    keys += np.repeat(np.array(places, dtype=np.int64), sizes)
    distinct, count = np.unique(keys, return_counts=True)
    slot, doc = np.divmod(distinct, n)
    term, number = np.divmod(slot, len(FIELDS))
    return Rows(
        term.astype(np.int32),
        number.astype(np.uint8),
        (doc + first).astype(np.int32),
        np.minimum(count, MAX_COUNT).astype(np.uint16),
        lengths,
    )


def concatenate(parts: Sequence[Rows]) -> Rows:
    """All rows of ``parts``, at least one, whose documents are numbered on from part to part."""
    return Rows(
        np.concatenate([part.term for part in parts]),
        np.concatenate([part.field for part in parts]),
        np.concatenate([part.doc for part in parts]),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.lengths for part in parts], axis=1),
    )


def assemble(
    rows: Rows, ids: Sequence[ChunkId], terms: Sequence[str], keep: npt.NDArray[np.bool_]
) -> Postings:
    """Sort rows into an index, with documents and terms numbered anew.

    :param ids: of the documents that the rows number; distinct where kept.
    :param terms: that the rows number, distinct; those that no kept document holds are left out.
    :param keep: (documents,) which of them stay.
    """
    documents = sorted(np.flatnonzero(keep).tolist(), key=ids.__getitem__)
    stays = keep[rows.doc]
    doc = _places(documents, len(ids))[rows.doc[stays]]
    kept_term = rows.term[stays]
    used = np.flatnonzero(np.bincount(kept_term, minlength=len(terms))).tolist()
    used.sort(key=terms.__getitem__)
    term = _places(used, len(terms))[kept_term]

    n = max(len(documents), 1)
    key = (term * len(FIELDS) + rows.field[stays]) * n + doc
    # A stable sort merges runs: nearly linear where sorted rows take in a few more.
    order = np.argsort(key, kind="stable")
    slot_keys, starts = np.unique(key[order] // n, return_index=True)
    slot_terms, slot_fields = np.divmod(slot_keys, len(FIELDS))
    holder, held = np.divmod(_distinct(doc * max(len(used), 1) + term), max(len(used), 1))
    return Postings(
        ids=[ids[number] for number in documents],
        terms=[terms[number] for number in used],
        slots=_bounds(slot_terms, len(used)).astype(np.int32),
        slot_fields=slot_fields.astype(np.uint8),
        starts=np.append(starts, len(key)).astype(np.int64),
        docs=doc[order].astype(np.int32),
        counts=rows.count[stays][order],
        lengths=np.ascontiguousarray(rows.lengths[:, documents]),
        frequencies=np.bincount(held, minlength=len(used)).astype(np.int32),
        bounds=_bounds(holder, len(documents)),
        held=held.astype(np.int32),
    )


def no_postings() -> Postings:
    """An index of no documents."""
    return assemble(count_tokens([], {}, 0), (), (), np.ones(0, dtype=np.bool_))


def _distinct(keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The distinct keys, sorted. np.unique hashes here, 100 times as slow on millions of keys."""
    ascending = np.sort(keys)
    return ascending[np.concatenate(([True], ascending[1:] != ascending[:-1]))[: len(keys)]]


def _places(chosen: Sequence[int], size: int) -> npt.NDArray[np.int64]:
    """Number -> its place among ``chosen``; meaningless for numbers that are not."""
    places = np.zeros(size, dtype=np.int64)
    places[np.asarray(chosen, dtype=np.int64)] = np.arange(len(chosen))
    return places


def _bounds(ascending: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """(size + 1,) where the run of each number from 0 on begins and, last, where all end."""
    return np.searchsorted(ascending, np.arange(size + 1)).astype(np.int64)
