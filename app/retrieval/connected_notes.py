"""The notes one link away from the sources, and the postprocessor that settles the context by them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore

from notehop.app.models.query import Direction, Order
from notehop.app.retrieval.components import (
    NO_KNOWN_HIT,
    HitLocation,
    Nodes,
    TracedQuery,
    VaultPostprocessor,
    Vector,
    fill_stubs,
    hit_with_metadata,
    is_stub,
    locate_hits,
    score_below,
    stub_hits,
    with_metadata,
    word_set,
)
from notehop.app.retrieval.filters import keep_allowed
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.retrievers import known_similarities, known_vector, query_vector
from notehop.app.retrieval.subqueries import SECOND_LOOK
from notehop.config.errors import UsageError
from notehop.indexing.display import on_one_line
from notehop.indexing.stores.lexical import idf
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, LinkRow
from notehop.indexing.vault.plain import words_of as plain_words_of

MIN_REPEAT_OVERLAP = 0.5
"""Share of their words (Jaccard) that two sentences have in common when they say much the same."""


@dataclass(slots=True, eq=False)
class LinkedNote:
    """A note one link away from a source, and the chunk of it that would be shown.

    ``hit_rank`` counts the sources from 1; ``forward`` is False for a link that leads to the source.
    Similarities are cosines to the query, of the sentence that holds the link and of the note's best
    chunk; None where there is no vector. ``repeats`` counts the other notes that link there in much
    the same words. ``score`` is of the order ``context``, ``min_similarity`` the limit of its place.
    """

    path: str
    chunk_id: ChunkId
    link: LinkRow
    hit_rank: int
    forward: bool
    sentence_similarity: float | None = None
    target_similarity: float | None = None
    repeats: int = 0
    score: float | None = None
    min_similarity: float | None = None

    @property
    def repeat_discount(self) -> float:
        """The weight of the link, from 1 down: a sentence that several notes repeat ("Open Settings.") is
        about none of them; one other is chance."""
        return 1 / (1 + math.log(max(1, self.repeats)))

    @property
    def evidence(self) -> float | None:
        """The larger of the similarities, that of the sentence times its :attr:`repeat_discount`."""
        sentence, target = self.sentence_similarity, self.target_similarity
        if sentence is None:
            return target
        sentence *= self.repeat_discount
        return sentence if target is None else max(sentence, target)


def find_linked_notes(
    view: Snapshot,
    sources: Sequence[HitLocation | None],
    query: Vector | None,
    *,
    direction: Direction,
    also_compare: Sequence[ChunkId] = (),
    similarity_ratio: float = 0.0,
) -> tuple[list[LinkedNote], Mapping[str, int], Mapping[ChunkId, float]]:
    """Return the notes one link away from the sources, an entry a link.

    A link belongs to the source that holds it, else to the best source of its note. It brings the
    chunk it names or its target's first; a backlink brings the chunk that holds it.

    :param sources: best first; None for one that is of no note of the index.
    :param query: None leaves all similarities unknown.
    :param also_compare: chunks that are compared with the query as well, if there are any candidates.
    :param similarity_ratio: share of the least similarity of those that a note has to reach to be of
        use; repeats of others are not counted, which took half of the time.
    :returns: the candidates by source, forward links before backlinks, those in the source's chunk
        before others, then in text order (backlinks by path first); counts of links passed over, by
        reason; the cosine to the query of each chunk that was compared.
    """
    ranked = [(rank, one) for rank, one in enumerate(sources, start=1) if one is not None]
    by_chunk = {one.chunk_id: rank for rank, one in reversed(ranked)}
    by_path = {one.path: rank for rank, one in reversed(ranked)}
    skipped_links: Counter[str] = Counter()
    placed: list[tuple[tuple[int, bool, bool, str, int], LinkedNote]] = []
    links = [(link, True) for link in view.links_from(by_path)] if direction != "backward" else []
    if direction != "forward":
        links += [(link, False) for link in view.links_to(by_path)]
    for link, forward in links:
        if forward:
            near, near_chunk = link.path, link.chunk_id
            far, shown = link.target_path, link.target_chunk_id
        else:
            near, near_chunk = str(link.target_path), link.target_chunk_id
            far = link.path
            shown = link.chunk_id or next(iter(view.chunk_ids_of(far)), None)
        # A property belongs to all of its note.
        source_rank = by_path[near] if near_chunk is None else by_chunk.get(near_chunk)
        if far in by_path:
            skipped_links["source_already"] += 1
        elif far is None:
            skipped_links[link.status] += 1
        elif shown is None:
            # An attachment, an excluded note, or a note without text: there is nothing to show.
            skipped_links["no_text"] += 1
        else:
            rank = source_rank or by_path[near]
            place = (rank, not forward, source_rank is None, link.path, link.ordinal)
            placed.append((place, LinkedNote(far, shown, link, rank, forward)))
    candidates = [one for _, one in sorted(placed, key=lambda pair: pair[0])]
    chunks: Mapping[ChunkId, float] = {}
    if candidates and query is not None:
        notes = {one.path: view.chunk_ids_of(one.path) for one in candidates}
        sentence_ids = [one.link.sentence_id for one in candidates if one.link.sentence_id]
        sentences = view.sentence_similarities(query, sentence_ids)
        ids = [*also_compare, *chain(*notes.values())]
        chunks = known_similarities(view.chunk_vectors, query, ids)
        best = {
            path: max((chunks[id_] for id_ in own_ids if id_ in chunks), default=None)
            for path, own_ids in notes.items()
        }
        for one in candidates:
            one.sentence_similarity = sentences.get(one.link.sentence_id or "")
            one.target_similarity = best[one.path]
    # No repeats are counted yet: this is the most that there is for a note.
    reach: dict[str, float] = {}
    for one in candidates:
        reach[one.path] = max(reach.get(one.path, 0.0), one.evidence or 0.0)
    least = similarity_ratio * min((chunks.get(one, 0.0) for one in also_compare), default=0.0)
    _count_repeats(view, [one for one in candidates if one.forward and reach[one.path] >= least])
    return candidates, dict(sorted(skipped_links.items())), chunks


def _count_repeats(view: Snapshot, candidates: Sequence[LinkedNote]) -> None:
    """Count for each how many other notes lead there in much the same words."""
    said: dict[str | None, dict[str, list[frozenset[str]]]] = {}
    for other in view.links_to(dict.fromkeys(one.path for one in candidates)):
        notes = said.setdefault(other.target_path, {})
        notes.setdefault(other.path, []).append(_words_around_link(other))
    for one in candidates:
        own = _words_around_link(one.link)
        one.repeats = sum(
            # Two without any words say the same.
            path != one.link.path
            and any(len(own & two) >= MIN_REPEAT_OVERLAP * len(own | two) for two in words)
            for path, words in said.get(one.path, {}).items()
        )


def _words_around_link(link: LinkRow) -> frozenset[str]:
    """The words of the sentence that holds a link, without those of the link itself."""
    return word_set(link.sentence) - word_set(link.display or link.raw_target)


def rank_values(values: Iterable[float | None]) -> list[int | None]:
    """Return the rank of each value from 1, the largest first; ties as they stand; None has none."""
    given = list(values)
    known = sorted((-value, at) for at, value in enumerate(given) if value is not None)
    ranks: list[int | None] = [None] * len(given)
    for rank, (_, at) in enumerate(known, start=1):
        ranks[at] = rank
    return ranks


def rank_by_context(candidates: Sequence[LinkedNote], k: int) -> list[LinkedNote]:
    """Return the candidates by reciprocal rank fusion, best first, with their scores.

    Three rankings vote: the rank of the hit, which its links share; the similarity of the sentence
    that holds the link; that of the note, which stands there once however many links lead to it. What
    has no similarity has no vote. The first two are weighed by :attr:`LinkedNote.repeat_discount`.

    :param candidates: by hit, then as their links stand, which is how ties break.
    :param k: rank offset, in ranks. 10 instead of the 60 of large rankings: there are tens of
        candidates, and with 60 the first would hardly weigh more than the last.
    """
    sentence_rank = rank_values(one.sentence_similarity for one in candidates)
    notes = {one.path: one.target_similarity for one in candidates}
    note_rank = dict(zip(notes, rank_values(notes.values()), strict=True))
    for candidate, of_sentence in zip(candidates, sentence_rank, strict=True):
        of_link = (candidate.hit_rank, of_sentence)
        votes = [candidate.repeat_discount / (k + rank) for rank in of_link if rank is not None]
        of_note = note_rank[candidate.path]
        candidate.score = sum(votes) + (0.0 if of_note is None else 1.0 / (k + of_note))
    return sorted(candidates, key=lambda one: -(one.score or 0.0))


_REASON_START = re.compile(r"\A(links to|embedded in|linked from) source \d+, ")


def link_reason(candidate: LinkedNote, near_title: str) -> str:
    """Say in words which source (``near_title``) the note is linked with, by which link."""
    link, where = candidate.link, f"line {candidate.link.line}"
    if link.kind == "property":
        where = f'property "{on_one_line(link.property or "")}"'
    forward = "embedded in" if link.kind == "embed" else "linked from"
    way = forward if candidate.forward else "links to"
    words = f'{way} source {candidate.hit_rank}, "{on_one_line(near_title)}" ({where})'
    if candidate.forward and link.fragment and link.fragment_found:
        words += f", at #{on_one_line(link.fragment)}"
    if link.sentence:
        words += f': "{plain_words_of(link.sentence)}"'
    return words


def renumber_reason(reason: str, number: int | None) -> str:
    """A reason with the number that its source has in a reply; None: the source is not in it."""
    source = f"source {number}, " if number else ""
    return _REASON_START.sub(rf"\g<1> {source}", reason)


LocatedHit = tuple[NodeWithScore, HitLocation | None]


class ConnectedNotesPostprocessor(VaultPostprocessor):
    """Turns the hits of any retriever into a context: the sources, then the notes one link away.

    The places of the context are ``context_chunks``, or ``top_k`` + ``max_connected`` if that is
    more. Hand it more hits than ``top_k``: places that no connected note takes go to the next ones.
    Connected notes have ``metadata["role"] == "connected"``, a ``label`` (``C1`` ...), ``reason``,
    ``linked_from`` and ``evidence``, and a score below every source; they are never to be cited.
    """

    stage = "connected"

    embed_model: BaseEmbedding | None = Field(
        default=None, exclude=True, description="Embeds queries that come without their vector."
    )
    top_k: int = Field(default=5, ge=1, description="Sources that are in the context for sure.")
    context_chunks: int = Field(default=8, ge=1, description="Places of the context.")
    max_connected: int = Field(default=3, ge=0, description="Connected notes at most.")
    order: Order = Field(default="context", description="How connected notes are ranked.")
    direction: Direction = Field(default="forward", description="Which links are followed.")
    gate: float = Field(
        default=1.0,
        ge=0,
        allow_inf_nan=False,
        description="Share of a source's similarity to reach for its place, in order context.",
    )
    rrf_k: int = Field(default=10, ge=1, description="Rank offset of order context.")
    fill: bool = Field(default=True, description="Places left over go to the next hits.")
    tokens: Any = Field(
        default=None,
        exclude=True,
        description="Text -> its tokens; with it a second look's hit has to hold what a source lacks.",
    )
    fresh: FreshnessPostprocessor | None = Field(
        default=None, exclude=True, description="Holds connected notes against the files."
    )
    hidden: Any = Field(
        default=frozenset(), exclude=True, description="Paths that are never connected notes."
    )
    allowed: Any = Field(
        default=None,
        exclude=True,
        description='The chunks that filters leave; others have metadata["filtered_out"].',
    )

    @property
    def places(self) -> int:
        """Places of the context in all."""
        return max(self.context_chunks, self.top_k + self.max_connected)

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        placed = [
            (hit, place)
            for hit, place in zip(hits, locate_hits(view, hits), strict=True)
            if place is not None or not is_stub(hit.node)
        ]
        if placed and not any(place for _, place in placed) and self.max_connected:
            query.trace.warn(NO_KNOWN_HIT.format(count=len(placed)))
        vector = self._vector(query, view) if placed else None
        if self.fresh is None:
            return self._build_context(view, placed, vector, query)
        current = self.fresh.current_view(view, query)
        context = self._build_context(current, placed, vector, query)
        current.warn_left_out(query.trace, self.fresh.remedy)
        return context

    def _vector(self, query: TracedQuery, view: Snapshot) -> Vector | None:
        """The query's vector; None, with a warning, if there is no way to get it."""
        rows = view.chunk_vectors
        if (known := known_vector(query, rows)) is not None or self.order == "rank":
            # That order compares nothing, and the model may be slow to load.
            return known
        why = "the query came without its vector, and the postprocessor has no embed_model"
        if self.embed_model is not None and (query.query_str or query.custom_embedding_strs):
            try:
                return query_vector(query, self.embed_model, rows)
            except UsageError:
                raise
            except Exception as exc:  # noqa: BLE001 - any broken model; said, never swallowed
                why = f"the query could not be embedded ({type(exc).__name__}: {exc})"
        query.trace.warn(f"connected notes are in order rank: {why}")
        return None

    def _build_context(
        self, view: Snapshot, hits: Sequence[LocatedHit], vector: Vector | None, query: TracedQuery
    ) -> Nodes:
        """Choose the sources and connected notes of the context, and count what was skipped."""
        compared = self.order == "context" and vector is not None
        source_places = [place for _, place in hits[: self.top_k]]
        # Only the places that a connected note may take are compared with the query.
        next_places = [place for _, place in hits[self.top_k : self.places]]
        also_compare = [place.chunk_id for place in next_places if place]
        limited = compared and len(also_compare) == self.places - self.top_k
        linked, skipped_links, similarities = find_linked_notes(
            view,
            source_places if self.max_connected else (),
            vector,
            direction=self.direction,
            also_compare=also_compare,
            similarity_ratio=self.gate if limited else 0.0,
        )
        candidates = [one for one in linked if one.path not in self.hidden]
        min_similarities: list[float | None] = [None] * (self.places - self.top_k)
        for at, place in enumerate(next_places if compared and self.gate else ()):
            if place and place.chunk_id in similarities:
                min_similarities[at] = self.gate * similarities[place.chunk_id]
        ranked = rank_by_context(candidates, self.rrf_k) if compared else candidates
        taken, below_gate = self._choose_notes(view, ranked, min_similarities)
        sources = self._fill_places(view, query, hits, taken) if self.fill else hits[: self.top_k]
        query.trace.count(
            self.stage,
            links=len(linked) + sum(skipped_links.values()),
            notes=len({candidate.path for candidate in candidates}),
            below_gate=below_gate,
            taken=len(taken),
            **skipped_links,
        )
        shown: Nodes = []
        for hit, place in sources:
            # A hit of another index gets the role of a source, and the path of its note.
            if not is_stub(hit.node) and "role" not in hit.node.metadata:
                path = {"path": place.path} if place else {}
                hit = hit_with_metadata(hit, role="source", **path)
            shown.append(hit)
        light = stub_hits([(one.chunk_id, 1.0) for one in taken])
        filled = {hit.node.node_id: hit for hit in fill_stubs([*shown, *light], view)}
        context = [filled[hit.node.node_id] for hit in shown if hit.node.node_id in filled]
        lowest = min((hit.score or 0.0 for hit in context), default=0.0)
        notes = view.notes_at(place.path for place in source_places if place) if taken else {}
        for number, one in enumerate(taken, start=1):
            if one.chunk_id not in filled:
                continue
            node = filled[one.chunk_id].node
            source_hit, source_place = hits[one.hit_rank - 1]
            title = notes[source_place.path].title if source_place else ""
            record = _link_metadata(one, "context" if compared else "rank", title, node.metadata["title"])
            record |= {"label": f"C{number}", "source_id": source_hit.node.node_id}
            if not keep_allowed([one.chunk_id], self.allowed):
                record["filtered_out"] = True
            score = score_below(lowest, number, len(taken))
            context.append(NodeWithScore(node=with_metadata(node, **record), score=score))
        return context

    def _fill_places(
        self, view: Snapshot, query: TracedQuery, hits: Sequence[LocatedHit], taken: list[LinkedNote]
    ) -> list[LocatedHit]:
        """The first hits, and those of the next that have a place. A hit of a second look that brings
        more than the last connected note takes the place of that."""
        paths = {one.path for one in taken}
        rest = [hit for hit in hits[self.top_k :] if not hit[1] or hit[1].path not in paths]
        room = max(0, self.places - len(hits[: self.top_k]) - len(taken))
        if self.tokens and rest and SECOND_LOOK in rest[0][0].node.metadata:
            look, *others = rest
            last = [] if room or not taken else view.chunk_ids_of(taken[-1].path)
            # A passage of the best source's note keeps its place: it says more of the same.
            first = hits[0][1] and hits[0][1].path
            further = others[room - 1 : room] if room else []
            more = any(place and place.path == first for _, place in further)
            if more or not self._brings_more(view, query, hits[0], look, last):
                rest = others
            else:
                id_ = look[0].node.node_id
                rest = [look, *(hit for hit in others if hit[0].node.node_id != id_)]
                if not room and taken:
                    taken.pop()
                    room = 1
        return [*hits[: self.top_k], *rest[:room]]

    def _brings_more(
        self, view: Snapshot, query: TracedQuery, best: LocatedHit, hit: LocatedHit, last: Sequence[ChunkId]
    ) -> bool:
        """Tell whether a hit of a second look holds some, and more than the last connected note's chunks,
        of the words of the query that the best source lacks, weighed by their rarity."""
        query_tokens, index = self.tokens(query.query_str), view.lexical

        def tokens_in(ids: Sequence[ChunkId]) -> set[str]:
            return set().union(*index.held(query_tokens, ids).values())

        lacking = {*query_tokens} - tokens_in([best[0].node.node_id])
        new, old = (
            math.fsum(idf(index.frequency(one), len(index)) for one in lacking & tokens_in(ids))
            for ids in ([hit[0].node.node_id], last)
        )
        return new > old

    def _choose_notes(
        self, view: Snapshot, ranked: Sequence[LinkedNote], min_similarities: Sequence[float | None]
    ) -> tuple[list[LinkedNote], int]:
        """The connected notes that take a place, and how many none was given to for lack of evidence.

        Each place goes to the first note whose evidence reaches its minimum (None: what would stand there
        cannot be compared), by the first of its links that can be shown.
        """
        waiting, taken = [*ranked], list[LinkedNote]()
        for minimum in min_similarities:
            if len(taken) == self.max_connected:
                break
            low: set[str] = set()
            for one in [*waiting]:
                if one.path in low:
                    continue
                if minimum is not None and (one.evidence is None or one.evidence < minimum):
                    low.add(one.path)
                elif (link := _current_link(view, one)) is None:
                    waiting.remove(one)
                else:
                    one.link, one.min_similarity = link, minimum
                    taken.append(one)
                    waiting = [other for other in waiting if other.path != one.path]
                    break
        free = len(taken) < min(self.max_connected, len(min_similarities))
        return taken, len({one.path for one in waiting}) if free else 0


