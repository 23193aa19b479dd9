"""Opens files of a vault so that nothing outside it is ever read, whatever is swapped meanwhile.

Touches: vault-read, vault-write (folders, where they are to be made).
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

CAN_HOLD_FOLDERS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
"""Whether a file can be opened by a folder that is held open; Windows cannot."""

_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CLOSED = getattr(os, "O_CLOEXEC", 0)


def open_below(root: Path, path: str) -> BinaryIO:
    """Open a file of a vault to be read; symbolic links are followed inside the vault only.

    Where a link is, it is resolved, and then opened are the folders and the file that were found,
    one in the other, none of them through a link: what was looked at is what is read.

    :param path: relative to ``root``, with ``/``.
    :raises OSError: if there is no such file, it is none, or it lies outside.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if CAN_HOLD_FOLDERS:
        try:
            return _regular(root, parts)
        except OSError as exc:
            if exc.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise
    top, real = root.resolve(), (root / path).resolve()
    if not real.is_relative_to(top):
        raise OSError(errno.ELOOP, "a symbolic link that leaves the vault", path)
    if not CAN_HOLD_FOLDERS:
        return real.open("rb")
    return _regular(top, real.relative_to(top).parts or (".",))


def open_dir_below(root: Path, parts: tuple[str, ...], *, make: bool = False) -> int:
    """Open a folder below another one, through no link; return its descriptor, to be closed.

    :param make: whether to make the folders that are not there.

    :raises OSError: if it is not there, or a link is on the way.
    """
    folder_fd = os.open(root, _FOLDER | _CLOSED)
    for part in parts:
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=folder_fd)
            below = os.open(part, _FOLDER | _NO_LINK | _CLOSED, dir_fd=folder_fd)
        finally:
            os.close(folder_fd)
        folder_fd = below
    return folder_fd


def _regular(root: Path, parts: list[str] | tuple[str, ...]) -> BinaryIO:
    """Open a regular file below a folder, through no link."""
    folder = open_dir_below(root, tuple(parts[:-1]))
    try:
        # A pipe would keep who opens it waiting for somebody to write.
        flags = os.O_RDONLY | os.O_NONBLOCK | _NO_LINK | _CLOSED
        handle = os.open(parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), parts[-1])
        raise OSError(errno.EPERM, "not a regular file", parts[-1])
    return os.fdopen(handle, "rb")
