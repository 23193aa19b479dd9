"""Owns the file of the lexical index: one file, written whole, checked whole when read.

Touches: index.

    magic (8 bytes), length of the header (8, little-endian), header (JSON), arrays at multiples of
    64 bytes from the end of the header, CRC-32 of all that (4)

The header names generation, fingerprint and the place of each array. One file and not one an array,
so that a rename replaces all of it or nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from notehop.config.errors import IndexDamaged, IndexUnwritable
from notehop.indexing import faults
from notehop.indexing.stores.postings import Postings

NAME = "postings.bin"
_MAGIC = b"nhlexic1"
_ALIGNED = 64
_HEADER = 65_536
"""More bytes than the header has."""

_DTYPES = {
    "slots": "<i4",
    "slot_fields": "<u1",
    "starts": "<i8",
    "docs": "<i4",
    "counts": "<u2",
    "lengths": "<i4",
    "frequencies": "<i4",
    "bounds": "<i8",
    "held": "<i4",
}
_TEXTS = ("ids", "terms")


def write_postings(folder: Path, postings: Postings, generation: int, fingerprint: str) -> None:
    """Replace the file in ``folder``, which is made if need be.

    A crash at any point leaves the old file or the new one, and at most a ``.new`` beside it that
    the next write takes over.

    :raises IndexUnwritable: if the disk is full or refuses; the old file stays.
    """
    target = folder / NAME
    fresh = folder / f"{NAME}.new"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        checksum = 0
        with fresh.open("wb") as file:
            for piece in _pieces(postings, generation, fingerprint):
                file.write(piece)
                checksum = zlib.crc32(piece, checksum)
            file.write(checksum.to_bytes(4, "little"))
            file.flush()
            os.fsync(file.fileno())
        faults.point("lexical-drafted")
        fresh.replace(target)
        faults.point("lexical-replaced")
        _sync_folder(folder)
    except OSError as exc:
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise IndexUnwritable(
            f"{target}: the lexical index cannot be written ({exc.strerror or exc}); "
            "free space or allow writing there, then run: notehop index"
        ) from exc


def read_postings(folder: Path) -> tuple[Postings, int, str]:
    """Read the file in ``folder`` into memory, about 2 kB a chunk.

    It is read, not mapped: every byte is checked anyhow, and a mapped file could not be replaced
    on Windows nor be cut short on a network drive without ending the process.

    :returns: postings (arrays read-only), generation, fingerprint.
    :raises IndexDamaged: if the file is missing, cannot be read, or is not what was written.
    """
    target = folder / NAME
    try:
        data = target.read_bytes()
    except OSError as exc:
        raise _damaged(target, exc.strerror or str(exc)) from exc
    if data[:8] != _MAGIC or zlib.crc32(memoryview(data)[:-4]) != int.from_bytes(
        data[-4:], "little"
    ):
        raise _damaged(target, "its checksum or its format is wrong")
    end = 16 + int.from_bytes(data[8:16], "little")
    header = json.loads(data[16:end])
    fields: dict[str, Any] = {
        name: np.frombuffer(data, dtype, int(np.prod(shape)), end + offset).reshape(shape)
        for name, (dtype, shape, offset) in header["arrays"].items()
    }
    fields |= {name: json.loads(fields[name].tobytes()) for name in _TEXTS}
    # One string for an id, wherever it stands: a reader holds them all.
    fields["ids"] = [*map(sys.intern, fields["ids"])]
    return Postings(**fields), header["generation"], header["fingerprint"]


def read_about(folder: Path) -> tuple[int, str]:
    """Generation and fingerprint alone, of a file that is as long as it was written.

    What stands in it is not checked.

    :raises IndexDamaged: if it is missing or has another length, or its beginning cannot be read.
    """
    target = folder / NAME
    try:
        with target.open("rb") as file:
            start = file.read(16)
            if start[:8] != _MAGIC:
                raise ValueError("its format is wrong")
            length = int.from_bytes(start[8:], "little")
            header = json.loads(file.read(min(length, _HEADER)))
            size = file.seek(0, os.SEEK_END)
        ends = [
            offset + int(np.prod(shape)) * np.dtype(dtype).itemsize
            for dtype, shape, offset in header["arrays"].values()
        ]
        if size != 16 + length + _aligned(max(ends)) + 4:
            raise ValueError("it has another length")
        return int(header["generation"]), str(header["fingerprint"])
    except OSError as exc:
        raise _damaged(target, exc.strerror or str(exc)) from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise _damaged(target, str(exc)) from exc


def _pieces(postings: Postings, generation: int, fingerprint: str) -> Iterator[bytes | memoryview]:
    arrays: dict[str, npt.NDArray[Any]] = {
        name: np.ascontiguousarray(getattr(postings, name), dtype)
        for name, dtype in _DTYPES.items()
    }
    for name in _TEXTS:
        # ASCII, so that any string comes back as it was.
        text = json.dumps(getattr(postings, name), separators=(",", ":")).encode("ascii")
        arrays[name] = np.frombuffer(text, dtype="<u1")
    places: dict[str, tuple[str, tuple[int, ...], int]] = {}
    offset = 0
    for name, values in arrays.items():
        places[name] = (values.dtype.str, values.shape, offset)
        offset += _aligned(values.nbytes)
    header = json.dumps(
        {"arrays": places, "fingerprint": fingerprint, "generation": generation}, sort_keys=True
    ).encode("ascii")
    header += b" " * (-(16 + len(header)) % _ALIGNED)
    yield _MAGIC + len(header).to_bytes(8, "little") + header
    for values in arrays.values():
        yield values.reshape(-1).view(np.uint8).data
        yield bytes(_aligned(values.nbytes) - values.nbytes)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _sync_folder(folder: Path) -> None:
    """Make the rename last through a power cut; Windows does so by itself and opens no folders."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _damaged(target: Path, reason: str) -> IndexDamaged:
    return IndexDamaged(f"{target}: the lexical index cannot be read: {reason}; run: notehop index")
