"""Neighbours: the notes that links connect to given ones, near to far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    import networkx as nx

Direction = Literal["out", "in", "both"]
"""``out`` follows links, ``in`` goes to the notes that link here, ``both`` does both."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note reached by links.

    ``depth`` is the least number of links away from any seed. ``via`` holds the notes one step
    nearer that connect to it, in the order they were reached (seeds in the order given); ``edges``
    counts the links between it and those.
    """

    path: str
    depth: int
    edges: int
    via: tuple[str, ...]


def neighbours(
    graph: nx.MultiDiGraph,
    seeds: Iterable[str],
    direction: Direction = "out",
    depth: int = 1,
) -> list[Neighbour]:
    """Find the notes that links connect to the seeds.

    :param seeds: paths; those that are not in the graph are passed over, repeats do no harm.
    :param depth: how many links away at most, >= 1.
    :returns: nearest first, then most edges, then by path; never a seed. Empty for no seeds.
    :raises ValueError: for an unknown direction or a depth below 1.
    """
    if direction not in get_args(Direction):
        raise ValueError(f"direction {direction!r}: choose one of {', '.join(get_args(Direction))}")
    if depth < 1:
        raise ValueError(f"depth {depth}: give 1 or more")
    frontier = [seed for seed in dict.fromkeys(seeds) if seed in graph]
    reached = set(frontier)
    found: list[Neighbour] = []
    for step in range(1, depth + 1):
        edges: dict[str, int] = {}
        via: dict[str, list[str]] = {}
        for path in frontier:
            for other, count in _adjacent(graph, path, direction).items():
                if other not in reached:
                    edges[other] = edges.get(other, 0) + count
                    via.setdefault(other, []).append(path)
        ring = [Neighbour(path, step, edges[path], tuple(via[path])) for path in edges]
        ring.sort(key=lambda neighbour: (-neighbour.edges, neighbour.path))
        found += ring
        frontier = [neighbour.path for neighbour in ring]
        reached.update(frontier)
    return found


def _adjacent(graph: nx.MultiDiGraph, path: str, direction: Direction) -> dict[str, int]:
    """The notes next to one, with the number of links between them."""
    counts: dict[str, int] = {}
    for adjacency in _sides(graph, direction):
        for other, links in adjacency[path].items():
            counts[other] = counts.get(other, 0) + len(links)
    return counts


def _sides(graph: nx.MultiDiGraph, direction: Direction) -> Iterator[nx.MultiDiGraph]:
    if direction != "in":
        yield graph.succ
    if direction != "out":
        yield graph.pred
