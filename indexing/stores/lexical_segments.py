"""The segments of the lexical index, and the file that holds them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from notehop.indexing.stores.cache_file import as_array, of_array, open_cache, write_cache
from notehop.indexing.stores.model import ChunkId, FieldTokens
from notehop.indexing.tokens.tokenizer import FIELDS

MAX_COUNT = 65_535
"""Occurrences of a token in a field that are told apart; BM25 levels off long before."""

FILE = "segments.npz"

_F = len(FIELDS)
_NUMBER = {name: number for number, name in enumerate(FIELDS)}

Ints = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Segment:
    """The postings of n documents, T terms, P postings in S slots; nothing of it is ever changed.

    A slot is a term in a field; slots are sorted by term, then field. ``term_slots`` (T + 1) bounds
    the slots of a term, ``starts`` (S + 1) the postings of a slot; ``docs`` and ``counts`` (P) are
    those, by document. ``lengths`` (fields, n) counts tokens. ``holders`` are the documents that
    hold a term in any field, those of a term between ``bounds`` (T + 1). ``alive`` (n) tells which
    documents were not removed since; of those, ``living`` is the number, and by field ``tokens``
    counts tokens, ``filled`` the documents that have any.
    """

    ids: list[ChunkId]
    terms: dict[str, int]
    term_slots: Ints
    slot_fields: Ints
    starts: Ints
    docs: Ints
    counts: Ints
    lengths: Ints
    bounds: Ints
    holders: Ints
    alive: npt.NDArray[np.bool_]
    places: Mapping[ChunkId, int]
    living: int = field(init=False)
    tokens: Ints = field(init=False)
    filled: Ints = field(init=False)

    def __post_init__(self) -> None:
        living = int(self.alive.sum())
        lengths = self.lengths if living == len(self.ids) else self.lengths[:, self.alive]
        object.__setattr__(self, "living", living)
        object.__setattr__(self, "tokens", lengths.sum(axis=1, dtype=np.int64))
        object.__setattr__(self, "filled", np.count_nonzero(lengths, axis=1))

    @classmethod
    def of(
        cls, ids: list[ChunkId], terms: Iterable[str], keys: Ints, counts: Ints, lengths: Ints
    ) -> Segment:
        """A segment of counted documents.

        :param terms: in the order in which the keys number them.
        :param keys: ``(term * fields + field) * documents + document``, ascending.
        :param counts: how often each occurs.
        """
        numbered = {term: number for number, term in enumerate(terms)}
        n = max(len(ids), 1)
        slot, doc = np.divmod(keys, n)
        first = np.flatnonzero(np.diff(slot, prepend=-1))
        slots = slot[first]
        pairs = np.sort(slot // _F * n + doc)
        pairs = pairs[np.flatnonzero(np.diff(pairs, prepend=-1))]
        numbers = np.arange(len(numbered) + 1)
        return cls(
            ids=ids,
            terms=numbered,
            term_slots=np.searchsorted(slots // _F, numbers).astype(np.int32),
            slot_fields=(slots % _F).astype(np.uint8),
            starts=np.append(first, len(slot)).astype(np.int64),
            docs=doc.astype(np.int32),
            counts=np.minimum(counts, MAX_COUNT).astype(np.uint16),
            lengths=lengths,
            bounds=np.searchsorted(pairs // n, numbers).astype(np.int64),
            holders=(pairs % n).astype(np.int32),
            **_places(ids),
        )

    @classmethod
    def count(cls, documents: Sequence[tuple[ChunkId, FieldTokens]]) -> Segment:
        """Count the tokens of documents; ValueError for a field that is not in
        :data:`notehop.indexing.tokens.FIELDS`."""
        numbers: dict[str, int] = {}
        n = max(len(documents), 1)
        terms, places, sizes = array("q"), array("q"), array("q")
        lengths = np.zeros((_F, len(documents)), dtype=np.int32)
        for doc, (_, fields) in enumerate(documents):
            for name, tokens in fields.items():
                if name not in _NUMBER:
                    raise ValueError(f"unknown field {name!r}; fields are {', '.join(FIELDS)}")
                terms.extend(numbers.setdefault(token, len(numbers)) for token in tokens)
                places.append(_NUMBER[name] * n + doc)
                sizes.append(len(tokens))
                lengths[_NUMBER[name], doc] = len(tokens)
        keys = np.frombuffer(terms, np.int64) * (_F * n) if terms else np.zeros(0, np.int64)
        keys += np.repeat(np.array(places, np.int64), np.array(sizes, np.int64))
        keys.sort()
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.diff(first, append=len(keys))
        return cls.of([id_ for id_, _ in documents], numbers, keys[first], counts, lengths)

    @property
    def is_whole(self) -> bool:
        return self.living == len(self.ids)

    def without(self, gone: Iterable[ChunkId]) -> Segment:
        docs = self.docs_of(gone)
        if not len(docs):
            return self
        alive = self.alive.copy()
        alive[docs] = False
        return replace(self, alive=alive)

    def docs_of(self, ids: Iterable[ChunkId]) -> npt.NDArray[np.int64]:
        """The living documents of some ids, ascending."""
        found = [self.places[id_] for id_ in ids if id_ in self.places]
        docs = np.unique(np.array(found, dtype=np.int64))
        return docs[self.alive[docs]]

    def living_ids(self) -> list[ChunkId]:
        """The ids of the living documents, in their order."""
        return [self.ids[doc] for doc in np.flatnonzero(self.alive).tolist()]

    def postings(self, term: str) -> Iterator[tuple[int, Ints, Ints]]:
        """(field, documents, counts) of a term, by field."""
        number = self.terms.get(term)
        if number is not None:
            for slot in range(self.term_slots[number], self.term_slots[number + 1]):
                held = slice(self.starts[slot], self.starts[slot + 1])
                yield int(self.slot_fields[slot]), self.docs[held], self.counts[held]

    def holders_of(self, term: str) -> Ints:
        """The documents that hold a term in any field, ascending."""
        number = self.terms.get(term)
        if number is None:
            return self.holders[:0]
        return self.holders[self.bounds[number] : self.bounds[number + 1]]

    def frequency(self, term: str) -> int:
        holders = self.holders_of(term)
        return len(holders) if self.is_whole else int(np.count_nonzero(self.alive[holders]))

    def living_terms(self) -> Iterable[str]:
        """The terms that a living document holds."""
        held = np.diff(np.append(0, np.cumsum(self.alive[self.holders]))[self.bounds]) > 0
        return (term for term, stays in zip(self.terms, held.tolist(), strict=True) if stays)


def joined(parts: Sequence[Segment]) -> Segment:
    """One segment of the living documents of several, documents and terms sorted."""
    ids = sorted(id_ for part in parts for id_ in part.living_ids())
    doc_of = {id_: doc for doc, id_ in enumerate(ids)}
    terms = sorted({term for part in parts for term in part.living_terms()})
    numbers = {term: number for number, term in enumerate(terms)}
    lengths = np.zeros((_F, len(ids)), dtype=np.int32)
    keys, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for part in parts:
        places = np.full(len(part.ids), -1, dtype=np.int64)
        places[part.alive] = [doc_of[id_] for id_ in part.living_ids()]
        lengths[:, places[part.alive]] = part.lengths[:, part.alive]
        # Keys under the new numbers, without those of documents that are left out.
        renamed = np.array([numbers.get(term, -1) for term in part.terms], dtype=np.int64)
        slots = np.repeat(renamed, np.diff(part.term_slots)) * _F + part.slot_fields
        doc = places[part.docs]
        stays = doc >= 0
        keys.append((np.repeat(slots, np.diff(part.starts)) * max(len(ids), 1) + doc)[stays])
        counts.append(part.counts[stays].astype(np.int64))
    key = np.concatenate(keys)
    # A stable sort merges runs that are sorted already.
    order = np.argsort(key, kind="stable")
    return Segment.of(ids, terms, key[order], np.concatenate(counts)[order], lengths)


_ARRAYS = (
    "term_slots", "slot_fields", "starts", "docs", "counts", "lengths", "bounds", "holders",
)  # fmt: skip


def write_segments(folder: Path, segments: Sequence[Segment], generation: int, stamp: str) -> None:
    """Replace the file in ``folder``, which is made if need be.

    :param segments: whole ones, so that the file holds no word of what was removed.
    :raises IndexUnwritable: if the disk is full or refuses; the old file stays.
    """
    texts = [{"ids": segment.ids, "terms": [*segment.terms]} for segment in segments]
    arrays = (
        (f"{name} {number}", getattr(segment, name))
        for number, segment in enumerate(segments)
        for name in _ARRAYS
    )
    about = {"stamp": stamp, "generation": generation}
    write_cache(folder / FILE, chain(arrays, [("texts", as_array(texts))]), about)


def read_segments(folder: Path) -> tuple[list[Segment], int, str]:
    """Read the file in ``folder`` into memory, its generation and stamp; checksums are compared;
    IndexDamaged if it is missing, cannot be read, or is not what was written."""
    with open_cache(folder / FILE) as (about, file):
        segments = []
        for number, text in enumerate(of_array(file["texts"])):
            # One string for an id, wherever it stands: a reader holds them all.
            ids = [*map(sys.intern, text["ids"])]
            terms = {term: at for at, term in enumerate(text["terms"])}
            arrays: dict[str, Any] = {name: file[f"{name} {number}"] for name in _ARRAYS}
            segments.append(Segment(ids, terms, **arrays, **_places(ids)))
        return segments, about["generation"], about["stamp"]


def _places(ids: Collection[ChunkId]) -> dict[str, Any]:
    """What follows from the ids of documents none of which was removed."""
    places = {id_: doc for doc, id_ in enumerate(ids)}
    return {"alive": np.ones(len(ids), dtype=np.bool_), "places": places}