def _link_metadata(one: LinkedNote, order: Order, near_title: str, title: str) -> dict[str, Any]:
    """Return the metadata of a connected note about its link; ``near_title`` is its source's."""
    link = one.link
    names = ("sentence_similarity", "target_similarity", "repeats", "score")
    numbers = {name: getattr(one, name) for name in names} | {"bar": one.min_similarity}
    return {
        "role": "connected",
        "linked_from": {
            "path": link.path,
            "title": near_title if one.forward else title,
            "line": link.line,
            "sentence": plain_words_of(link.sentence),
        },
        "reason": link_reason(one, near_title),
        "evidence": {
            "order": order,
            "direction": "forward" if one.forward else "backward",
            "kind": link.kind,
            "hit_rank": one.hit_rank,
            **{name: None if value is None else round(value, 4) for name, value in numbers.items()},
        },
    }


def _current_link(view: Snapshot, one: LinkedNote) -> LinkRow | None:
    """The link of a candidate as it stands in the view; None if that cannot show the note."""
    shown = view.chunks([one.chunk_id]).get(one.chunk_id)
    if shown is None or not shown.text.strip():
        return None
    if one.forward:
        # The links of the sources were asked for before.
        return one.link
    links = view.links_from([one.link.path])
    return next((link for link in links if link.ordinal == one.link.ordinal), None)
