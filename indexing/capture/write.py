"""Writes a new note into a folder of a vault: all of it or nothing, and never over another file.

Touches: vault-write (one new file, and the folder for it).
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from config.errors import CaptureFailed, VaultError
from indexing.graph.names import fold
from indexing.shown import printable

TEMPORARY = ".notehop-"
"""How a file begins that is being written: no part of a vault, since it begins with a dot."""

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}
"""What disks say that know no hard links."""

_ATTEMPTS = 10_000


def write_new(vault: Path, folder: str, name: Callable[[int], str], text: str) -> str:
    """Write a note under the first name that is free; return its path in the vault, with ``/``.

    :param folder: relative to the vault, with ``/``; it is made if it is not there.
    :param name: the file's name at the 1st, 2nd … attempt, all of them different.
    :raises VaultError: if the vault is not there.
    :raises CaptureFailed: if the folder is none of the vault, or the disk refuses.
    """
    if not vault.is_dir():
        raise VaultError(f"{vault}: there is no such folder; is its disk mounted?")
    inbox = _folder(vault, folder)
    try:
        return f"{inbox.relative_to(vault.resolve()).as_posix()}/".removeprefix("./") + _written(
            inbox, name, text.encode()
        )
    except OSError as exc:
        raise CaptureFailed(f"{inbox}: the note cannot be written: {exc.strerror or exc}") from exc


def _folder(vault: Path, folder: str) -> Path:
    """The folder, made if it was not there, with symbolic links followed inside the vault only."""
    root, place = vault.resolve(), vault / folder
    try:
        _check(root, place)
        place.mkdir(parents=True, exist_ok=True)
        _check(root, place)
        return place.resolve()
    except (OSError, RuntimeError) as exc:
        raise CaptureFailed(
            f"{printable(str(place))}: no folder for new notes: {exc}; "
            "mend it, or set capture.folder"
        ) from exc


def _check(root: Path, place: Path) -> None:
    real = place.resolve()
    if not real.is_relative_to(root):
        raise CaptureFailed(
            f"{printable(str(place))}: leads out of the vault, to {printable(str(real))}, and "
            "nothing is written there; set capture.folder to a folder of the vault"
        )
    if any(part.startswith(".") for part in real.relative_to(root).parts):
        raise CaptureFailed(
            f"{printable(str(place))}: leads to a folder that is no part of the vault; "
            "set capture.folder to another one"
        )


def _written(inbox: Path, name: Callable[[int], str], data: bytes) -> str:
    temporary = inbox / f"{TEMPORARY}{secrets.token_hex(8)}.tmp"
    _create(temporary, data)
    try:
        # A disk that tells small letters from capitals may be copied to one that does not.
        taken = {fold(entry.name) for entry in os.scandir(inbox)}
        for attempt in range(1, _ATTEMPTS + 1):
            chosen = name(attempt)
            if fold(chosen) not in taken and _placed(temporary, inbox / chosen, data):
                _settle(inbox)
                return chosen
        raise CaptureFailed(f"{inbox}: {_ATTEMPTS:,} notes of this name are there already")
    finally:
        with suppress(OSError):
            temporary.unlink()


def _create(file: Path, data: bytes) -> None:
    """Make a file that is not there and write it to the disk; nothing is left if that fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(file, flags, 0o666), "wb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        except BaseException:
            with suppress(OSError):
                file.unlink()
            raise


def _placed(temporary: Path, file: Path, data: bytes) -> bool:
    """Give a written file its name; False if that is another file's by now."""
    try:
        if os.name == "nt":
            temporary.rename(file)  # refuses to replace, there
        else:
            os.link(temporary, file)
    except FileExistsError:
        return False
    except OSError as exc:
        if exc.errno not in _NO_LINKS:
            raise
    else:
        return True
    try:
        _create(file, data)
    except FileExistsError:
        return False
    return True


def _settle(folder: Path) -> None:
    """Have the name itself on the disk, where folders can be synced."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
