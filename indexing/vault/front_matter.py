"""The YAML block at the very start of a note: where it is, what it holds, what is wrong with it.

The values are read from PyYAML's events, so that each has its place. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

MAX_DEPTH = 40  # a front matter nested deeper than this is damage or an attack
MAX_VALUES = 50_000  # aliases count with all they stand for, so a "billion laughs" ends here

MAX_CHARACTERS = 1_000_000  # properties are written by hand; more than this is something else

KeyPath = tuple[str, ...]


class YamlProblem(Exception):
    """Why a front matter cannot be read; ``line`` is counted from 0 within it."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: line from 0, offsets within the front matter's text."""

    line: int
    start: int
    end: int


def read_yaml(text: str) -> _Builder:
    """Read one YAML mapping; an empty text is an empty mapping.

    :raises YamlProblem: for anything that is no mapping, no YAML, or too much of it.
    """
    builder = _Builder()
    try:
        if len(text) > MAX_CHARACTERS:
            raise YamlProblem(0, f"more than {MAX_CHARACTERS:,} characters")
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
            if isinstance(event, yaml.DocumentEndEvent):
                break
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        last = text.rstrip().count("\n")  # what is missing at the end is missing in the last line
        raise YamlProblem(min(mark.line, last) if mark else 0, exc.problem or str(exc)) from exc
    except yaml.reader.ReaderError as exc:
        line = text.count("\n", 0, exc.position) if isinstance(exc.position, int) else 0
        raise YamlProblem(line, f"character that YAML does not allow ({exc.reason})") from exc
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise YamlProblem(0, str(exc)) from exc
    if builder.root is None:
        builder.root = {}
    if not isinstance(builder.root, dict):
        raise YamlProblem(builder.root_line, "it is not a list of properties (key: value)")
    return builder


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being built; ``key`` waits for its value."""

    value: Any
    anchor: str | None
    path: KeyPath
    place: Place
    size: int
    key: str | None = None


class _Builder:
    def __init__(self) -> None:
        self.root: Any = None
        self.root_line = 0
        self.places: dict[KeyPath, Place] = {}
        self.key_lines: dict[KeyPath, int] = {}
        self.repeated: list[tuple[int, str]] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._total = 0

    def take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
            if event.anchor:
                self._anchors[event.anchor] = (value, 1)
            self._add(value, 1, _place(event), text=event.value)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self._open(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            done = self._stack.pop()
            if done.anchor:
                self._anchors[done.anchor] = (done.value, done.size)
            self._add(done.value, 0, done.place, inner=done.size)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise YamlProblem(
                    _place(event).line, f"the alias *{event.anchor} has no anchor before it"
                )
            value, size = self._anchors[event.anchor]
            self._add(value, size, _place(event))

    def _open(self, event: yaml.Event) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise YamlProblem(_place(event).line, f"nested deeper than {MAX_DEPTH} levels")
        value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
        anchor = getattr(event, "anchor", None)
        self._stack.append(_Open(value, anchor, self._path(), _place(event), 1))
        self._count(1, _place(event).line)

    def _path(self) -> KeyPath:
        """The key path of the value that comes next."""
        if not self._stack:
            return ()
        parent = self._stack[-1]
        if isinstance(parent.value, list):
            return (*parent.path, str(len(parent.value)))
        return (*parent.path, parent.key or "")

    def _count(self, size: int, line: int) -> None:
        self._total += size
        if self._total > MAX_VALUES:
            raise YamlProblem(line, f"more than {MAX_VALUES} values, aliases counted in full")

    def _add(
        self, value: Any, size: int, place: Place, *, inner: int = 0, text: str | None = None
    ) -> None:
        """Put a finished value where it belongs; ``inner`` was counted when it was built."""
        self._count(size, place.line)
        if not self._stack:
            self.root, self.root_line = value, place.line
            return
        parent = self._stack[-1]
        parent.size += size + inner
        if isinstance(parent.value, dict) and parent.key is None:
            key = text if text is not None else json.dumps(value, ensure_ascii=False)
            if key in parent.value:
                self.repeated.append((place.line, key))
            parent.key = key
            self.key_lines[self._path()] = place.line
            return
        if text is not None:
            self.places[self._path()] = place
        if isinstance(parent.value, list):
            parent.value.append(value)
        else:
            parent.value[parent.key] = value
            parent.key = None


def _place(event: yaml.Event) -> Place:
    start, end = event.start_mark, event.end_mark
    if start is None or end is None:
        return Place(0, 0, 0)
    return Place(start.line, start.index, end.index)


_INT = re.compile(r"[-+]?[0-9]{1,18}")
_BASE = re.compile(r"0(o[0-7]{1,20}|x[0-9a-fA-F]{1,15})")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None} | {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}


def _scalar(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar; what JSON has no number for (inf, nan, huge integers) stays text."""
    text: str = event.value
    if event.style or event.tag:
        return text.encode("utf-8", "replace").decode() if not text.isascii() else text
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _BASE.fullmatch(text):
        return int(text, 0)
    if len(text) <= 40 and _FLOAT.fullmatch(text):
        number = float(text)
        return number if abs(number) != float("inf") else text
    return text


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a note; all empty if it has none or it cannot be read.

    ``end`` is the offset of the first character after it, ``end_line`` that character's line.
    ``places`` knows every value that is not behind an alias and no list or mapping, ``key_lines``
    the line of every key; both count lines from 0 and offsets from ``offset``, where its YAML
    begins. ``broken`` is its text if it could not be read, ``repeated`` the keys that are written
    twice.
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
        return max(self.place(path).line + 2, self.key_line(path))

    def place(self, path: KeyPath) -> Place:
        """Where a value stands; behind an alias that of its parent."""
        while path:
            if path in self.places:
                return self.places[path]
            path = path[:-1]
        return Place(0, 0, 0)

    def scalars(
        self, skip: Callable[[str], bool] = lambda _: False
    ) -> Iterator[tuple[KeyPath, KeyPath, Any]]:
        """Yield (path, its keys without the numbers of lists, value) of every value, in text order.

        :param skip: tells of a key whether it is passed over with all below it.
        """
        stack: list[tuple[KeyPath, KeyPath, Any]] = [((), (), self.values)]
        while stack:
            path, names, value = stack.pop()
            if isinstance(value, dict):
                stack += (
                    ((*path, key), (*names, key), item)
                    for key, item in reversed(value.items())
                    if not skip(key)
                )
            elif isinstance(value, list):
                numbered = list(enumerate(value))
                stack += (((*path, str(at)), names, item) for at, item in reversed(numbered))
            else:
                yield path, names, value


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
        mapping.root,
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
