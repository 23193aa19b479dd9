"""The links that lead nowhere, or to more than one place, gathered by what they name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from notehop.indexing.graph.model import Status
from notehop.indexing.graph.names import NOTE_SUFFIX, fold


class TargetInfo(Protocol):
    """What is read of a link here; a row of the catalog has this shape."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def raw_target(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def candidates(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """A name that links use and that leads to no file, or to one of several.

    ``target`` is spelled as in the first link, ``count`` the number of links, ``sources`` the
    (path, line) of each, sorted. ``candidates`` holds every file named for any of the links, by
    path; empty for an unresolved name.
    """

    target: str
    count: int
    sources: tuple[tuple[str, int], ...]
    candidates: tuple[str, ...] = ()


def unresolved_targets(links: Iterable[TargetInfo]) -> list[OpenTarget]:
    """The names that lead nowhere, most links first, then by name."""
    return _gather(link for link in links if link.status == Status.UNRESOLVED)


def ambiguous_targets(links: Iterable[TargetInfo]) -> list[OpenTarget]:
    """The names that fit more than one file, most links first, then by name."""
    return _gather(link for link in links if link.status == Status.AMBIGUOUS)


def _gather(links: Iterable[TargetInfo]) -> list[OpenTarget]:
    """Gather links that would lead to the same new note: case and ``.md`` make no difference."""
    groups: dict[str, list[TargetInfo]] = {}
    for link in links:
        name = fold(link.raw_target).strip().removesuffix(NOTE_SUFFIX)
        groups.setdefault(name, []).append(link)
    found = []
    for group in groups.values():
        sources = sorted((link.path, link.line) for link in group)
        first = min(group, key=lambda link: (link.path, link.line, link.raw_target))
        candidates = sorted({path for link in group for path in link.candidates})
        found.append(OpenTarget(first.raw_target, len(group), tuple(sources), tuple(candidates)))
    return sorted(found, key=lambda target: (-target.count, target.target))
