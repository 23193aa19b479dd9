"""The files of a vector table: immutable parts, and a manifest whose replacement is the commit.

A part is a ``.npy`` matrix and its ids, one a line, and is never changed once the manifest names
it. Parts are read, not mapped: a mapped file that is cut short ends the process that searches it.

Touches: index.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_magic, write_array_header_1_0

from notehop.config.errors import IndexDamaged, IndexMissing
from notehop.indexing import faults
from notehop.indexing.stores.layout import unwritable
from notehop.indexing.stores.table_rows import Matrix

_FORMAT = 1

_HEADER = 4_096
"""More bytes than the header of a ``.npy`` file has."""

_ATTEMPTS = 5
"""Readings of a manifest whose parts were replaced meanwhile: more says that a part is missing."""


@dataclass(frozen=True, slots=True)
class PartFile:
    """A part on disk.

    ``digest`` is that of the ids, 32 hexadecimal digits of SHA-256; ``crc`` the CRC-32 of the
    numbers, None for a part that 0.1.0 wrote.
    """

    file: str
    rows: int
    digest: str
    crc: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a table on disk is.

    It holds every vector of the catalog's ``generation``, and may hold vectors of later ones.
    ``stamp`` is that of the catalog (:func:`~indexing.stores.catalog.stamp_of`).
    """

    dimensions: int
    generation: int
    stamp: str
    parts: tuple[PartFile, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table as it was read: its manifest, and ids and matrix of each part."""

    manifest: Manifest
    parts: tuple[tuple[list[str], Matrix], ...]


def write(folder: Path, name: str, manifest: Manifest, ids: Sequence[str], matrix: Matrix) -> None:
    """Add a part to those of ``manifest`` and make the result the table; no rows add no part.

    Parts that the new manifest does not name are removed.

    :raises ValueError: if an id is empty or holds a line break.
    :raises IndexUnwritable: disk full or read-only; the table is as it was before.
    """
    write_blocks(folder, name, manifest, ids, [matrix])


def write_blocks(
    folder: Path, name: str, manifest: Manifest, ids: Sequence[str], blocks: Iterable[Matrix]
) -> None:
    """Do as :func:`write` with a matrix that comes in blocks of rows, each in memory on its own.

    :param blocks: in the order of the ids; taken only if there are any.
    :raises ValueError: if there are more or fewer rows than ids, too.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        parts = manifest.parts
        if len(ids):
            parts = (*parts, _write_part(folder, name, manifest.dimensions, ids, blocks))
            faults.point(f"{name}-part-written")
        said = {"format": _FORMAT, **asdict(manifest), "parts": [asdict(part) for part in parts]}
        _replace(folder / f"{name}.json", json.dumps(said, indent=1).encode())
        faults.point(f"{name}-manifest-replaced")
        _sweep(folder, name, {part.file for part in parts})
        faults.point(f"{name}-parts-swept")
    except OSError as exc:
        raise unwritable(folder, exc) from exc


def read_manifest(folder: Path, name: str) -> Manifest:
    """The manifest alone.

    :raises IndexMissing: if there is no table of this name.
    :raises IndexDamaged: if it cannot be read.
    """
    path = folder / f"{name}.json"
    try:
        said: dict[str, Any] = json.loads(path.read_bytes())
        if said["format"] != _FORMAT:
            raise ValueError(f"format {said['format']}")
        parts = tuple(
            PartFile(str(part["file"]), int(part["rows"]), str(part["digest"]), part.get("crc"))
            for part in said["parts"]
        )
        return Manifest(int(said["dimensions"]), int(said["generation"]), str(said["stamp"]), parts)
    except FileNotFoundError as exc:
        raise IndexMissing(f"{path}: no such table; run: notehop index") from exc
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise _damaged(path, exc) from exc


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """See that every part is there and its matrix as large as it was written.

    :raises IndexDamaged: if not.
    """
    for part in manifest.parts:
        path = folder / f"{part.file}.npy"
        try:
            numbers = part.rows * manifest.dimensions * 4
            if not numbers < path.stat().st_size < numbers + _HEADER:
                raise ValueError("it has another size")
            path = path.with_suffix(".ids")
            path.stat()
        except (OSError, ValueError) as exc:
            raise _damaged(path, exc) from exc


def held(folder: Path, manifest: Manifest, ids: Collection[str]) -> set[str]:
    """Those of the ids that the table holds; newest parts are read first, until all are found.

    :raises IndexDamaged: if a part is missing, or not as the manifest says.
    """
    check_sizes(folder, manifest)
    found: set[str] = set()
    left = set(ids)
    for part in reversed(manifest.parts):
        if not left:
            break
        try:
            there = left.intersection(read_ids(folder, part))
        except FileNotFoundError as exc:
            raise _damaged(folder / f"{part.file}.ids", exc) from exc
        found |= there
        left -= there
    return found


def read(folder: Path, name: str, known: Collection[str] = ()) -> StoredTable:
    """The table, all of it in memory and as it was written: 25 ms for 30,000 vectors.

    :param known: names of parts to leave out.
    :raises IndexMissing: if there is no table of this name.
    :raises IndexDamaged: if it cannot be read.
    """
    for attempt in range(_ATTEMPTS):
        manifest = read_manifest(folder, name)
        try:
            parts = tuple(
                read_part(folder, part, manifest.dimensions)
                for part in manifest.parts
                if part.file not in known
            )
        except FileNotFoundError as exc:
            if attempt + 1 == _ATTEMPTS:
                raise _damaged(folder / f"{name}.json", exc) from exc
        else:
            return StoredTable(manifest, parts)
    raise AssertionError("unreachable")


def read_part(folder: Path, part: PartFile, dimensions: int) -> tuple[list[str], Matrix]:
    """The ids of a part and its matrix.

    :raises FileNotFoundError: if a file of it is not there.
    :raises IndexDamaged: if it is not as the manifest says.
    """
    return read_ids(folder, part), read_matrix(folder, part, dimensions)


def read_ids(folder: Path, part: PartFile) -> list[str]:
    """The ids of a part, by row.

    :raises FileNotFoundError: if their file is not there.
    :raises IndexDamaged: if it is not what was written.
    """
    path = folder / f"{part.file}.ids"
    try:
        listed = path.read_bytes()
        if _digest(listed) != part.digest:
            raise ValueError("it does not hold the ids that were written")
        return listed.decode().split("\n")
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as exc:
        raise _damaged(path, exc) from exc


def read_matrix(folder: Path, part: PartFile, dimensions: int) -> Matrix:
    """The matrix of a part alone; nobody changes it.

    :raises FileNotFoundError: if its file is not there.
    :raises IndexDamaged: if it is not what the manifest says.
    """
    path = folder / f"{part.file}.npy"
    try:
        matrix: Matrix = np.load(path, allow_pickle=False)
        if matrix.shape != (part.rows, dimensions) or matrix.dtype != np.float32:
            raise ValueError(f"it holds {matrix.dtype} of shape {matrix.shape}")
        if part.crc not in (None, zlib.crc32(matrix.data)):
            raise ValueError("it does not hold the vectors that were written")
    except FileNotFoundError:
        raise
    except (OSError, ValueError, EOFError) as exc:
        raise _damaged(path, exc) from exc
    matrix.flags.writeable = False
    return matrix


def read_rows(folder: Path, part: PartFile, dimensions: int, rows: Sequence[int]) -> Matrix:
    """Some rows of the matrix of a part, without reading the others.

    :returns: shape (len(rows), dimensions).
    :raises FileNotFoundError: if its file is not there.
    :raises IndexDamaged: if it has another shape, or is cut short.
    """
    path = folder / f"{part.file}.npy"
    found = np.empty((len(rows), dimensions), dtype="<f4")
    try:
        with path.open("rb") as file:
            read_magic(file)
            if read_array_header_1_0(file)[0] != (part.rows, dimensions):
                raise ValueError("it has another shape")
            start = file.tell()
            for row, into in zip(rows, found, strict=True):
                file.seek(start + row * into.nbytes)
                if file.readinto(into.data) < into.nbytes:
                    raise ValueError("it is cut short")
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as exc:
        raise _damaged(path, exc) from exc
    return found


def is_whole(folder: Path, part: PartFile, dimensions: int) -> bool:
    """Whether a part is there and as it was written."""
    try:
        read_part(folder, part, dimensions)
    except (IndexDamaged, FileNotFoundError):
        return False
    return True


def _write_part(
    folder: Path, name: str, dimensions: int, ids: Sequence[str], blocks: Iterable[Matrix]
) -> PartFile:
    if any(not one or one.splitlines() != [one] for one in ids):
        raise ValueError("an id of a vector is empty or holds a line break")
    listed = "\n".join(ids).encode()
    # A new name each time: a name used again could pair an old matrix with a new list of ids.
    part = PartFile(f"{name}-{uuid.uuid4().hex[:16]}", len(ids), _digest(listed))
    try:
        with (folder / f"{part.file}.npy").open("wb") as file:
            crc = _write_matrix(file, (len(ids), dimensions), blocks)
            _settle(file)
        faults.point(f"{name}-matrix-written")
        with (folder / f"{part.file}.ids").open("wb") as file:
            file.write(listed)
            _settle(file)
    except Exception:
        # On a full disk the half that was written is in everyone's way.
        for path in folder.glob(f"{part.file}.*"):
            path.unlink(missing_ok=True)
        raise
    return replace(part, crc=crc)


def _write_matrix(file: IO[bytes], shape: tuple[int, int], blocks: Iterable[Matrix]) -> int:
    """Write a matrix and return the CRC-32 of its numbers."""
    about = {"descr": "<f4", "fortran_order": False, "shape": shape}
    # Not np.save: on a full disk it says how many numbers it wrote, not why.
    write_array_header_1_0(file, about)
    count = crc = 0
    for block in blocks:
        rows = np.ascontiguousarray(block, dtype="<f4")
        if rows.shape[1:] != shape[1:]:
            raise ValueError(f"vectors of shape {rows.shape} in a table of {shape}")
        file.write(rows.data)
        crc = zlib.crc32(rows.data, crc)
        count += len(rows)
    if count != shape[0]:
        raise ValueError(f"{shape[0]} ids and {count} vectors")
    return crc


def _replace(path: Path, data: bytes) -> None:
    new = path.with_suffix(".new")
    with new.open("wb") as file:
        file.write(data)
        _settle(file)
    faults.point(f"{path.stem}-manifest-drafted")
    new.replace(path)
    if hasattr(os, "O_DIRECTORY"):
        # So that the renaming outlasts a power cut.
        handle = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _settle(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sweep(folder: Path, name: str, kept: set[str]) -> None:
    for path in sorted(folder.glob(f"{name}-*")):
        if path.suffix in (".npy", ".ids") and path.stem not in kept:
            path.unlink(missing_ok=True)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _damaged(path: Path, cause: Exception) -> IndexDamaged:
    return IndexDamaged(f"{path}: the vector table is damaged ({cause}); run: notehop index")
