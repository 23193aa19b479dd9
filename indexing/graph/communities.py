"""Communities of the graph of links: notes bound to each other more than to the rest. Pure.

networkx, which is slow to import, does Louvain (Blondel et al. 2008). Our own is what keeps communities
while notes change.

Every note has one vote, which it shares out over its links. A daily note or an index that links to
fifty notes so binds none of the fifty to another, and a note with a single link is bound where that
leads. Why, and what else was tried: docs/decisions/ranking.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import log1p

EdgeWeights = Mapping[str, Mapping[str, float]]
"""Note -> the notes that it is linked with, either way -> how strongly, above 0; the same from both
sides. Notes and their neighbours in order of path. A note without links has no neighbours."""


def count_links(
    notes: Collection[str], links: Iterable[tuple[str, str]]
) -> Counter[tuple[str, str]]:
    """How many links lead from one of the notes to another one.

    :param links: (source, target), twice if there are two.
    """
    among = frozenset(notes)
    return Counter(
        pair for pair in links if pair[0] != pair[1] and pair[0] in among and pair[1] in among
    )


def edge_weights(notes: Iterable[str], counts: Mapping[tuple[str, str], int]) -> EdgeWeights:
    """How strongly links bind notes: of each pair, the share of either's vote for the other.

    Of a note's vote, ``log(1 + n)`` parts go to a note that it links to ``n`` times, as in
    :func:`notehop.indexing.graph.pagerank.pagerank`. A weight is above 0 and at most 2.

    :param counts: (source, target) -> links, of :func:`count_links`.
    """
    votes: dict[str, float] = {}
    ordered = sorted(counts.items())
    for (source, _), count in ordered:
        votes[source] = votes.get(source, 0.0) + log1p(count)
    weights: dict[str, dict[str, float]] = {path: {} for path in sorted(notes)}
    for (source, target), count in ordered:
        share = log1p(count) / votes[source]
        weights[source][target] = weights[source].get(target, 0.0) + share
        weights[target][source] = weights[target].get(source, 0.0) + share
    return {path: dict(sorted(near.items())) for path, near in weights.items()}


Membership = Mapping[str, str]  # note -> name of its community
SEED = 0  # of the order in which Louvain looks at notes: any, but always the same
ROUNDS = 10  # passes over the notes that may move: each finds less than the one before

ALIKE = 0.25
"""Share of the notes of two communities that both must hold for one to go by the other's name."""

_GAIN = 1e-12  # gains below it are rounding


def louvain(
    weights: EdgeWeights, resolution: float = 1.0, before: Membership | None = None
) -> list[frozenset[str]]:
    """The communities of a graph; the largest first, then by their first path.

    Each is connected. Notes without links are in none.

    :param resolution: above 1 for smaller communities, below for larger.
    :param before: the communities that there were: every note may move, then those that belong
        together are joined. None begins with each note by itself.
    """
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(path for path, near in weights.items() if near)
    graph.add_weighted_edges_from(
        (path, other, weight)
        for path, near in weights.items()
        for other, weight in near.items()
        if path < other
    )
    if not graph:
        return []
    groups = [frozenset([path]) for path in graph]
    if before is not None:
        now = {path: before[path] for path in graph if path in before}
        groups = grouped(move_notes(weights, now, graph, resolution))
    # Numbers instead of paths: the hashes of texts, and so the order of sets, differ by process.
    number = {path: at for at, group in enumerate(groups) for path in group}
    whole = nx.Graph()
    whole.add_nodes_from(range(len(groups)))
    for path, other, weight in graph.edges(data="weight"):
        ends = number[path], number[other]
        known = whole.get_edge_data(*ends, {"weight": 0.0})["weight"]
        whole.add_edge(*ends, weight=known + weight)
    how = {"weight": "weight", "resolution": resolution, "seed": SEED}
    found = nx.community.louvain_communities(whole, **how)
    joined = (frozenset().union(*(groups[at] for at in one)) for one in found)
    # One may be in pieces that only a note held together which has left since (Traag et al. 2019).
    return _sorted(part for one in joined for part in nx.connected_components(graph.subgraph(one)))


def move_notes(
    weights: EdgeWeights, membership: Membership, movable: Iterable[str], resolution: float = 1.0
) -> dict[str, str]:
    """Let some notes go where modularity gains most; the others stay where they are.

    A note goes to a community that it is bound with, stays if no other is better, and is alone,
    under the name ``+`` and its path, where it fits none. Of equal ones the first by name.

    :param membership: of notes with links; those of ``movable`` may have none.
    :returns: the membership of every note of either.
    """
    now = dict(membership)
    ordered = sorted(path for path in set(movable) if weights.get(path))
    for path in ordered:
        now.setdefault(path, singleton(path))
    strength = {path: sum(weights[path].values()) for path in now}
    twice = sum(strength.values())
    totals: dict[str, float] = {}
    for path in sorted(now):
        totals[now[path]] = totals.get(now[path], 0.0) + strength[path]
    for _ in range(ROUNDS):
        moved = False
        for path in ordered:
            here = now[path]
            totals[here] -= strength[path]
            ties: dict[str, float] = {here: 0.0, singleton(path): 0.0}
            for other, weight in weights[path].items():
                if other in now:
                    ties[now[other]] = ties.get(now[other], 0.0) + weight
            gains = {
                name: tie - resolution * strength[path] * totals.get(name, 0.0) / twice
                for name, tie in sorted(ties.items())
            }
            best = max(gains, key=lambda name: gains[name])
            if gains[best] <= gains[here] + _GAIN:
                best = here
            totals[best] = totals.get(best, 0.0) + strength[path]
            now[path] = best
            moved = moved or best != here
        if not moved:
            break
    return now


def grouped(membership: Membership) -> list[frozenset[str]]:
    """The communities of homes; the largest first, then by their first path."""
    groups: dict[str, set[str]] = {}
    for path, name in membership.items():
        groups.setdefault(name, set()).add(path)
    return _sorted(groups.values())


def _sorted(groups: Iterable[Iterable[str]]) -> list[frozenset[str]]:
    return sorted(map(frozenset, groups), key=lambda group: (-len(group), min(group)))


def match_communities(
    groups: Sequence[frozenset[str]], before: Mapping[str, Collection[str]]
) -> dict[int, str]:
    """Which group is which of those before: place in ``groups`` -> name, for those that are one.

    The pair that holds most notes in common comes first; no name is given twice.

    :param before: name -> its notes, of which some may be gone.
    """
    membership = {path: name for name, notes in sorted(before.items()) for path in notes}
    pairs = Counter(
        (at, membership[path])
        for at, group in enumerate(groups)
        for path in group
        if path in membership
    )
    found: dict[int, str] = {}
    taken: set[str] = set()
    for (at, name), both in sorted(pairs.items(), key=lambda item: (-item[1], item[0])):
        either = len(groups[at]) + len(before[name]) - both
        if at not in found and name not in taken and both >= ALIKE * either:
            found[at] = name
            taken.add(name)
    return found


def singleton(path: str) -> str:
    """The name of the community of a note that belongs to none."""
    return f"+{path}"
