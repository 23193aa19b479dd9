"""What a check of an index finds, and the command that repairs it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

INDEX = "notehop index"
REBUILD = "notehop index --rebuild"
ELSEWHERE = "notehop index --index-dir NEW_FOLDER"

EXAMPLES = 5
"""Notes or files that a finding names."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a part of an index.

    ``count`` says how many rows, vectors or files it concerns, ``examples`` name notes or files of
    them. ``broken`` tells whether answers suffer or notes are missing; if not, it only takes room.
    """

    part: str
    problem: str
    command: str
    count: int = 1
    examples: tuple[str, ...] = ()
    broken: bool = True


@dataclass(frozen=True, slots=True)
class PartState:
    """How much a part holds, and of which generation; None for a part that carries none."""

    part: str
    items: int
    generation: int | None = None


def said_of(error: Exception) -> str:
    """What an error of ours says, without what it says to do: the finding names that."""
    return " ".join(str(error).partition("; run:")[0].split())


def some(names: Iterable[str]) -> tuple[str, ...]:
    """A few of the names, each once, sorted."""
    return tuple(sorted(set(names))[:EXAMPLES])


def lacking(part: str, what: str, missing: Collection[str], examples: Iterable[str]) -> Finding:
    """The finding that a part lacks something the catalog refers to."""
    return Finding(part, f"it lacks {what}", INDEX, len(missing), some(examples))
