"""The postprocessor that settles the context: sources, then the notes they are linked with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.retrieval.filters import among
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.linked_notes import (
    Direction,
    LinkedNote,
    LinkedNotes,
    Order,
    Places,
    Scope,
    by_context,
    by_rank,
    linked_candidates,
    share_places,
)
from notehop.app.retrieval.nodes import (
    NONE_KNOWN,
    HitPlace,
    VaultPostprocessor,
    Vector,
    below,
    fill,
    is_light,
    light_hits,
    noted,
    places_of,
)
from notehop.app.retrieval.retrievers import known_vector, query_vector
from notehop.app.retrieval.trace import Trace, trace_of, view_for
from notehop.config.errors import UsageError
from notehop.indexing.shown import on_one_line
from notehop.indexing.stores.model import LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.vault.model import LinkKind
from notehop.indexing.vault.plain import words_of

_SOURCE = re.compile(r"\A(links to|embedded in|linked from) source \d+, ")


def reason(candidate: LinkedNote, near_title: str) -> str:
    """Return in words which source the note hangs on, by which link, and how near it is.

    :param near_title: title of the source's note.
    """
    link, where = candidate.link, f"line {candidate.link.line}"
    if link.kind == LinkKind.PROPERTY:
        where = f'property "{on_one_line(link.property or "")}"'
    way = "links to"
    if candidate.forward:
        way = "embedded in" if link.kind == LinkKind.EMBED else "linked from"
    words = f'{way} source {candidate.hit_rank}, "{on_one_line(near_title)}" ({where})'
    if candidate.forward and link.fragment and link.fragment_found:
        words += f", at #{on_one_line(link.fragment)}"
    if link.sentence:
        words += f': "{words_of(link.sentence)}"'
    known = {"sentence": candidate.sentence_similarity, "note": candidate.target_similarity}
    near = [f"{name} {value:.2f}" for name, value in known.items() if value is not None]
    return f"{words}; similarity to the query: {', '.join(near)}" if near else words


def renumbered(reason: str, number: int | None) -> str:
    """A reason with the number that its source has in a reply; None: the source is not in it."""
    source = f"source {number}, " if number else ""
    return _SOURCE.sub(rf"\g<1> {source}", reason)


STAGE = "connected"
"""The name of this stage in a query's trace."""


