"""The segments of the lexical index, and the file that holds them."""

from __future__ import annotations

import json
import sys
import zipfile
import zlib
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.layout import replacing, writing_to
from notehop.indexing.stores.rows import ChunkId, FieldTokens
from notehop.indexing.tokens.tokenizer import FIELDS

MAX_COUNT = 65_535
"""Occurrences of a token in a field that are told apart; BM25 levels off long before."""

_F = len(FIELDS)
_NUMBER = {name: number for number, name in enumerate(FIELDS)}
_ARRAYS = ("bounds", "docs", "fields", "counts", "lengths")

Ints = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Segment:
    """The postings of n documents, T terms in P postings; nothing of it is ever changed.

    ``bounds`` (T + 1) are those of a term's postings, which are sorted by document, then field:
    ``docs``, ``fields`` and ``counts`` (P). ``lengths`` (fields, n) counts tokens. ``alive`` (n)
    tells which documents were not removed since.
    """

    ids: list[ChunkId]
    terms: dict[str, int]
    bounds: Ints
    docs: Ints
    fields: Ints
    counts: Ints
    lengths: Ints
    alive: npt.NDArray[np.bool_]
    places: Mapping[ChunkId, int]

    @classmethod
    def of(cls, ids: list[ChunkId], terms: Iterable[str], keys: Ints, counts: Ints, lengths: Ints) -> Segment:
        """A segment of counted documents; ``keys`` are ``(term * documents + document) * fields +
        field``, ascending, and ``terms`` in the order in which they number them."""
        numbered = {term: number for number, term in enumerate(terms)}
        pairs, places = np.divmod(keys, _F)
        numbers, docs = np.divmod(pairs, max(len(ids), 1))
        return cls(
            ids=ids,
            terms=numbered,
            bounds=np.searchsorted(numbers, np.arange(len(numbered) + 1)),
            docs=docs.astype(np.int32),
            fields=places.astype(np.uint8),
            counts=np.minimum(counts, MAX_COUNT).astype(np.uint16),
            lengths=lengths,
            **_whole(ids),
        )

    @classmethod
    def count(cls, documents: Sequence[tuple[ChunkId, FieldTokens]]) -> Segment:
        """Count the tokens of documents."""
        numbers: dict[str, int] = {}
        terms, places, sizes = array("q"), array("q"), array("q")
        lengths = np.zeros((_F, len(documents)), dtype=np.int32)
        for doc, (_, fields) in enumerate(documents):
            for name, tokens in fields.items():
                terms.extend(numbers.setdefault(token, len(numbers)) for token in tokens)
                places.append(doc * _F + _NUMBER[name])
                sizes.append(len(tokens))
                lengths[_NUMBER[name], doc] = len(tokens)
        keys = np.array(terms, np.int64)
        keys *= _F * len(documents)
        keys += np.repeat(np.array(places, np.int64), np.array(sizes, np.int64))
        keys.sort()
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        counts = np.diff(first, append=len(keys))
        return cls.of([id_ for id_, _ in documents], numbers, keys[first], counts, lengths)

    @cached_property
    def living(self) -> int:
        return int(np.count_nonzero(self.alive))

    @cached_property
    def is_whole(self) -> bool:
        return self.living == len(self.ids)

    @cached_property
    def longest(self) -> int:
        return int(self.lengths.max(initial=0))

    @cached_property
    def totals(self) -> Ints:
        """By field, the tokens of living documents, then the number of those that have any."""
        lengths = self.lengths if self.is_whole else self.lengths[:, self.alive]
        return np.stack([lengths.sum(axis=1, dtype=np.int64), np.count_nonzero(lengths, axis=1)])

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

    def postings(self, term: str) -> tuple[Ints, Ints, Ints]:
        """Documents, fields and counts of a term."""
        number = self.terms.get(term)
        held = slice(0) if number is None else slice(*self.bounds[number : number + 2])
        return self.docs[held], self.fields[held], self.counts[held]

    def frequency(self, term: str) -> int:
        """How many living documents hold a term, which is one of ``terms``, in any field."""
        docs = self.postings(term)[0]
        last = np.append(docs[1:] != docs[:-1], True)
        return int(np.count_nonzero(last if self.is_whole else last & self.alive[docs]))

    def holds(self, term: str) -> bool:
        """Whether a living document does."""
        return bool(self.alive[self.postings(term)[0]].any())

    def living_terms(self) -> Iterable[str]:
        """The terms that a living document holds."""
        held = np.diff(np.append(0, np.cumsum(self.alive[self.docs]))[self.bounds]) > 0
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
        doc = places[part.docs]
        stays = doc >= 0
        pairs = np.repeat(renamed, np.diff(part.bounds)) * len(ids) + doc
        keys.append((pairs * _F + part.fields)[stays])
        counts.append(part.counts[stays].astype(np.int64))
    key = np.concatenate(keys)
    # A stable sort merges runs that are sorted already.
    order = np.argsort(key, kind="stable")
    return Segment.of(ids, terms, key[order], np.concatenate(counts)[order], lengths)


