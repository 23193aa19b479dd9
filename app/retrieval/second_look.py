"""A second look: what was found is asked with again, for the next hop where no link leads."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import BaseNode, NodeWithScore

from notehop.app.retrieval.fusion import fuse
from notehop.app.retrieval.linked_notes import words_of
from notehop.app.retrieval.nodes import fill, noted
from notehop.app.retrieval.trace import Nodes, TracedQuery, TracedRetriever, ViewSource, view_for
from notehop.config.errors import UsageError

STAGE = "second_look"
"""The name of this stage in a query's trace, and of what it says in a hit's metadata."""

SEEDS = 2  # hits that are asked with: a third brings no more (docs/evaluation.md)
RRF_K = 10  # rank offset of the fusion over the seeds: there are tens of candidates

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_])|\n+")
_BEGINNING = 400  # characters of a seed that are asked with, at most
_NAMED = 5  # words that a hit shares with its seed and that are told


def second_query(query: str, title: str, text: str) -> str:
    """The question with the title of a hit and its first two sentences."""
    beginning = " ".join(_SENTENCE_END.split(text.strip())[:2])
    return f"{query} {title}. {beginning[:_BEGINNING]}".strip()


class SecondLookRetriever(TracedRetriever):
    """Finds what a query names only by way of what is found first, with any two LlamaIndex retrievers.

    The first hits of ``retriever`` are seeds: ``again`` is asked the query with each seed's title
    and beginning, and what it finds is fused by reciprocal rank over the seeds. The best of that, of
    other notes than the first ``keep`` hits and each note once, stand behind those hits, whose order
    and scores are untouched, and before the others. Each has ``metadata["second_look"]``: ``path``
    and ``title`` of the seed that led to it and the ``words`` that it shares with that seed and not
    with the query. Where the second search fails, the hits are those of the first, with a warning.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        again: BaseRetriever,
        *,
        view: ViewSource | None = None,
        words: Callable[[str], Collection[str]] = words_of,
        keep: int = 5,
        most: int = 4,
        seeds: int = SEEDS,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """:param view: the index, for retrievers whose hits come without text; None where all have it.
        :param words: those of a text that say something; they are told, and rank nothing.
        :param keep: hits of the first search that nothing is put before.
        :param most: hits of the second search at most.
        :param seeds: hits of the first search that are asked with.
        :raises ValueError: if a number is below 1.
        """
        for name, number in (("keep", keep), ("most", most), ("seeds", seeds)):
            if number < 1:
                raise ValueError(f"{name} is {number}; it must be at least 1")
        super().__init__(callback_manager=callback_manager)
        self._retriever = retriever
        self._again = again
        self._view = view
        self._words = words
        self._keep, self._most, self._seeds = keep, most, seeds

    def find(self, query: TracedQuery) -> Nodes:
        found = self._retriever.retrieve(query)
        if not found:
            return found
        trace = query.trace
        with trace.timed(STAGE):
            try:
                new = self._look(query, found)
            except UsageError:
                raise
            except Exception as exc:  # noqa: BLE001 - any broken retriever; said, never swallowed
                trace.warn(f"the second look failed ({type(exc).__name__}: {exc})")
                return found
        trace.count(STAGE, hits=len(new))
        there = {hit.node.node_id for hit in new}
        rest = [hit for hit in found[self._keep :] if hit.node.node_id not in there]
        return [*found[: self._keep], *new, *rest]

    def _look(self, query: TracedQuery, found: Sequence[NodeWithScore]) -> list[NodeWithScore]:
        """What the second search adds, best first, each hit with the seed that led to it."""
        view = None if self._view is None else view_for(query, self._view)

        def with_text(hits: Sequence[NodeWithScore]) -> Sequence[NodeWithScore]:
            return hits if view is None else fill(hits, view)

        first = found[: self._keep]
        seeds = {seed.node.node_id: seed.node for seed in with_text(first[: self._seeds])}
        rankings: dict[str, list[str]] = {}
        hits: dict[str, NodeWithScore] = {hit.node.node_id: hit for hit in found}
        for id_, seed in seeds.items():
            title = str(seed.metadata.get("title", ""))
            text = second_query(query.query_str, title, seed.get_content())
            ranked = self._again.retrieve(TracedQuery(text, trace=query.trace, view=query.view))
            rankings[id_] = [hit.node.node_id for hit in ranked]
            for hit in ranked:
                hits.setdefault(hit.node.node_id, hit)
        # The note of each hit; one that is of none stands for itself.
        paths = [None] * len(hits) if view is None else view.paths_of(hits)
        notes = {
            id_: path or _note_of(hit.node) or id_
            for (id_, hit), path in zip(hits.items(), paths, strict=True)
        }
        known = {notes[hit.node.node_id] for hit in first}
        best: dict[str, Mapping[str, int]] = {}
        for one in fuse(rankings, k=RRF_K):
            if notes[one.id] not in known and len(best) < self._most:
                known.add(notes[one.id])
                best[one.id] = one.ranks
        asked = self._words(query.query_str)
        added: list[NodeWithScore] = []
        for hit in with_text([hits[one] for one in best]):
            id_, ranks = hit.node.node_id, best[hit.node.node_id]
            seed = seeds[min(ranks, key=lambda one: (ranks[one], one))]
            shared = {*self._words(seed.get_content())} & {*self._words(hit.node.get_content())}
            told = {
                "path": _note_of(seed),
                "title": str(seed.metadata.get("title", "")),
                "words": sorted(shared - {*asked}, key=lambda word: (-len(word), word))[:_NAMED],
            }
            # A score for its place: not above the hits before it, nor below the others.
            node = noted(hits[id_].node, second_look=told)
            added.append(NodeWithScore(node=node, score=first[-1].score))
        return added


def _note_of(node: BaseNode) -> str:
    return str(node.metadata.get("path") or node.metadata.get("file_path") or "")
