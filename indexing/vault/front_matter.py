"""The YAML block at the very start of a note: where it is, what it holds, what is wrong with it.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from notehop.indexing.vault.yaml_values import KeyPath, Place, YamlProblem, read_yaml

MAX_CHARACTERS = 1_000_000  # properties are written by hand; more than this is something else


@dataclass(frozen=True, slots=True)
class Property:
    """A string value at any depth. ``line`` is counted from 1; offsets are those of the note."""

    path: KeyPath
    text: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a note; all empty if it has none or it cannot be read.

    ``end`` is the offset of the first character after it, ``end_line`` that character's line.
    ``offset`` is where its YAML begins. ``broken`` is its text if it could not be read,
    ``repeated`` the keys that are written twice.
    """

    end: int = 0
    end_line: int = 1
    values: dict[str, Any] = field(default_factory=dict)
    places: dict[KeyPath, Place] = field(default_factory=dict)
    key_lines: dict[KeyPath, int] = field(default_factory=dict)
    offset: int = 0
    broken: str | None = None
    repeated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def line_of(self, key: str) -> int:
        """Line of the first value under a top-level key, counted from 1; 1 if it holds none."""
        lines = (place.line + 2 for path, place in self.places.items() if path[0] == key)
        return min(lines, default=1)

    def key_line(self, path: KeyPath) -> int:
        """Line of the key that a value stands under, counted from 1."""
        while path and path not in self.key_lines:
            path = path[:-1]
        return self.key_lines.get(path, -1) + 2  # the line of the opening marks is line 1

    def value_line(self, path: KeyPath) -> int:
        """Line of a value, counted from 1; behind an alias that of its parent, or its key."""
        return max(self._place(path).line + 2, self.key_line(path))

    def properties(self) -> Iterator[Property]:
        """Yield every string value, in the order of the text; behind an alias, at its parent."""
        stack: list[tuple[KeyPath, Any]] = [((), self.values)]
        while stack:
            path, value = stack.pop()
            if isinstance(value, str):
                place = self._place(path)
                yield Property(
                    path,
                    value,
                    line=place.line + 2,  # the line of the opening marks is line 1
                    start=self.offset + place.start,
                    end=self.offset + place.end,
                )
            elif isinstance(value, dict):
                stack.extend((((*path, key), item) for key, item in reversed(value.items())))
            elif isinstance(value, list):
                numbered = list(enumerate(value))
                stack.extend((((*path, str(at)), item) for at, item in reversed(numbered)))

    def _place(self, path: KeyPath) -> Place:
        while path:
            if path in self.places:
                return self.places[path]
            path = path[:-1]
        return Place(0, 0, 0)


_OPENING = re.compile(r"---[ \t]*\n")
_UNCLOSED = re.compile(r"---[ \t]*\n[\w-]+:(?:[ \t].*)?(?:\n.+)*")
_CLOSING = re.compile(r"^---[ \t]*$", re.MULTILINE)


def read_front_matter(path: str, text: str) -> FrontMatter:
    """Read the front matter of a note whose line ends are ``\\n``.

    It begins with ``---`` in the first line and ends at the next line of ``---``; without that line
    there is none, and what looks like one is text. A broken one is a warning and holds nothing.
    """
    opening = _OPENING.match(text)
    if not opening:
        return FrontMatter()
    closing = _CLOSING.search(text, opening.end())
    if not closing:
        return _unclosed(path, text)
    end = min(closing.end() + 1, len(text))
    end_line = text.count("\n", 0, end) + 1
    source = text[opening.end() : closing.start()]
    try:
        if len(source) > MAX_CHARACTERS:
            raise YamlProblem(0, f"more than {MAX_CHARACTERS:,} characters")
        mapping = read_yaml(source)
    except YamlProblem as exc:
        warning = (
            f"{path}:{exc.line + 2}: front matter cannot be read: {exc.reason}; "
            "its properties are ignored until it is corrected"
        )
        return FrontMatter(end, end_line, broken=source, warnings=(warning,))
    return FrontMatter(
        end,
        end_line,
        mapping.values,
        mapping.places,
        mapping.key_lines,
        opening.end(),
        repeated=tuple(key for _, key in mapping.repeated),
        warnings=tuple(
            f"{path}:{line + 2}: the property {key} is written twice; the last one counts"
            for line, key in mapping.repeated
        ),
    )


def _unclosed(path: str, text: str) -> FrontMatter:
    """A line of ``---`` alone may be a rule; followed by a property it was meant otherwise."""
    found = _UNCLOSED.match(text)
    if not found:
        return FrontMatter()
    warning = (
        f"{path}:1: the front matter does not end; close it with a line of ---, "
        "until then it is text"
    )
    return FrontMatter(broken=found[0], warnings=(warning,))
