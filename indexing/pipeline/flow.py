"""The order in which notes go through a run: in groups, each begun while one before it is written.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from notehop.indexing.vault.walk import FileEntry

Begun = TypeVar("Begun")
Item = TypeVar("Item")


def groups(
    files: Iterable[FileEntry], most_notes: int, most_bytes: int
) -> Iterator[Sequence[FileEntry]]:
    """Runs of notes that fit a transaction, in order; a note over ``most_bytes`` is alone."""
    group: list[FileEntry] = []
    size = 0
    for file in files:
        if group and (len(group) >= most_notes or size + file.size > most_bytes):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield group


def one_ahead(items: Iterable[Item], begin: Callable[[Item], Begun]) -> Iterator[Begun]:
    """What ``begin`` makes of each item, in order; it has begun the next one by then."""
    waiting: list[Begun] = []
    for item in items:
        waiting.append(begin(item))
        if len(waiting) > 1:
            yield waiting.pop(0)
    yield from waiting
