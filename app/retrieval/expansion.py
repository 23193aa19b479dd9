"""Owns recall expansion as a rule: which neighbours of the best notes join, and in what order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Direction = Literal["forward", "backward", "both"]
"""Along the links a note holds, along those that lead to it, or both."""

DIRECTIONS: tuple[Direction, ...] = ("forward", "backward", "both")

DAY = 86_400.0
"""Seconds."""

DECAY = 0.5
"""What a second link leaves of a neighbour's weight and of its votes."""

RRF_K = 10
"""Rank offset of the ranking of neighbours: there are tens of them, as of connected notes."""

VOTE = 0.25
"""Weight of that ranking among the signals. So little moves no first hit, and brings more of the
notes sought into the first ten on every set we have; with 0.5 first hits are lost
(docs/decisions/ranking.md)."""

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


def recency(worked_on: float, now: float) -> float:
    """Return 1 for a note changed now or in the future, halved every 30 days, for 120 at most.

    :param worked_on: when a note was worked on last, in seconds since the epoch, as ``now``.
    :returns: between 1/16 and 1.
    """
    age = min(max(now - worked_on, 0.0), WINDOW)
    return float(0.5 ** (age / HALF_LIFE))


def weight(pagerank: float, edges: int, worked_on: float, now: float, depth: int = 1) -> float:
    """Return how much a neighbour matters: PageRank x ln(1 + edges) x recency, less at depth 2.

    :param edges: links between the neighbour and the notes it was found from, at least 1.
    :param depth: links between it and the best notes, 1 or 2.
    """
    return pagerank * math.log1p(edges) * recency(worked_on, now) * DECAY ** (depth - 1)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the order of a neighbour goes by.

    ``hit_rank`` is that of the best note it hangs on, from 1; similarities are cosines to the
    query, of the sentence that holds the link and of the neighbour's best chunk, None where there
    is no vector.
    """

    hit_rank: int
    depth: int
    weight: float
    sentence: float | None = None
    note: float | None = None


def votes(standing: Sequence[Standing], k: int = RRF_K) -> list[float]:
    """Return the score of each neighbour: four rankings fused by reciprocal rank.

    They are the rank of the hit, the likeness of the sentence, the likeness of the note, and the
    weight. PageRank and its kin alone bring what everything links to; what the link was about
    brings what was asked for. A neighbour two links away gets half.

    :returns: in the order of ``standing``, larger is better.
    """
    rankings = [
        _ranks([one.sentence for one in standing]),
        _ranks([one.note for one in standing]),
        _ranks([one.weight for one in standing]),
    ]
    scores: list[float] = []
    for at, one in enumerate(standing):
        ranks = [one.hit_rank, *(ranking[at] for ranking in rankings if at in ranking)]
        scores.append(math.fsum(1.0 / (k + rank) for rank in ranks) * DECAY ** (one.depth - 1))
    return scores


def _ranks(values: Sequence[float | None]) -> dict[int, int]:
    """Return position -> rank from 1, the largest first; ties as they stand; None has no rank."""
    known = [(-value, at) for at, value in enumerate(values) if value is not None]
    return {at: rank for rank, (_, at) in enumerate(sorted(known), start=1)}
