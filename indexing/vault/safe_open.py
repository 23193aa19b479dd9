"""Opens files of a vault so that nothing outside it is read or written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO

from notehop.config.small_files import open_plain_file


def open_below(root: Path, path: str) -> BinaryIO:
    """Open a regular file of a vault, by its path with ``/``, to be read; or OSError.

    Symbolic links are followed inside the vault only.
    """
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    top = os.path.realpath(root)
    real = Path(os.path.realpath(os.path.join(top, path)))  # noqa: PTH118 (a loop is no error yet)
    if not real.is_relative_to(top):
        raise OSError(errno.ELOOP, "a symbolic link that leaves the vault", path)
    return open_plain_file(real)
