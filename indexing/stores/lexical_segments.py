"""Owns the segments of the lexical index, and the file that holds them.

Touches: index (saves and loads).
"""

from __future__ import annotations

import contextlib
import json
import sys
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.layout import replacing
from notehop.indexing.stores.model import ChunkId, FieldTokens
from notehop.indexing.tokens import FIELDS

MAX_COUNT = 65_535
"""Occurrences of a token in a field that are told apart; BM25 levels off long before."""

FILE = "segments.npz"
_OLD_FILE = "postings.bin"
"""What 0.1.0 wrote; it holds words of notes, so that it must not stay."""

_F = len(FIELDS)
_NUMBER = {name: number for number, name in enumerate(FIELDS)}

Ints = npt.NDArray[Any]
Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""Keys ``(term * fields + field) * documents + document``, ascending, and how often each occurs."""


@dataclass(frozen=True, eq=False)
class Segment:
    """The postings of n documents, T terms, P postings in S slots; nothing of it is ever changed.

    A slot is a term in a field; slots are sorted by term, then field. ``term_slots`` (T + 1) bounds
    the slots of a term, ``starts`` (S + 1) the postings of a slot; ``docs`` and ``counts`` (P) are
    those, by document. ``lengths`` (fields, n) counts tokens. ``holders`` are the documents that
    hold a term in any field, those of a term between ``bounds`` (T + 1).
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
    places: dict[ChunkId, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.places.update((id_, doc) for doc, id_ in enumerate(self.ids))

    @classmethod
    def of(cls, ids: list[ChunkId], terms: Sequence[str], rows: Rows, lengths: Ints) -> Segment:
        """Sort counted documents into a segment; ``terms`` are numbered as the keys number them."""
        key, count = rows
        n = max(len(ids), 1)
        slot, doc = np.divmod(key, n)
        first = np.flatnonzero(np.diff(slot, prepend=-1))
        slots = slot[first]
        pairs = np.sort(slot // _F * n + doc)
        pairs = pairs[np.flatnonzero(np.diff(pairs, prepend=-1))]
        numbers = np.arange(len(terms) + 1)
        return cls(
            ids=ids,
            terms={term: number for number, term in enumerate(terms)},
            term_slots=np.searchsorted(slots // _F, numbers).astype(np.int32),
            slot_fields=(slots % _F).astype(np.uint8),
            starts=np.append(first, len(slot)).astype(np.int64),
            docs=doc.astype(np.int32),
            counts=np.minimum(count, MAX_COUNT).astype(np.uint16),
            lengths=lengths,
            bounds=np.searchsorted(pairs // n, numbers).astype(np.int64),
            holders=(pairs % n).astype(np.int32),
        )

    @classmethod
    def count(cls, documents: Sequence[tuple[ChunkId, FieldTokens]]) -> Segment:
        """Count the tokens of documents.

        :raises ValueError: for a field that is not in :data:`notehop.indexing.tokens.FIELDS`.
        """
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
        rows = keys[first], np.diff(first, append=len(keys))
        return cls.of([id_ for id_, _ in documents], list(numbers), rows, lengths)

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

    def rows(self, numbers: Mapping[str, int], places: Ints, documents: int) -> Rows:
        """The postings under other numbers; ``places`` has -1 for documents that are left out."""
        renamed = np.array([numbers.get(term, -1) for term in self.terms], dtype=np.int64)
        slot_terms = np.repeat(renamed, np.diff(self.term_slots))
        slots = slot_terms * _F + self.slot_fields
        key = np.repeat(slots, np.diff(self.starts)) * documents
        doc = places[self.docs]
        stays = doc >= 0
        return key[stays] + doc[stays], self.counts[stays].astype(np.int64)


def joined(parts: Sequence[tuple[Segment, npt.NDArray[np.bool_]]]) -> Segment:
    """One segment of the living documents of several.

    Documents and terms are sorted, so that equal contents make equal segments, however they came.
    """
    ids = sorted(id_ for part, alive in parts for id_ in living_ids(part, alive))
    doc_of = {id_: doc for doc, id_ in enumerate(ids)}
    terms = sorted({term for part, alive in parts for term in _held_terms(part, alive)})
    numbers = {term: number for number, term in enumerate(terms)}
    lengths = np.zeros((_F, len(ids)), dtype=np.int32)
    keys, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for part, alive in parts:
        places = np.full(len(part.ids), -1, dtype=np.int64)
        places[alive] = [doc_of[id_] for id_ in living_ids(part, alive)]
        lengths[:, places[alive]] = part.lengths[:, alive]
        key, count = part.rows(numbers, places, max(len(ids), 1))
        keys.append(key)
        counts.append(count)
    key = np.concatenate(keys)
    # A stable sort merges runs that are sorted already.
    order = np.argsort(key, kind="stable")
    return Segment.of(ids, terms, (key[order], np.concatenate(counts)[order]), lengths)


def living_ids(part: Segment, alive: npt.NDArray[np.bool_]) -> list[ChunkId]:
    return part.ids if alive.all() else [part.ids[doc] for doc in np.flatnonzero(alive).tolist()]


def _held_terms(part: Segment, alive: npt.NDArray[np.bool_]) -> Iterable[str]:
    if alive.all():
        return part.terms
    held = np.diff(np.append(0, np.cumsum(alive[part.holders]))[part.bounds]) > 0
    return (term for term, stays in zip(part.terms, held.tolist(), strict=True) if stays)


_ARRAYS = (
    "term_slots", "slot_fields", "starts", "docs", "counts", "lengths", "bounds", "holders",
)  # fmt: skip


def write_segments(folder: Path, segments: Sequence[Segment], about: Mapping[str, Any]) -> None:
    """Replace the file in ``folder``, which is made if need be.

    :raises IndexUnwritable: if the disk is full or refuses; the old file stays.
    """
    arrays: dict[str, Any] = {
        f"{name} {number}": getattr(segment, name)
        for number, segment in enumerate(segments)
        for name in _ARRAYS
    }
    texts = [{"ids": segment.ids, "terms": [*segment.terms]} for segment in segments]
    said = json.dumps({**about, "segments": texts}, separators=(",", ":")).encode("ascii")
    with replacing(folder / FILE) as file:
        np.savez(
            file,
            about=np.frombuffer(json.dumps(dict(about)).encode("ascii"), np.uint8),
            texts=np.frombuffer(said, np.uint8),
            **arrays,
        )
    with contextlib.suppress(OSError):
        (folder / _OLD_FILE).unlink(missing_ok=True)


def read_segments(folder: Path) -> tuple[list[Segment], dict[str, Any]]:
    """Read the file in ``folder`` into memory; its checksums are compared.

    :raises IndexDamaged: if it is missing, cannot be read, or is not what was written.
    """
    with _opened(folder) as file:
        said = json.loads(file["texts"].tobytes())
        segments = []
        for number, text in enumerate(said["segments"]):
            # One string for an id, wherever it stands: a reader holds them all.
            ids = [*map(sys.intern, text["ids"])]
            terms = {term: at for at, term in enumerate(text["terms"])}
            arrays = {name: file[f"{name} {number}"] for name in _ARRAYS}
            segments.append(Segment(ids, terms, **arrays))
        return segments, said


def read_about(folder: Path) -> tuple[int, str]:
    """Generation and fingerprint alone, of a file that has its end.

    What stands in the rest of it is not checked.

    :raises IndexDamaged: if it is missing or cut short, or that cannot be read.
    """
    with _opened(folder) as file:
        about = json.loads(file["about"].tobytes())
        return int(about["generation"]), str(about["made"])


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[Any]:
    target = folder / FILE
    try:
        with np.load(target, allow_pickle=False) as file:
            yield file
    except (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zlib.error,
            zipfile.BadZipFile, NotImplementedError) as exc:  # fmt: skip
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        raise IndexDamaged(
            f"{target}: the lexical index cannot be read: {reason}; run: notehop index"
        ) from exc
