"""How strongly links bind notes together, for communities. Pure.

Every note has one vote, which it shares out over its links. A daily note or an index that links to
fifty notes so binds none of the fifty to another, and a note with a single link is bound where that
leads. Why, and what else was tried: docs/decisions/themes.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from math import log1p

Bonds = Mapping[str, Mapping[str, float]]
"""Note -> the notes that it is linked with, either way -> how strongly, above 0; the same from both
sides. Notes and their neighbours in order of path. A note without links has no neighbours."""


def count_links(
    notes: Collection[str], links: Iterable[tuple[str, str]]
) -> Counter[tuple[str, str]]:
    """How many links lead from one of the notes to another one; those to itself are none.

    :param links: (source, target), twice if there are two.
    """
    among = frozenset(notes)
    return Counter(
        pair for pair in links if pair[0] != pair[1] and pair[0] in among and pair[1] in among
    )


def bonds_of(notes: Iterable[str], counts: Mapping[tuple[str, str], int]) -> Bonds:
    """The bonds of the notes: of each pair, the share of either's vote that goes to the other.

    Of a note's vote, ``log(1 + n)`` parts go to a note that it links to ``n`` times, as in
    :func:`notehop.indexing.graph.pagerank.pagerank`. A bond is above 0 and at most 2.

    :param counts: (source, target) -> links, of :func:`count_links`.
    """
    votes: dict[str, float] = {}
    ordered = sorted(counts.items())
    for (source, _), count in ordered:
        votes[source] = votes.get(source, 0.0) + log1p(count)
    bonds: dict[str, dict[str, float]] = {path: {} for path in sorted(notes)}
    for (source, target), count in ordered:
        share = log1p(count) / votes[source]
        bonds[source][target] = bonds[source].get(target, 0.0) + share
        bonds[target][source] = bonds[target].get(source, 0.0) + share
    return {path: dict(sorted(near.items())) for path, near in bonds.items()}
