"""Reads files of settings: plain files of a bounded size, values of a bounded depth.

Whoever shares a vault can put anything in the place of one: a pipe that nobody writes to, a link to
``/dev/zero``, ten million brackets.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

MAX_BYTES = 1_000_000  # the largest file of settings seen in a vault had 60 kB
MAX_DEPTH = 50  # lists and tables in each other; what walks through them recurses


def open_plain_file(path: str | Path) -> BinaryIO:
    """Open a regular file to be read: a pipe would wait for somebody to write, and opening some devices
    does something.

    :raises OSError: if it is not there, cannot be read, or is no regular file.
    """
    file = Path(path)
    mode = file.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EPERM, "not a regular file", str(path))
    return file.open("rb")


def is_folder(name: str) -> bool:
    """Whether a name is that of a folder; one that no disk takes is none, and ``~`` is known."""
    return os.path.isdir(os.path.expanduser(name))  # noqa: PTH111, PTH112 - these never raise


def read_json_file(path: str | Path) -> Any:
    """The value that a JSON file holds.

    :raises OSError: as :func:`open_plain_file`, or if it has more than ``MAX_BYTES``.
    :raises ValueError: if it is no JSON, or nested too deeply.
    """
    return _read(path, json.loads)


def read_toml_file(path: str | Path) -> Any:
    """The table that a TOML file holds.

    :raises OSError: as :func:`read_json_file`.
    :raises ValueError: if it is no TOML in UTF-8, or nested too deeply.
    """
    return _read(path, lambda content: tomllib.loads(content.decode("utf-8-sig")))


def _read(path: str | Path, parse: Callable[[bytes], Any]) -> Any:
    with open_plain_file(path) as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"larger than {MAX_BYTES:,} bytes", str(path))
    with suppress(RecursionError):
        value = parse(content)
        if _depth(value) <= MAX_DEPTH:
            return value
    raise ValueError(f"nested deeper than {MAX_DEPTH} levels")


def _depth(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inside), default=0)
