"""The YAML block at the very start of a note: where it is, what it holds, what is wrong with it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

MAX_DEPTH = 40  # a front matter nested deeper than this is damage or an attack
MAX_CHARACTERS = 1_000_000  # properties are written by hand; more than this is something else
VALUE = 20  # characters that a value counts beside its own. An alias counts with all it stands for

KeyPath = tuple[str, ...]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_OPENING = re.compile(r"---[ \t]*\n")
_UNCLOSED = re.compile(r"---[ \t]*\n[\w-]+:(?:[ \t].*)?(?:\n.+)*")
_CLOSING = re.compile(r"^---[ \t]*$", re.MULTILINE)

_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None} | {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}


class YamlProblem(Exception):
    """Why a front matter cannot be read; ``line`` is counted from 0 within it."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class FrontMatter:
    """The front matter of a note; all empty if it has none or it cannot be read.

    ``end`` is the offset of the first character after it. ``lines`` knows every value that is not
    behind an alias and no list or mapping, ``key_lines`` every key. ``broken`` is its text if it
    could not be read, ``repeated`` has (line, key) of those that are written again.
    """

    def __init__(
        self,
        text: str = "",
        first: int = 0,
        *,
        broken: str | None = None,
        end: int = 0,
        warnings: tuple[str, ...] = (),
    ) -> None:
        """Read one YAML mapping, whose first line counts as ``first``; an empty text is an empty one.

        :raises YamlProblem: for anything that is no mapping, no YAML, or too much of it.
        """
        self.end, self.broken, self.warnings = end, broken, warnings
        self.values: dict[str, Any] = {}
        self.lines: dict[KeyPath, int] = {}
        self.key_lines: dict[KeyPath, int] = {}
        self.repeated: list[tuple[int, str]] = []
        self._first, self._total = first, 0
        self._anchors: dict[str, tuple[Any, int]] = {}
        try:
            self._read(text)
        except yaml.MarkedYAMLError as exc:
            mark = exc.problem_mark or exc.context_mark
            # What is missing at the end is missing in the last line.
            last = text.rstrip().count("\n")
            raise YamlProblem(min(mark.line, last) if mark else 0, exc.problem or str(exc)) from exc
        except yaml.reader.ReaderError as exc:
            line = text.count("\n", 0, exc.position) if isinstance(exc.position, int) else 0
            raise YamlProblem(line, f"character that YAML does not allow ({exc.reason})") from exc
        except (yaml.YAMLError, ValueError, RecursionError) as exc:
            raise YamlProblem(0, str(exc)) from exc

    def _read(self, text: str) -> None:
        """Take the values from PyYAML's events, which have lines."""
        if len(text) > MAX_CHARACTERS:
            raise YamlProblem(0, f"more than {MAX_CHARACTERS:,} characters")
        self._events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        if any(isinstance(event, yaml.DocumentStartEvent) for event in self._events):
            first: Any = next(self._events)
            root = self._value(first, ())
            next(self._events)  # or what is wrong behind the mapping would not be told
            if root is not None and not isinstance(root, dict):
                reason = "it is not a list of properties (key: value)"
                raise YamlProblem(first.start_mark.line, reason)
            self.values = root or {}

    def _value(self, event: Any, path: KeyPath) -> Any:
        line, before = event.start_mark.line, self._total
        alias = event.anchor if isinstance(event, yaml.AliasEvent) else None
        if alias is not None and alias not in self._anchors:
            raise YamlProblem(line, f"the alias *{alias} has no anchor before it")
        own = VALUE + len(event.value) if isinstance(event, yaml.ScalarEvent) else VALUE
        value, size = self._anchors[alias] if alias is not None else (None, own)
        self._total += size
        if self._total > MAX_CHARACTERS:
            says = f"more than {MAX_CHARACTERS:,} characters, values and aliases counted in full"
            raise YamlProblem(line, says)
        if alias is not None:
            return value
        if isinstance(event, yaml.ScalarEvent):
            value = _scalar(event)
            self.lines[path] = line + self._first
        elif len(path) >= MAX_DEPTH:
            raise YamlProblem(line, f"nested deeper than {MAX_DEPTH} levels")
        elif isinstance(event, yaml.SequenceStartEvent):
            value = []
            while not isinstance(item := next(self._events), yaml.SequenceEndEvent):
                value.append(self._value(item, (*path, str(len(value)))))
        else:
            value = {}
            while not isinstance(item := next(self._events), yaml.MappingEndEvent):
                read = self._value(item, (*path, ""))
                scalar = isinstance(item, yaml.ScalarEvent)
                key = str(item.value) if scalar else json.dumps(read, ensure_ascii=False)
                key_line = item.start_mark.line + self._first
                if key in value:
                    self.repeated.append((key_line, key))
                self.key_lines[*path, key] = key_line
                value[key] = self._value(next(self._events), (*path, key))
        if event.anchor:
            self._anchors[event.anchor] = value, self._total - before
        return value

    def scalars(
        self, skip: Callable[[str], bool] = lambda _: False
    ) -> Iterator[tuple[KeyPath, KeyPath, Any, int, int]]:
        """Yield (path, its keys without the numbers of lists, value, line of the key, its own line)
        of every value, in text order; behind an alias both lines are that of the key. What is below a
        key to ``skip`` is passed over.
        """
        stack: list[tuple[KeyPath, KeyPath, Any, int]] = [((), (), self.values, 1)]
        while stack:
            path, names, value, key_line = stack.pop()
            if isinstance(value, dict):
                for key, item in reversed(value.items()):
                    if not skip(key):
                        line = self.key_lines.get((*path, key), key_line)
                        stack.append(((*path, key), (*names, key), item, line))
            elif isinstance(value, list):
                numbered = reversed(list(enumerate(value)))
                stack += (((*path, str(at)), names, item, key_line) for at, item in numbered)
            else:
                yield path, names, value, key_line, self.lines.get(path) or key_line


def _scalar(event: yaml.ScalarEvent) -> Any:
    """The value of a scalar. A number that would be written otherwise stays text: a month (`01.2026`), a
    version (`1.10`), a telephone number (`0123`), and what JSON has none for (inf, nan, huge integers)."""
    text: str = event.value
    if event.style or event.tag:
        return text.encode("utf-8", "replace").decode()
    if text in _WORDS:
        return _WORDS[text]
    number: int | float | str = text
    if _INT.fullmatch(text):
        number = int(text)
    elif len(text) <= 40 and _FLOAT.fullmatch(text):
        number = float(text)
    return number if str(number) == text else text


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
        # A line of --- alone may be a rule; followed by a property it was meant otherwise.
        if unclosed := _UNCLOSED.match(text):
            says = "does not end; close it with a line of ---, until then it is text"
            warning = f"{path}:1: the front matter {says}"
            return FrontMatter(broken=unclosed[0], warnings=(warning,))
        return FrontMatter()
    end = min(closing.end() + 1, len(text))
    source = text[opening.end() : closing.start()]
    try:
        found = FrontMatter(source, 2, end=end)
    except YamlProblem as exc:
        says = f"cannot be read: {exc}; its properties are ignored until it is corrected"
        warning = f"{path}:{exc.line + 2}: front matter {says}"
        return FrontMatter(broken=source, end=end, warnings=(warning,))
    found.warnings = tuple(
        f"{path}:{line}: the property {key} is written twice; the last one counts"
        for line, key in found.repeated
    )
    return found
