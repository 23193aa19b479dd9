"""A file of arrays that a cache is kept in, with the stamp and generation of its catalog.

It is NumPy's ``.npz``, of which each part has a CRC-32, and is read, not mapped: a mapped file that is
cut short ends the process that searches it. Whatever is wrong with it, the catalog has all of it.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from notehop.config.errors import IndexDamaged
from notehop.indexing.stores.layout import replacing, unwritable

_ABOUT = "about"


def write_cache(path: Path, arrays: Iterable[tuple[str, NDArray[Any]]], about: Any) -> None:
    """Replace a file, an array in memory at a time.

    :param about: a mapping with ``stamp`` and ``generation``; it is asked for after the last array.
    :raises IndexUnwritable: if the disk is full or refuses; the old file stays.
    """
    try:
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as file, zipfile.ZipFile(file, "w") as whole:

            def write(name: str, array: NDArray[Any]) -> None:
                with whole.open(f"{name}.npy", "w", force_zip64=True) as part:
                    np.lib.format.write_array(part, array, allow_pickle=False)

            for name, array in arrays:
                write(name, array)
            write(_ABOUT, as_array(about))
    except OSError as exc:
        raise unwritable(path.parent, exc) from exc


@contextmanager
def open_cache(path: Path) -> Iterator[tuple[dict[str, Any], Mapping[str, NDArray[Any]]]]:
    """What a file is, and its arrays, which are read and checked when they are asked for;
    IndexDamaged if it is missing, or anything of it is not what was written."""
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            yield of_array(file[_ABOUT]), file
    except (OSError, ValueError, KeyError, TypeError, EOFError, MemoryError, zlib.error,
            zipfile.BadZipFile, RuntimeError) as exc:  # fmt: skip
        reason = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
        raise IndexDamaged(f"{path}: cannot be read: {reason}; run: notehop index") from exc


def as_array(value: Any) -> NDArray[np.uint8]:
    """A value of JSON as an array of bytes."""
    return np.frombuffer(json.dumps(value, separators=(",", ":")).encode("ascii"), np.uint8)


def of_array(array: NDArray[Any]) -> Any:
    return json.loads(array.tobytes())
