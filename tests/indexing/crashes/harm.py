"""Ways in which a disk, a sync tool or a person harms a file or folder."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

Harm = Callable[[Path], None]


def gone(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def over(start: float, stop: float, content: Callable[[int], bytes]) -> Harm:
    """Other bytes stand in a part of it, given as shares of its length."""

    def harm(path: Path) -> None:
        data = bytearray(path.read_bytes())
        first, last = int(len(data) * start), int(len(data) * stop)
        data[first:last] = content(last - first)
        path.write_bytes(data)

    return harm


def garbage(start: float = 0.0, stop: float = 1.0, seed: int = 1) -> Harm:
    return over(start, stop, random.Random(seed).randbytes)


def zeros(start: float, stop: float) -> Harm:
    return over(start, stop, bytes)


def page(number: int, seed: int = 1) -> Harm:
    def harm(path: Path) -> None:
        data = bytearray(path.read_bytes())
        at = 4096 * (number % (len(data) // 4096))
        data[at : at + 4096] = random.Random(seed).randbytes(4096)
        path.write_bytes(data)

    return harm


def replaced_by_a_file(path: Path) -> None:
    gone(path)
    path.write_text("not a folder")
