"""Owns what the signals of one query said, until it is fused. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, overload

from llama_index.core.schema import BaseNode, NodeWithScore

from notehop.app.retrieval.index_view import Hits
from notehop.app.retrieval.nodes import light_node, noted
from notehop.app.retrieval.reciprocal_rank import Fused
from notehop.app.retrieval.weights import DECIDED_BY
from notehop.indexing.stores.model import ChunkId


@dataclass(frozen=True, slots=True)
class Nodes:
    """What a retriever that is none of ours found, in whatever order."""

    hits: Sequence[NodeWithScore]


Found: TypeAlias = Hits | Nodes
"""What any retriever found."""


@dataclass(slots=True)
class Votes:
    """What the signals said: rankings and scores, and the nodes of retrievers not ours.

    ``expansion`` is the weight of the ranking of notes that are linked with the best ones.
    """

    rankings: dict[str, list[ChunkId]] = field(default_factory=dict)
    scores: dict[str, dict[ChunkId, float]] = field(default_factory=dict)
    nodes: dict[ChunkId, BaseNode] = field(default_factory=dict)
    failures: dict[str, Exception] = field(default_factory=dict)
    expansion: float = 0.0

    def add(self, signal: str, found: Found) -> None:
        """Add what a signal found; hits without a score match nothing and are left out."""
        if isinstance(found, Nodes):
            scores: dict[ChunkId, float] = {}
            for hit in found.hits:
                if hit.score is not None and hit.score == hit.score:
                    scores.setdefault(hit.node.node_id, float(hit.score))
                    self.nodes.setdefault(hit.node.node_id, hit.node)
            self.rankings[signal] = sorted(scores, key=lambda id_: (-scores[id_], id_))
            self.scores[signal] = scores
        else:
            self.scores[signal] = dict(found)
            self.rankings[signal] = list(self.scores[signal])

    def append(self, signal: str, found: Hits) -> None:
        """Add chunks that a signal was asked about, behind those that it found."""
        self.scores[signal].update(found)
        self.rankings[signal] += [id_ for id_, _ in found]


class Candidates(Sequence[ChunkId]):
    """What was found, fused when a judge first looks at it: not every judge does."""

    def __init__(self, fused: Callable[[], list[ChunkId]]) -> None:
        self._fused = fused

    @cached_property
    def _ids(self) -> list[ChunkId]:
        return self._fused()

    @overload
    def __getitem__(self, at: int) -> ChunkId: ...

    @overload
    def __getitem__(self, at: slice) -> list[ChunkId]: ...

    def __getitem__(self, at: int | slice) -> ChunkId | list[ChunkId]:
        return self._ids[at]

    def __len__(self) -> int:
        return len(self._ids)

    def __iter__(self) -> Iterator[ChunkId]:
        return iter(self._ids)


def hit_of(
    fused: Fused, votes: Votes, weights: Mapping[str, float], deciding: Collection[str] = ()
) -> NodeWithScore:
    """A fused hit, without text, with what each signal said of it."""
    signals = {
        name: {"rank": rank, "score": votes.scores[name][fused.id], "weight": weights[name]}
        for name, rank in fused.ranks.items()
    }
    record: dict[str, Any] = {"signals": signals}
    if decided := sorted(name for name in signals if name in deciding):
        record[DECIDED_BY] = decided
    node = votes.nodes.get(fused.id)
    with_record = light_node(fused.id, **record) if node is None else noted(node, **record)
    return NodeWithScore(node=with_record, score=fused.score)
