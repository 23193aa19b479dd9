"""Writes a new note into a folder of a vault: all of it or nothing, and never over another file.

Touches: vault-write (one new file, and the folder for it).
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from notehop.config.errors import CaptureFailed, CaptureFolder, VaultError
from notehop.indexing.graph.files import fold
from notehop.indexing.shown import printable
from notehop.indexing.vault.opening import CAN_HOLD_FOLDERS, open_dir_below

TEMPORARY = ".notehop-"
"""How a file begins that is being written: no part of a vault, since it begins with a dot."""

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}
"""What disks say that know no hard links."""

_ATTEMPTS = 10_000


@dataclass(frozen=True, slots=True)
class _Inbox:
    """A folder of the vault; ``held`` is its descriptor, by which all is done where there is one.

    A folder that is held stays the one that was checked, whatever is put at its path meanwhile.
    """

    path: Path
    fd: int | None

    def __call__(self, name: str) -> str:
        """How a file in it is called for the disk."""
        return name if self.fd is not None else str(self.path / name)


def write_new(vault: Path, folder: str, name: Callable[[int], str], text: str) -> str:
    """Write a note under the first name that is free; return its path in the vault, with ``/``.

    :param folder: relative to the vault, with ``/``; it is made if it is not there.
    :param name: the file's name at the 1st, 2nd … attempt, all of them different.
    :raises VaultError: if the vault is not there.
    :raises CaptureFolder: if the folder is none of the vault.
    :raises CaptureFailed: if the disk refuses.
    """
    if not vault.is_dir():
        raise VaultError(f"{vault}: there is no such folder; is its disk mounted?")
    with _folder(vault, folder) as inbox:
        try:
            below = f"{inbox.path.relative_to(vault.resolve()).as_posix()}/".removeprefix("./")
            return below + _written(inbox, name, text.encode())
        except OSError as exc:
            raise CaptureFailed(
                f"{inbox.path}: the note cannot be written: {exc.strerror or exc}"
            ) from exc


@contextmanager
def _folder(vault: Path, folder: str) -> Iterator[_Inbox]:
    """The folder, made if it was not there, with symbolic links followed inside the vault only."""
    root, place = vault.resolve(), vault / folder
    try:
        _check(root, place)
        if not CAN_HOLD_FOLDERS:
            place.mkdir(parents=True, exist_ok=True)
            _check(root, place)
        real = place.resolve()
        fd = _opened(root, real) if CAN_HOLD_FOLDERS else None
    except (OSError, RuntimeError, ValueError) as exc:
        raise CaptureFolder(
            f"{printable(str(place))}: no folder for new notes: {exc}; "
            "mend it, or set capture.folder"
        ) from exc
    try:
        yield _Inbox(real, fd)
    finally:
        if fd is not None:
            os.close(fd)


def _opened(root: Path, real: Path) -> int:
    """A descriptor of a folder below the root, to list and sync it by."""
    way = open_dir_below(root, real.relative_to(root).parts, make=True)
    try:
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=way)
    finally:
        os.close(way)


def _check(root: Path, place: Path) -> None:
    real = place.resolve()
    if not real.is_relative_to(root):
        raise CaptureFolder(
            f"{printable(str(place))}: leads out of the vault, to {printable(str(real))}, and "
            "nothing is written there; set capture.folder to a folder of the vault"
        )
    if any(part.startswith(".") for part in real.relative_to(root).parts):
        raise CaptureFolder(
            f"{printable(str(place))}: leads to a folder that is no part of the vault; "
            "set capture.folder to another one"
        )


def _written(inbox: _Inbox, name: Callable[[int], str], data: bytes) -> str:
    temporary = f"{TEMPORARY}{secrets.token_hex(8)}.tmp"
    _create(inbox, temporary, data)
    try:
        # A disk that tells small letters from capitals may be copied to one that does not.
        with os.scandir(inbox.path if inbox.fd is None else inbox.fd) as entries:
            taken = {fold(entry.name) for entry in entries}
        for attempt in range(1, _ATTEMPTS + 1):
            chosen = name(attempt)
            if fold(chosen) not in taken and _placed(inbox, temporary, chosen, data):
                _settle(inbox)
                return chosen
        raise CaptureFailed(f"{inbox.path}: {_ATTEMPTS:,} notes of this name are there already")
    finally:
        with suppress(OSError):
            os.unlink(inbox(temporary), dir_fd=inbox.fd)


def _create(inbox: _Inbox, file: str, data: bytes) -> None:
    """Make a file that is not there and write it to the disk; nothing is left if that fails."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(inbox(file), flags, 0o666, dir_fd=inbox.fd), "wb") as stream:
        try:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        except BaseException:
            with suppress(OSError):
                os.unlink(inbox(file), dir_fd=inbox.fd)
            raise


def _placed(inbox: _Inbox, temporary: str, file: str, data: bytes) -> bool:
    """Give a written file its name; False if that is another file's by now."""
    source, target = inbox(temporary), inbox(file)
    try:
        if os.name == "nt":
            os.rename(source, target)  # noqa: PTH104 (refuses to replace, there)
        else:
            os.link(source, target, src_dir_fd=inbox.fd, dst_dir_fd=inbox.fd)
    except FileExistsError:
        return False
    except OSError as exc:
        if exc.errno not in _NO_LINKS:
            raise
    else:
        return True
    try:
        _create(inbox, file, data)
    except FileExistsError:
        return False
    return True


def _settle(inbox: _Inbox) -> None:
    """Have the name itself on the disk, where folders can be synced."""
    if inbox.fd is not None:
        with suppress(OSError):
            os.fsync(inbox.fd)
