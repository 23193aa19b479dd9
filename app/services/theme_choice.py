"""Chooses the themes that a query has to do with, and in each the notes that say most."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from llama_index.core.schema import NodeWithScore

from notehop.indexing.themes.model import Theme, Themes
from notehop.indexing.vault.dates import day_in_name

DEPTH = 60
"""Notes that are looked for: a theme that has none among so many is not about the query."""

NEAR = 0.75
"""Share of the best similarity that a note must reach which holds no word of the query: a search by
meaning ranks every note of the vault, whatever it says."""

FIRST = 5
"""Offset of the ranks that are added up: a theme that is found first outweighs several that are
found far behind, however many notes they have."""

SHARE = 0.25
"""What a theme must have of the best one's weight; less is chance."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A theme with its notes that count, the first first.

    ``hits`` maps note -> the best passage of it, where a query was looked for.
    """

    theme: Theme
    notes: tuple[str, ...]
    hits: Mapping[str, NodeWithScore] | None = None


def by_size(themes: Themes, left: Collection[str] | None) -> list[Chosen]:
    """All themes, those with most notes first, then by id; each with its central notes first.

    First of all is the one that names it. A note of a day stands behind the others: that many
    things were linked on a day makes it no centre.

    :param left: the notes that filters leave; None for all. A theme without any is none.
    """
    found = [
        Chosen(theme, notes)
        for theme in themes.themes
        if (notes := tuple(p for p in theme.notes if left is None or p in left))
    ]
    found = [Chosen(one.theme, tuple(_lasting_first(one))) for one in found]
    return sorted(found, key=lambda one: (-len(one.notes), one.theme.id))


def by_hits(themes: Themes, hits: Sequence[NodeWithScore]) -> list[Chosen]:
    """The themes that the hits of a query are in, those with most and best first, ties by id.

    :param hits: one a note, best first, with the record of its ranking.
    """
    weights: dict[str, float] = {}
    held: dict[str, dict[str, NodeWithScore]] = {}
    for rank, hit in enumerate(_telling(hits), start=1):
        path = str(hit.node.metadata["path"])
        theme = themes.of_note.get(path)
        if theme is not None:
            weights[theme.id] = weights.get(theme.id, 0.0) + 1 / (FIRST + rank)
            held.setdefault(theme.id, {})[path] = hit
    least = SHARE * max(weights.values(), default=0.0)
    by_id = {one.id: one for one in themes.themes}
    return [
        Chosen(by_id[id_], tuple(held[id_]), held[id_])
        for id_, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0]))
        if weight >= least
    ]


def _telling(hits: Sequence[NodeWithScore]) -> list[NodeWithScore]:
    """The hits that hold a word of the query, or mean nearly what the nearest does."""
    best = max((_score(hit, "semantic") or 0.0 for hit in hits), default=0.0)
    return [
        hit
        for hit in hits
        if _score(hit, "lexical") is not None or (_score(hit, "semantic") or 0.0) >= NEAR * best
    ]


def _score(hit: NodeWithScore, signal: str) -> float | None:
    score = hit.node.metadata.get("signals", {}).get(signal, {}).get("score")
    return None if score is None else float(score)


def _lasting_first(one: Chosen) -> list[str]:
    names = one.theme.named_after
    return sorted(one.notes, key=lambda path: (path != names, day_in_name(path) is not None))
