"""Owns recall expansion on the index: neighbours of the best hits join the candidates.

Touches: index.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from app.retrieval.expansion import PRESETS, Expansion, weight
from app.retrieval.filters.allowed import Allowed, among
from app.retrieval.fusion import FusionRetriever
from app.retrieval.index_view import IndexView, ViewSource
from app.retrieval.nodes import below, fill, light_node
from app.retrieval.trace import trace_of, view_for
from indexing.stores.model import ChunkId, LinkRow

SIGNAL = "expansion"
"""The name under which an expanded hit's rank and weight stand in its record."""


@dataclass(slots=True)
class _Neighbour:
    """A note near the best hits; ``link`` is the first that led to it."""

    path: str
    chunk_id: ChunkId
    depth: int
    way: str
    link: LinkRow
    edges: int = 1
    weight: float = 0.0


class GraphEnhancedRetriever(BaseRetriever):
    """Wraps any retriever of chunks and adds neighbours of its best notes below its hits.

    A link to a heading or block brings the chunk it names, a link without one the note's first
    chunk, a backlink the chunk that holds it. What is among the hits already stays where it is.
    Expanded hits carry ``metadata["expanded_from"]`` and a record in ``metadata["signals"]``; the
    query's trace counts seeds, neighbours, those that were hits already and those added.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        view: ViewSource,
        *,
        expansion: Expansion = PRESETS["off"],
        allowed: Allowed | Collection[ChunkId] | None = None,
        with_text: bool = True,
        clock: Callable[[], float] = time.time,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Wire the retriever to the index.

        :param allowed: add these chunks only; None for all.
        :param with_text: False leaves the nodes of expanded hits without text and metadata.
        :param clock: seconds since the epoch, for the recency of neighbours.
        """
        super().__init__(callback_manager=callback_manager)
        self._retriever = retriever
        self._view = view
        self._expansion = expansion
        self._allowed = allowed
        self._with_text = with_text
        self._clock = clock

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self.expanded(query_bundle)

    def expanded(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Do as ``retrieve``, without LlamaIndex's events: for what is around this, which has its
        own."""
        inner = self._retriever
        if isinstance(inner, FusionRetriever):
            hits = inner.fused(query_bundle)
        else:
            hits = inner.retrieve(query_bundle)
        return self._expanded(hits, query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._expanded(await self._retriever.aretrieve(query_bundle), query_bundle)

    def _expanded(
        self, hits: list[NodeWithScore], query_bundle: QueryBundle
    ) -> list[NodeWithScore]:
        if self._expansion.notes == 0:
            return hits
        view = view_for(query_bundle, self._view)
        trace = trace_of(query_bundle)
        with trace.timed(SIGNAL):
            there = {hit.node.node_id for hit in hits}
            seeds = self._seeds(view, hits)
            neighbours = self._neighbours(view, seeds)
            new = [one for one in neighbours if one.chunk_id not in there]
            hits_already = len(neighbours) - len(new)
            left = set(among([one.chunk_id for one in new], self._allowed))
            new = [one for one in new if one.chunk_id in left]
            notes = view.notes_at([one.path for one in new])
            pagerank = view.pagerank if new else {}
            now = self._clock()
            for one in new:
                modified = notes[one.path].modified if one.path in notes else 0.0
                rank = pagerank.get(one.path, 0.0)
                one.weight = weight(rank, one.edges, modified, now)
            new.sort(key=lambda one: (-one.weight, one.path))
            added = new[: self._expansion.notes]
            trace.count(
                SIGNAL,
                seeds=len(seeds),
                neighbours=len(neighbours),
                hits_already=hits_already,
                filtered_out=len(neighbours) - hits_already - len(new),
                over_limit=len(new) - len(added),
                added=len(added),
            )
            return hits + self._hits(
                view, added, min((hit.score or 0.0 for hit in hits), default=0.0)
            )

    def _seeds(self, view: IndexView, hits: Sequence[NodeWithScore]) -> list[str]:
        paths = (view.path_of(hit.node.node_id) for hit in hits)
        found = dict.fromkeys(path for path in paths if path is not None)
        return list(found)[: self._expansion.seeds]

    def _neighbours(self, view: IndexView, seeds: Sequence[str]) -> list[_Neighbour]:
        """Return the notes around the seeds, nearest first, then as their links stand."""
        found: dict[str, _Neighbour] = {}
        reached = list(seeds)
        for depth in range(1, self._expansion.depth + 1):
            fresh: dict[str, _Neighbour] = {}
            known = {*seeds, *found}
            for path, chunk_id, way, link in self._around(view, reached):
                if path in known:
                    continue
                if path in fresh:
                    fresh[path].edges += 1
                else:
                    fresh[path] = _Neighbour(path, chunk_id, depth, way, link)
            found |= fresh
            reached = list(fresh)
        return list(found.values())

    def _around(
        self, view: IndexView, paths: Sequence[str]
    ) -> Iterator[tuple[str, ChunkId, str, LinkRow]]:
        """Yield (note, chunk it brings, way, link) along each link of the notes, by their order."""
        place = {path: at for at, path in enumerate(paths)}
        if not place:
            return
        if self._expansion.direction != "backward":
            forward = view.links_from(paths)
            for link in sorted(forward, key=lambda link: (place[link.path], link.ordinal)):
                if link.target_path is not None and link.target_chunk_id is not None:
                    yield link.target_path, link.target_chunk_id, "forward", link
        if self._expansion.direction != "forward":
            back = [one for one in view.links_to(paths) if one.target_path in place]
            for link in sorted(
                back, key=lambda one: (place[str(one.target_path)], one.path, one.ordinal)
            ):
                chunk_id = link.chunk_id or next(iter(view.chunk_ids_of(link.path)), None)
                if chunk_id is not None:
                    yield link.path, chunk_id, "backward", link

    def _hits(
        self, view: IndexView, added: Sequence[_Neighbour], lowest: float
    ) -> list[NodeWithScore]:
        hits = [
            NodeWithScore(
                node=light_node(
                    one.chunk_id,
                    signals={SIGNAL: {"rank": rank, "score": one.weight, "weight": None}},
                    expanded_from={
                        "path": one.link.path,
                        "line": one.link.line,
                        "way": one.way,
                        "depth": one.depth,
                        "edges": one.edges,
                    },
                ),
                score=below(lowest, 1.0 - rank / (len(added) + 1)),
            )
            for rank, one in enumerate(added, start=1)
        ]
        return fill(hits, view) if self._with_text else hits
