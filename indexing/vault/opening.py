"""Opens files of a vault so that nothing outside it is ever read or written, whatever is swapped
meanwhile."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from notehop.config.small_files import open_plain_file

# Whether a file can be opened by a folder that is held open; Windows cannot.
_CAN_HOLD_FOLDERS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


def open_below(root: Path, path: str) -> BinaryIO:
    """Open a regular file of a vault, by its path with ``/``, to be read; or OSError.

    Symbolic links are followed inside the vault only: the path is resolved first, and what it leads to
    is opened folder by folder, through no link.
    """
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    top = os.path.realpath(root)
    real = Path(os.path.realpath(os.path.join(top, path)))  # noqa: PTH118 (a loop is no error yet)
    if not real.is_relative_to(top):
        raise OSError(errno.ELOOP, "a symbolic link that leaves the vault", path)
    if not _CAN_HOLD_FOLDERS:
        return open_plain_file(real)
    *folders, name = real.relative_to(top).parts or (".",)
    folder = _open_folder(Path(top), folders)
    try:
        return open_plain_file(name, folder=folder)
    finally:
        os.close(folder)


def _open_folder(root: Path, parts: Sequence[str], *, make: bool = False) -> int:
    """The descriptor of a folder below another one, through no link; ``make``: made where it is not there,
    and open to be listed and synced, for which its path alone is not enough."""
    flags = os.O_DIRECTORY | (os.O_RDONLY if make else getattr(os, "O_PATH", os.O_RDONLY))
    folder_fd = os.open(root, flags)
    for part in parts:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder_fd)
            below = os.open(part, flags | os.O_NOFOLLOW, dir_fd=folder_fd)
        finally:
            os.close(folder_fd)
        folder_fd = below
    return folder_fd


@dataclass(frozen=True, slots=True)
class HeldFolder:
    """A folder to write in; by its descriptor, where there is one, it stays the one that was checked,
    whatever is put at its path meanwhile."""

    path: Path
    fd: int | None

    def at(self, name: str) -> str:
        """How a file in it is called for the disk."""
        return name if self.fd is not None else str(self.path / name)

    def create(self, name: str, data: bytes) -> None:
        """Make a file that is not there and write it to the disk; nothing is left if that fails."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(self.at(name), flags, 0o666, dir_fd=self.fd), "wb") as stream:
            try:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            except BaseException:
                with suppress(OSError):
                    self.remove(name)
                raise

    def remove(self, name: str) -> None:
        """Take a file away; one that is not there is no error."""
        with suppress(FileNotFoundError):
            os.unlink(self.at(name), dir_fd=self.fd)

    def sync(self) -> None:
        """Have the names themselves on the disk, where folders can be synced."""
        if self.fd is not None:
            with suppress(OSError):
                os.fsync(self.fd)


@contextmanager
def held_folder(root: Path, real: Path) -> Iterator[HeldFolder]:
    """A folder below another one, at a resolved path, made if it is not there, and held where that can
    be; OSError if a link is on the way."""
    parts = real.relative_to(root).parts
    if not _CAN_HOLD_FOLDERS:
        real.mkdir(parents=True, exist_ok=True)
        if real.resolve() != real:
            raise OSError(errno.ELOOP, "a symbolic link", str(real))
        yield HeldFolder(real, None)
        return
    fd = _open_folder(root, parts, make=True)
    try:
        yield HeldFolder(real, fd)
    finally:
        os.close(fd)
