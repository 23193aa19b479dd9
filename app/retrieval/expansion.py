"""Owns recall expansion as a rule: which neighbours of the best notes join the candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Direction = Literal["forward", "backward", "both"]
"""Along the links a note holds, along those that lead to it, or both."""

DIRECTIONS: tuple[Direction, ...] = ("forward", "backward", "both")

DAY = 86_400.0
"""Seconds."""

HALF_LIFE = 30 * DAY
WINDOW = 120 * DAY
"""Past the window a note grows no older: four half-lives leave one sixteenth, never nothing."""


@dataclass(frozen=True, slots=True)
class Expansion:
    """How far and how wide to look around the best notes.

    ``notes`` is how many neighbours join at most (0 switches expansion off), ``depth`` how many
    links away they may be (1 or 2), ``seeds`` around how many of the best notes to look.
    """

    notes: int
    depth: int = 1
    direction: Direction = "both"
    seeds: int = 5

    def __post_init__(self) -> None:
        if self.notes < 0:
            raise ValueError(f"notes is {self.notes}; it must be 0 (off) or more")
        if self.depth not in (1, 2):
            raise ValueError(f"depth is {self.depth}; it must be 1 or 2")
        if self.direction not in DIRECTIONS:
            raise ValueError(f"direction is {self.direction!r}; choose: {', '.join(DIRECTIONS)}")
        if self.seeds < 1:
            raise ValueError(f"seeds is {self.seeds}; it must be at least 1")


PRESETS: Mapping[str, Expansion] = MappingProxyType(
    {
        "off": Expansion(notes=0),
        "conservative": Expansion(notes=10, depth=1),
        "balanced": Expansion(notes=15, depth=1),
        "aggressive": Expansion(notes=20, depth=2),
    }
)


def preset(name: str) -> Expansion:
    """Return the expansion of that name.

    :raises ValueError: if there is none; the message lists those there are.
    """
    if name not in PRESETS:
        raise ValueError(f"no expansion {name!r}; choose: {', '.join(PRESETS)}")
    return PRESETS[name]


def recency(modified: float, now: float) -> float:
    """Return 1 for a note changed now or in the future, halved every 30 days, for 120 at most.

    :param modified: seconds since the epoch, as ``now``.
    :returns: between 1/16 and 1.
    """
    age = min(max(now - modified, 0.0), WINDOW)
    return float(0.5 ** (age / HALF_LIFE))


def weight(pagerank: float, edges: int, modified: float, now: float) -> float:
    """Return how much a neighbour matters: PageRank x ln(1 + edges) x recency.

    :param edges: links between the neighbour and the notes it was found from, at least 1.
    """
    return pagerank * math.log1p(edges) * recency(modified, now)
