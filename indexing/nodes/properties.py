"""The properties of a note as text, laid over the lines that they stand in. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from notehop.indexing.vault.model import Note, PropertyValue
from notehop.indexing.vault.properties import says_something

BETWEEN = " ·"
"""What ends a property that another follows: on one line they read `genre: Sci-fi · rating: 7`."""


@dataclass(frozen=True, slots=True)
class PropertyText:
    """Properties as text; line ``i`` of it (from 0) stands in line ``first_line + i`` of the note."""

    text: str
    first_line: int
    last_line: int


def property_texts(note: Note, has_text: bool, fits: int) -> list[PropertyText]:
    """What the properties of a note say; empty where that is nothing.

    :param has_text: whether the note says something beside them; then its names, tags, type and
        date of birth alone are nothing.
    :param fits: characters of a text; one property alone may have more.
    """
    if not note.properties or (has_text and not says_something(note.properties)):
        return []
    texts: list[PropertyText] = []
    waiting: list[list[PropertyValue]] = []
    length = 0
    for _, group in groupby(note.properties, key=lambda value: (value.key, value.key_line)):
        values = list(group)
        size = sum(len(value.text) + 2 for value in values) + len(values[0].key) + len(BETWEEN)
        if waiting and length + size > fits:
            texts.append(_laid_out(waiting))
            waiting, length = [], 0
        waiting.append(values)
        length += size
    return [*texts, _laid_out(waiting)]


def _laid_out(properties: Sequence[Sequence[PropertyValue]]) -> PropertyText:
    parts = [part for values in properties for part in _parts(values)]
    # What stands behind the last property of a text has nothing to be kept apart from.
    parts[-1] = (parts[-1][0], parts[-1][1].removesuffix(BETWEEN))
    first, last = min(line for line, _ in parts), max(line for line, _ in parts)
    lines: list[list[str]] = [[] for _ in range(first, last + 1)]
    for line, part in parts:
        lines[line - first].append(part)
    return PropertyText("\n".join(map(" ".join, lines)), first, last)


def _parts(values: Sequence[PropertyValue]) -> Iterator[tuple[int, str]]:
    """(line, what stands there) of a property: its key, then each of its values."""
    yield values[0].key_line, f"{values[0].key}:"
    for value in values[:-1]:
        yield value.line, f"{value.text},"
    yield values[-1].line, f"{values[-1].text}{BETWEEN}"