class ConnectedNotesPostprocessor(VaultPostprocessor):
    """Turns ranked hits into a context: the sources, then the notes one link away from them.

    The places of the context are ``context_chunks``, or ``top_k`` + ``max_connected`` if that is
    more. Hand it more hits than ``top_k``: places that no connected note takes go to the next ones.
    Connected notes have ``metadata["role"] == "connected"``, a ``label`` (``C1`` ...), ``reason``,
    ``linked_from`` and ``evidence``, and a score below every source; they are never to be cited.

    The hits may be of any retriever: one whose id is that of no chunk is taken for what its
    metadata's ``path`` or ``file_path`` names (see
    :func:`notehop.app.retrieval.nodes.places_of`).
    """

    view: Any = Field(exclude=True, description="A ViewSource: the index.")
    embed_model: BaseEmbedding | None = Field(
        default=None, exclude=True, description="Embeds queries that come without their vector."
    )
    top_k: int = Field(default=5, ge=1, description="Sources that are in the context for sure.")
    context_chunks: int = Field(default=8, ge=1, description="Places of the context.")
    max_connected: int = Field(default=3, ge=0, description="Connected notes at most.")
    order: Order = Field(default="context", description="How connected notes are ranked.")
    direction: Direction = Field(default="forward", description="Which links are followed.")
    scope: Scope = Field(default="note", description="Whose links: the chunk's or the note's.")
    gate: float = Field(
        default=1.0,
        ge=0,
        allow_inf_nan=False,
        description="Share of a source's similarity that a connected note must reach to take its "
        "place, in order context; 0 switches this off.",
    )
    rrf_k: int = Field(default=10, ge=1, description="Rank offset of order context.")
    fill: bool = Field(default=True, description="Places left over go to the next hits.")
    fresh: FreshnessPostprocessor | None = Field(
        default=None,
        exclude=True,
        description="Holds connected notes against the files: none is shown that is not there.",
    )
    hidden: Any = Field(
        default=frozenset(),
        exclude=True,
        description="A collection of the paths of notes that are never connected notes.",
    )
    allowed: Any = Field(
        default=None,
        exclude=True,
        description="The chunks that filters leave; a connected note that is none of them has "
        'metadata["filtered_out"]. None for all.',
    )

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        trace = trace_of(query_bundle)
        with trace.timed(STAGE):
            view = view_for(query_bundle, self.view)
            hits = [
                (hit, place)
                for hit, place in zip(nodes, places_of(view, nodes), strict=True)
                if place is not None or not is_light(hit.node)
            ]
            if len(hits) < len(nodes):
                trace.count(STAGE, stale_hits=len(nodes) - len(hits))
            if hits and not any(place for _, place in hits) and self.max_connected:
                trace.warn(NONE_KNOWN.format(count=len(hits)))
            vector = self._vector(query_bundle, view, trace) if hits else None
            if self.fresh is None:
                return self._context(view, hits, vector, trace)
            now = self.fresh.held(view, query_bundle)
            found = self._context(now, hits, vector, trace)
            now.tell(trace, self.fresh.remedy)
            return found

    def _vector(self, query: QueryBundle | None, view: Snapshot, trace: Trace) -> Vector | None:
        """Return the query's vector; None, with a warning, if there is no way to get it."""
        rows = view.chunk_vectors
        if query is not None and (known := known_vector(query, rows)) is not None:
            return known
        if self.order == "rank":
            # This order compares nothing, and the model may be slow to load.
            return None
        if query is None or self.embed_model is None:
            trace.warn(
                "connected notes are in order rank: the query came without its vector, and the "
                "postprocessor has no embed_model"
            )
            return None
        try:
            return query_vector(query, self.embed_model, rows)
        except UsageError:
            raise
        except Exception as exc:  # noqa: BLE001 - any broken model; said, never swallowed
            trace.warn(
                "connected notes are in order rank: the query could not be embedded "
                f"({type(exc).__name__}: {exc})"
            )
            return None

    @property
    def places(self) -> int:
        """Places of the context in all."""
        return max(self.context_chunks, self.top_k + self.max_connected)

    def _context(
        self,
        view: Snapshot,
        nodes: Sequence[tuple[NodeWithScore, HitPlace | None]],
        vector: Vector | None,
        trace: Trace,
    ) -> list[NodeWithScore]:
        places = [place for _, place in nodes]
        compared = self.order == "context" and vector is not None
        linked = LinkedNotes()
        if self.max_connected:
            # Only the places that a connected note may take are compared with the query.
            besides = [one.chunk_id for one in places[self.top_k : self.places] if one]
            gated = compared and len(besides) == self.places - self.top_k
            linked = linked_candidates(
                view,
                places[: self.top_k],
                vector,
                direction=self.direction,
                scope=self.scope,
                besides=besides,
                gate=self.gate if gated else 0.0,
            )
        candidates = [one for one in linked.candidates if one.path not in self.hidden]
        passed = dict(linked.passed)
        if len(candidates) < len(linked.candidates):
            passed["filtered_out"] = len(linked.candidates) - len(candidates)
        hits = [
            (one.path, linked.similarities.get(one.chunk_id)) if one else (None, None)
            for one in places
        ]
        shared = self._shared(view, hits, candidates, compared)
        trace.count(
            STAGE,
            links=len(candidates) + sum(passed.values()),
            notes=len({candidate.path for candidate in candidates}),
            below_gate=shared.gated,
            taken=len(shared.connected),
            **passed,
        )
        return self._nodes(view, nodes, shared, "context" if compared else "rank")

    def _shared(
        self,
        view: Snapshot,
        hits: Sequence[tuple[str | None, float | None]],
        candidates: list[LinkedNote],
        compared: bool,
    ) -> Places:
        """Share the places; what the view cannot show gives its own to the next candidate."""
        while True:
            shared = share_places(
                hits,
                by_context(candidates, self.rrf_k) if compared else by_rank(candidates),
                top_k=self.top_k,
                places=self.places,
                most=self.max_connected,
                gate=self.gate if compared else 0.0,
                fill=self.fill,
            )
            links = _shown_links(view, shared.connected)
            gone = {_key(one.link) for one in shared.connected} - links.keys()
            if not gone:
                now = (replace(one, link=links[_key(one.link)]) for one in shared.connected)
                return replace(shared, connected=tuple(now))
            candidates = [one for one in candidates if _key(one.link) not in gone]

    def _nodes(
        self,
        view: Snapshot,
        nodes: Sequence[tuple[NodeWithScore, HitPlace | None]],
        shared: Places,
        order: Order,
    ) -> list[NodeWithScore]:
        sources = [_as_source(*nodes[at]) for at in shared.sources]
        chunk_ids = [one.chunk_id for one in shared.connected]
        filled = fill([*sources, *light_hits([(chunk_id, 1.0) for chunk_id in chunk_ids])], view)
        whole = {hit.node.node_id: hit for hit in filled}
        found = [whole[hit.node.node_id] for hit in sources if hit.node.node_id in whole]
        lowest = min((hit.score or 0.0 for hit in found), default=0.0)
        near = [place.path if place else "" for _, place in nodes[: self.top_k]]
        notes = view.notes_at(near) if shared.connected else {}
        for number, one in enumerate(shared.connected, start=1):
            if one.chunk_id in whole:
                node = whole[one.chunk_id].node
                metadata = _record(one, order, notes[near[one.hit_rank - 1]].title, node.metadata)
                metadata["label"] = f"C{number}"
                metadata["source_id"] = nodes[one.hit_rank - 1][0].node.node_id
                if not among([one.chunk_id], self.allowed):
                    metadata["filtered_out"] = True
                score = below(lowest, 1.0 - number / (len(shared.connected) + 1))
                found.append(NodeWithScore(node=noted(node, **metadata), score=score))
        return found


