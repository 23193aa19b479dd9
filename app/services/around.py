"""The notes that links connect to given ones, with the links. Pure but for the index it asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from notehop.app.retrieval.expansion import Direction
from notehop.app.retrieval.index_view import IndexView
from notehop.indexing.graph.model import Status
from notehop.indexing.stores.model import ChunkId, LinkRow

LEADING = frozenset({Status.RESOLVED.value, Status.AMBIGUOUS.value})
"""What links lead somewhere; an excluded target is not for anybody to see."""


@dataclass(frozen=True, slots=True)
class Step:
    """A link between a note and one that is nearer; ``forward`` leads to the farther one.

    ``shown`` is the chunk of the farther note at its end: the one that the link names, or the one
    that holds it.
    """

    link: LinkRow
    forward: bool
    far: str
    shown: ChunkId


@dataclass(frozen=True, slots=True)
class Reached:
    """A note some links away, by its shortest way; ``steps`` are all links to nearer notes."""

    path: str
    depth: int
    steps: tuple[Step, ...]


def around(
    view: IndexView, seeds: Sequence[str], *, depth: int, direction: Direction
) -> list[Reached]:
    """Return the notes at most ``depth`` links from the seeds, nearest first, then by path.

    :returns: never a seed; the steps of each forward ones first, then by the place of the link.
    """
    reached = set(seeds)
    frontier = list(dict.fromkeys(seeds))
    found: list[Reached] = []
    for away in range(1, depth + 1):
        ring: dict[str, list[Step]] = {}
        for step in _steps(view, frontier, direction):
            if step.far not in reached:
                ring.setdefault(step.far, []).append(step)
        frontier = sorted(ring)
        reached.update(frontier)
        found += [Reached(path, away, tuple(ring[path])) for path in frontier]
    return found


def leads(view: IndexView, link: LinkRow) -> str | None:
    """The indexed note that a link leads to; None for any other link."""
    path = link.target_path
    if path is None or link.status not in LEADING or not view.chunk_ids_of(path):
        return None
    return path


def way(steps: Sequence[Step]) -> Literal["forward", "backward", "both"]:
    """In which directions the links go."""
    forward = {step.forward for step in steps}
    if len(forward) == 2:
        return "both"
    return "forward" if True in forward else "backward"


def _steps(view: IndexView, paths: Sequence[str], direction: Direction) -> Iterator[Step]:
    if paths and direction != "backward":
        for link in view.links_from(paths):
            target = leads(view, link)
            if target is not None:
                shown = link.target_chunk_id or view.chunk_ids_of(target)[0]
                yield Step(link, True, target, shown)
    if paths and direction != "forward":
        for link in view.links_to(paths):
            ids = view.chunk_ids_of(link.path)
            if leads(view, link) is not None and ids:
                yield Step(link, False, link.path, link.chunk_id or ids[0])
