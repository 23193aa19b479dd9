"""Which cuts make the best chunks of a long text. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from notehop.indexing.nodes.places import Place

CHUNK_PRICE = 0.15
"""Price of a chunk: two paragraphs are rather cut apart than one sentence from the next, but a cut
in code or inside a sentence is worth one chunk more."""

TINY_PRICE = 0.5
"""Price of a chunk so small that it would have joined its neighbour as a section."""

UNEVEN_PRICE = 0.1
"""Price of an empty chunk; half empty costs a quarter of it."""

IMPOSSIBLE = 1_000.0
"""Price of a chunk over its budget: taken only where there is no place to cut."""


def best_cuts(
    places: Sequence[Place],
    starts: Sequence[int],
    length: int,
    budget: int,
    min_tokens: int,
) -> list[int]:
    """Choose the cuts that make few chunks at good places.

    The sum of prices is least: of each cut (paragraphs before lines before sentences), of each
    chunk, of chunks under ``min_tokens``, and of uneven filling. Among equals the later cut wins.

    :param places: ascending.
    :param starts: where tokens start, ascending.
    :param length: of the text.
    :param budget: tokens that a chunk can hold.
    :returns: positions, ascending; empty if one chunk holds all.
    """
    ends = [0, *(place.at for place in places), length]
    prices = [0.0, *(place.price for place in places), 0.0]
    tokens = [bisect_left(starts, at) for at in ends]
    tokens[-1] = len(starts)
    best = [0.0] + [float("inf")] * (len(ends) - 1)
    before = [0] * len(ends)
    for i in range(len(ends) - 1):
        for j in range(i + 1, len(ends)):
            size = tokens[j] - tokens[i]
            if size > budget and j > i + 1:
                break
            price = best[i] + prices[j] + _chunk_price(size, budget, min_tokens)
            if price <= best[j]:
                best[j], before[j] = price, i
    cuts = []
    at = before[-1]
    while at:
        cuts.append(ends[at])
        at = before[at]
    return cuts[::-1]


def _chunk_price(size: int, budget: int, min_tokens: int) -> float:
    if size > budget:
        return IMPOSSIBLE * size / budget
    tiny = TINY_PRICE if size < min_tokens else 0.0
    return CHUNK_PRICE + tiny + UNEVEN_PRICE * (1 - size / budget) ** 2
