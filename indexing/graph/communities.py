"""Communities of the graph of links: notes bound to each other more than to the rest. Pure.

Every note has one vote, which it shares out over its links. A daily note or an index that links to
fifty notes so binds none of the fifty to another, and a note with a single link is bound where that
leads. Why, and what else was tried: docs/decisions/ranking.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from math import log1p

EdgeWeights = Mapping[str, Mapping[str, float]]
"""Note -> the notes that it is linked with, either way -> how strongly, above 0; the same from both
sides. Notes and their neighbours in order of path. A note without links has no neighbours."""


def edge_weights(notes: Iterable[str], links: Iterable[tuple[str, str]]) -> EdgeWeights:
    """How strongly links bind notes: of each pair, the share of either's vote for the other.

    Of a note's vote, ``log(1 + n)`` parts go to a note that it links to ``n`` times, as in
    :func:`notehop.indexing.graph.pagerank.pagerank`. A weight is above 0 and at most 2.

    :param links: (source, target), twice if there are two; those of other files do not count.
    """
    weights: dict[str, dict[str, float]] = {path: {} for path in sorted(notes)}
    counts = Counter((a, b) for a, b in links if a != b and a in weights and b in weights)
    ordered = sorted(counts.items())
    votes: defaultdict[str, float] = defaultdict(float)
    for (source, _), count in ordered:
        votes[source] += log1p(count)
    for (source, target), count in ordered:
        share = log1p(count) / votes[source]
        weights[source][target] = weights[source].get(target, 0.0) + share
        weights[target][source] = weights[target].get(source, 0.0) + share
    return {path: dict(sorted(near.items())) for path, near in weights.items()}


SEED = 0  # of the order in which Louvain looks at notes: any, but always the same


def louvain(weights: EdgeWeights) -> list[frozenset[str]]:
    """The communities of a graph (Louvain: Blondel et al. 2008), the largest first, then by first path.

    Each is connected. Notes without links are in none.
    """
    import networkx as nx  # slow to import

    paths = [path for path, near in weights.items() if near]
    if not paths:
        return []
    # Numbers instead of paths: the hashes of texts, and so the order of sets, differ by process.
    number = {path: at for at, path in enumerate(paths)}
    pairs = [(path, other) for path in paths for other in weights[path] if path < other]
    graph = nx.empty_graph(len(paths))
    graph.add_weighted_edges_from((number[a], number[b], weights[a][b]) for a, b in pairs)
    found = nx.community.louvain_communities(graph, weight="weight", seed=SEED)
    # One may be in pieces that only a note held together which has left since (Traag et al. 2019).
    parts = (part for one in found for part in nx.connected_components(graph.subgraph(one)))
    groups = (frozenset(paths[at] for at in part) for part in parts)
    return sorted(groups, key=lambda group: (-len(group), min(group)))