def _record(
    one: LinkedNote, order: Order, near_title: str, metadata: dict[str, Any]
) -> dict[str, Any]:
    """What the metadata of a connected note tell of its link; ``near_title`` is of its source."""

    def rounded(value: float | None) -> float | None:
        return None if value is None else round(value, 4)

    link = one.link
    return {
        "role": "connected",
        "linked_from": {
            "path": link.path,
            "title": near_title if one.forward else str(metadata["title"]),
            "line": link.line,
            "sentence": words_of(link.sentence),
        },
        "reason": reason(one, near_title),
        "evidence": {
            "order": order,
            "direction": "forward" if one.forward else "backward",
            "kind": link.kind,
            "hit_rank": one.hit_rank,
            "sentence_similarity": rounded(one.sentence_similarity),
            "target_similarity": rounded(one.target_similarity),
            "repeats": one.repeats,
            "score": rounded(one.score),
            "bar": rounded(one.bar),
        },
    }


def _as_source(hit: NodeWithScore, place: HitPlace | None) -> NodeWithScore:
    """A hit in the role of a source; one of another index gets it, and the path of its note."""
    if is_light(hit.node) or "role" in hit.node.metadata:
        return hit
    path = {"path": place.path} if place else {}
    return NodeWithScore(node=noted(hit.node, role="source", **path), score=hit.score)


def _shown_links(view: Snapshot, chosen: Sequence[LinkedNote]) -> dict[tuple[str, int], LinkRow]:
    """The links of the candidates that the view can show, as they stand there, by their key."""
    if not chosen:
        return {}
    chunks = view.chunks([one.chunk_id for one in chosen])
    # The links of the sources were asked for before.
    links = {_key(one.link): one.link for one in chosen if one.forward}
    back = view.links_from([one.path for one in chosen if not one.forward])
    links |= {_key(link): link for link in back}
    there: dict[tuple[str, int], LinkRow] = {}
    for one in chosen:
        key, shown = _key(one.link), chunks.get(one.chunk_id)
        if shown is not None and shown.text.strip() and key in links:
            there[key] = links[key]
    return there


def _key(link: LinkRow) -> tuple[str, int]:
    return link.path, link.ordinal
