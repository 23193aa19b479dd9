"""What the files of an index were like when the last run ended, to see when they are not any more.

A run without changes opens neither the vector store nor the tables, and would not notice that a
disk, a sync tool or a person has harmed them. Comparing sizes and times costs it less than a
millisecond. A difference proves nothing (a copied folder has other times): it says where to look.

Touches: index (``seal.json``).
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from notehop.indexing import faults
from notehop.indexing.stores.layout import IndexLayout, write_private

Part = Literal["catalog", "chroma", "vectors", "lexical", "model"]
"""The parts of an index that are looked at on their own; all but the catalog are folders."""

PARTS: tuple[Part, ...] = get_args(Part)

_WRITTEN_IN_PLACE: tuple[Part, ...] = ("catalog", "chroma")
"""Parts whose files change; those of the others are written once, and have a checksum here."""

_DRAFTS = (".new", ".part")

_FORMAT = 1

_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A file: its size in bytes, time of the last change, and CRC-32 if it is written once."""

    size: int
    mtime_ns: int
    crc: int | None


@dataclass(frozen=True, slots=True)
class Seal:
    """``generation`` and ``stamp`` are those of the catalog; ``files`` are by path in the index."""

    generation: int
    stamp: str
    files: Mapping[str, SealedFile]


def put_seal(layout: IndexLayout, generation: int, stamp: str) -> None:
    """Write down what the files are like now, of an index that is whole and closed.

    Where the disk refuses, the old seal stays: the next run looks closer than it need.
    """
    before = read_seal(layout)
    known = before.files if before else {}
    with suppress(OSError):
        files = {file.name: _sealed(file, known.get(file.name)) for file in _found(layout)}
        seal = Seal(generation, stamp, files)
        if seal != before:
            _write(layout, seal)


def break_seal(layout: IndexLayout, parts: Collection[Part]) -> None:
    """Let the next run look at these parts: somebody found what it would not notice.

    No file of theirs is taken for what was written, so that what can be made anew is.
    """
    seal = read_seal(layout)
    if seal is None:
        # Without one, all are looked at.
        return
    files = {
        name: SealedFile(-1, 0, None) if _part_of(name) in parts else file
        for name, file in seal.files.items()
    }
    with suppress(OSError):
        _write(layout, Seal(seal.generation, seal.stamp, files))


def read_seal(layout: IndexLayout) -> Seal | None:
    """The seal; None if there is none, or if it cannot be read."""
    try:
        said = json.loads(layout.seal.read_bytes())
        if said["format"] != _FORMAT:
            return None
        files = {str(name): SealedFile(*row) for name, row in said["files"].items()}
        return Seal(int(said["generation"]), str(said["stamp"]), files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def doubts(layout: IndexLayout, seal: Seal | None) -> dict[Part, frozenset[str]]:
    """The parts of the index that are other than sealed, with the paths of files that are.

    Files that are new do not count where files are written once: a run that was cut off wrote them.
    One whose time alone differs does not either, if its checksum is the same. Without a seal every
    part is in doubt, and no file in particular.
    """
    if seal is None:
        return dict.fromkeys(PARTS, frozenset())
    found: dict[Part, set[str]] = {}
    there: set[str] = set()
    for file in _found(layout):
        there.add(file.name)
        sealed = seal.files.get(file.name)
        as_sealed = file.part not in _WRITTEN_IN_PLACE if sealed is None else _same(file, sealed)
        if not as_sealed:
            found.setdefault(file.part, set()).add(file.name)
    for name in seal.files.keys() - there:
        found.setdefault(_part_of(name), set()).add(name)
    return {part: frozenset(found[part]) for part in PARTS if part in found}


@dataclass(frozen=True, slots=True)
class _File:
    part: Part
    name: str
    path: str
    size: int
    mtime_ns: int


def _found(layout: IndexLayout) -> Iterator[_File]:
    """Every file that makes up the index."""
    for path in layout.catalog_files:
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue
        # The file -shm is mapped by whoever reads, a journal may be empty: they say nothing.
        if not path.name.endswith("-shm") and stat.st_size:
            yield _File("catalog", path.name, str(path), stat.st_size, stat.st_mtime_ns)
    for part in PARTS[1:]:
        yield from _below(part, str(layout.root / part), part)


def _below(part: Part, folder: str, name: str) -> Iterator[_File]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return
    for entry in entries:
        if entry.is_dir():
            yield from _below(part, entry.path, f"{name}/{entry.name}")
        elif entry.is_file() and not entry.name.endswith(_DRAFTS):
            stat = entry.stat()
            inner = f"{name}/{entry.name}"
            yield _File(part, inner, entry.path, stat.st_size, stat.st_mtime_ns)


def _write(layout: IndexLayout, seal: Seal) -> None:
    rows = {name: [file.size, file.mtime_ns, file.crc] for name, file in seal.files.items()}
    said = {
        "format": _FORMAT,
        "generation": seal.generation,
        "stamp": seal.stamp,
        "files": rows,
    }
    new = layout.seal.with_suffix(".new")
    try:
        write_private(new, json.dumps(said, indent=0))
        faults.point("seal-drafted")
        new.replace(layout.seal)
        faults.point("seal-replaced")
    finally:
        # On a full disk the half that was written is in everyone's way.
        new.unlink(missing_ok=True)


def _part_of(name: str) -> Part:
    first = name.split("/")[0]
    return next((part for part in PARTS if part == first), "catalog")


def _sealed(file: _File, known: SealedFile | None) -> SealedFile:
    if known is not None and (known.size, known.mtime_ns) == (file.size, file.mtime_ns):
        return known
    crc = None if file.part in _WRITTEN_IN_PLACE else _crc(file.path)
    return SealedFile(file.size, file.mtime_ns, crc)


def _same(file: _File, sealed: SealedFile) -> bool:
    if file.size != sealed.size:
        return False
    if file.mtime_ns == sealed.mtime_ns:
        return True
    try:
        return sealed.crc is not None and _crc(file.path) == sealed.crc
    except OSError:
        return False


def _crc(path: str) -> int:
    crc = 0
    with Path(path).open("rb") as file:
        while piece := file.read(_PIECE):
            crc = zlib.crc32(piece, crc)
    return crc
