"""Owns the inverted index as arrays: which chunk holds which token in which field, how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.model import ChunkId, FieldTokens
from notehop.indexing.tokens import FIELDS

MAX_COUNT = 65_535
"""Occurrences of a token in a field that are told apart; BM25 levels off long before."""

_NUMBER = {field: number for number, field in enumerate(FIELDS)}


@dataclass(frozen=True, slots=True)
class Rows:
    """Counted tokens: doc[i] holds term[i] count[i] times in field[i]."""

    term: npt.NDArray[np.int32]
    field: npt.NDArray[np.uint8]
    doc: npt.NDArray[np.int32]
    count: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Counted:
    """Documents counted: ``rows`` by term, field and document; ``lengths`` (fields, documents) are
    their tokens."""

    rows: Rows
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

    def rows(self, first: int, last: int) -> Rows:
        """The postings of the terms numbered from ``first`` to before ``last``, as rows by term,
        field and document."""
        slots = slice(self.slots[first], self.slots[last])
        held = slice(self.starts[slots.start], self.starts[slots.stop])
        sizes = np.diff(self.starts[slots.start : slots.stop + 1])
        terms = np.arange(first, last, dtype=np.int32)
        slot_terms = np.repeat(terms, np.diff(self.slots[first : last + 1]))
        return Rows(
            np.repeat(slot_terms, sizes),
            np.repeat(self.slot_fields[slots], sizes),
            self.docs[held],
            self.counts[held],
        )


def no_postings() -> Postings:
    """An index of no documents."""
    return Postings(
        ids=[],
        terms=[],
        slots=np.zeros(1, dtype=np.int32),
        slot_fields=np.zeros(0, dtype=np.uint8),
        starts=np.zeros(1, dtype=np.int64),
        docs=np.zeros(0, dtype=np.int32),
        counts=np.zeros(0, dtype=np.uint16),
        lengths=np.zeros((len(FIELDS), 0), dtype=np.int32),
        frequencies=np.zeros(0, dtype=np.int32),
        bounds=np.zeros(1, dtype=np.int64),
        held=np.zeros(0, dtype=np.int32),
    )


def count_tokens(
    documents: Sequence[FieldTokens], numbers: Mapping[str, int], first: int
) -> Counted:
    """Count the tokens of ``documents``, which are numbered from ``first`` on.

    :param numbers: term -> its number; it numbers new terms when asked for them.
    :raises ValueError: for a field that is not in :data:`notehop.indexing.tokens.FIELDS`.
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
    rows = Rows(
        term.astype(np.int32),
        number.astype(np.uint8),
        (doc + first).astype(np.int32),
        np.minimum(count, MAX_COUNT).astype(np.uint16),
    )
    return Counted(rows, lengths)
