"""Names that were almost written: near misses by edit distance. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist

from notehop.indexing.graph.files import fold

_CELLS = 4_000_000
"""Distances computed at a time, a byte each."""

_MARKS = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Name:
    """Something that can be named. ``via`` says what the name is of it: name, title, alias, …"""

    name: str
    path: str
    via: str


@dataclass(frozen=True, slots=True)
class Near:
    """A name near to one that was asked for; ``distance`` counts letters, 0: marks or case."""

    name: Name
    distance: int


def spelling(name: str) -> str:
    """The form in which names are compared: folded, with one space for whatever is no letter."""
    return _MARKS.sub(" ", fold(name)).strip()


def slack(length: int) -> int:
    """How many letters a name of so many may differ in, and still have been meant."""
    if length < 4:
        return 0
    return 1 if length < 8 else 2 if length < 16 else 3


class NearNames:
    """All names that could have been meant."""

    def __init__(self, names: Iterable[Name]) -> None:
        """Take the names; of those of one path that are spelled alike, the first is kept."""
        self._by_key: dict[str, dict[str, Name]] = {}
        for name in names:
            if key := spelling(name.name):
                self._by_key.setdefault(key, {}).setdefault(name.path, name)
        self._by_length: dict[int, list[str]] = {}
        for key in sorted(self._by_key):
            self._by_length.setdefault(len(key), []).append(key)

    def near(self, asked: Iterable[str], most: int = 3) -> dict[str, tuple[Near, ...]]:
        """Each name that was asked for -> at most so many near names, nearest first.

        Distance counts letters that are missing, too many, wrong or swapped (optimal string
        alignment). Digits are no slips: ``2024-05-01`` is not near to ``2024-05-02``.
        """
        said = {one: spelling(one) for one in asked}
        by_length: dict[int, list[str]] = {}
        for key in sorted(set(said.values())):
            by_length.setdefault(len(key), []).append(key)
        found: dict[str, list[tuple[int, str]]] = {}
        for length, keys in by_length.items():
            if length:
                self._compare(keys, length, found)
        return {one: self._named(found.get(key, ()), most) for one, key in said.items()}

    def _compare(
        self, keys: Sequence[str], length: int, found: dict[str, list[tuple[int, str]]]
    ) -> None:
        most = slack(length)
        near = range(length - most, length + most + 1)
        choices = [key for other in near for key in self._by_length.get(other, ())]
        if not choices:
            return
        rows = max(1, _CELLS // len(choices))
        for start in range(0, len(keys), rows):
            part = keys[start : start + rows]
            table = cdist(part, choices, scorer=OSA.distance, score_cutoff=most, dtype=np.uint8)
            for row, column in np.argwhere(table <= most).tolist():
                key, choice = part[row], choices[column]
                if _DIGITS.findall(key) == _DIGITS.findall(choice):
                    found.setdefault(key, []).append((int(table[row, column]), choice))

    def _named(self, found: Iterable[tuple[int, str]], most: int) -> tuple[Near, ...]:
        return tuple(islice(self._each(sorted(found)), most))

    def _each(self, found: Iterable[tuple[int, str]]) -> Iterator[Near]:
        seen: set[str] = set()
        for distance, key in found:
            named: Mapping[str, Name] = self._by_key[key]
            for path in sorted(named):
                if path not in seen:
                    seen.add(path)
                    yield Near(named[path], distance)