def write_segments(path: Path, segments: Sequence[Segment], generation: int, stamp: str) -> None:
    """Replace the file of the lexical index, NumPy's ``.npz``, each part of which has a CRC-32;
    IndexUnwritable if the disk is full or refuses: the old file stays."""
    chunks = sum(len(segment.ids) for segment in segments)
    about = {"stamp": stamp, "generation": generation, "chunks": chunks}
    texts = [{"ids": segment.ids, "terms": [*segment.terms]} for segment in segments]
    arrays = {
        f"{name} {number}": getattr(segment, name)
        for number, segment in enumerate(segments)
        for name in _ARRAYS
    }
    arrays |= {"about": _as_array(about), "texts": _as_array(texts)}
    with writing_to(path.parent):
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as file:
            np.savez(file, **arrays)


@contextmanager
def open_segments(path: Path) -> Iterator[tuple[dict[str, Any], Mapping[str, Ints]]]:
    """What a file is (``stamp``, ``generation``, number of ``chunks``), and its arrays, which are read
    and checked when they are asked for; IndexDamaged if anything of it is not what was written."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            about = _of_array(file["about"])
            if about.keys() != {"stamp", "generation", "chunks"}:
                raise ValueError("an earlier version of notehop wrote it")
            yield about, file
    except (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zlib.error,
            zipfile.BadZipFile, RuntimeError, AttributeError) as exc:  # fmt: skip
        reason = getattr(exc, "strerror", None) or exc
        raise IndexDamaged(f"{path}: cannot be read: {reason}; run: notehop index") from exc


def read_segments(path: Path) -> tuple[tuple[Segment, ...], int, str]:
    """The segments of a file, its generation and stamp; IndexDamaged as :func:`open_segments`."""
    with open_segments(path) as (about, file):
        segments = []
        for number, text in enumerate(_of_array(file["texts"])):
            # One string for an id, wherever it stands: a reader holds them all.
            ids = [*map(sys.intern, text["ids"])]
            terms = {term: at for at, term in enumerate(text["terms"])}
            arrays: dict[str, Any] = {name: file[f"{name} {number}"] for name in _ARRAYS}
            segments.append(Segment(ids, terms, **arrays, **_whole(ids)))
        return tuple(segments), about["generation"], about["stamp"]


def _as_array(value: Any) -> Ints:
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode("ascii"), np.uint8)


def _of_array(array: Ints) -> Any:
    return json.loads(array.tobytes())


def _whole(ids: Collection[ChunkId]) -> dict[str, Any]:
    """What follows from documents none of which was removed."""
    places = {id_: doc for doc, id_ in enumerate(ids)}
    return {"alive": np.ones(len(ids), dtype=np.bool_), "places": places}
