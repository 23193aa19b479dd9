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
    NONE_KNOWN,
    HitPlace,
    Nodes,
    TracedQuery,
    VaultPostprocessor,
    Vector,
    below,
    fill,
    is_light,
    light_hits,
    noted,
    places_of,
    words_of,
)
from notehop.app.retrieval.filters import among
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.retrievers import known_similarities, known_vector, query_vector
from notehop.app.retrieval.subqueries import SECOND_LOOK
from notehop.config.errors import UsageError
from notehop.indexing.shown import on_one_line
from notehop.indexing.stores.lexical import idf
from notehop.indexing.stores.model import ChunkId, LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.vault.plain import words_of as plain_words_of

ALIKE = 0.5
"""Share of their words (Jaccard) that two sentences have in common when they say much the same."""


@dataclass(slots=True, eq=False)
class LinkedNote:
    """A note one link away from a source, and the chunk of it that would be shown.

    ``hit_rank`` counts the sources from 1; ``forward`` is False for a link that leads to the source.
    Similarities are cosines to the query, of the sentence that holds the link and of the note's best
    chunk; None where there is no vector. ``repeats`` counts the other notes that link there in much
    the same words. ``score`` is that of the order ``context``, ``bar`` the similarity that it had to
    reach for its place (None: no bar).
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
    bar: float | None = None

    @property
    def telling(self) -> float:
        """What the link says of the place it stands in, from 1 down: what several notes say alike ("Open
        Settings.") is about none of them; one other is chance."""
        return 1 / (1 + math.log(max(1, self.repeats)))

    @property
    def evidence(self) -> float | None:
        """The larger of the similarities, that of the sentence as far as it is telling."""
        sentence, target = self.sentence_similarity, self.target_similarity
        if sentence is None:
            return target
        sentence *= self.telling
        return sentence if target is None else max(sentence, target)


def linked_candidates(
    view: Snapshot,
    sources: Sequence[HitPlace | None],
    query: Vector | None,
    *,
    direction: Direction,
    besides: Sequence[ChunkId] = (),
    gate: float = 0.0,
) -> tuple[list[LinkedNote], Mapping[str, int], Mapping[ChunkId, float]]:
    """Return the notes one link away from the sources, an entry a link.

    A link belongs to the source that holds it, else to the best source of its note. It brings the
    chunk it names or its target's first; a backlink brings the chunk that holds it.

    :param sources: best first; None for one that is of no note of the index.
    :param query: None leaves all similarities unknown.
    :param besides: chunks that are compared with the query as well, if there are any candidates.
    :param gate: share of the least similarity of those that a note has to reach to be of use; how
        telling the links of others are is not looked up, which took half of the time.
    :returns: the candidates by source, forward links before backlinks, those in the source's chunk
        before others, then in text order (backlinks by path first); counts of links passed over, by
        reason; the cosine to the query of each chunk that was compared.
    """
    ranked = [(rank, one) for rank, one in enumerate(sources, start=1) if one is not None]
    by_chunk = {one.chunk_id: rank for rank, one in reversed(ranked)}
    by_path = {one.path: rank for rank, one in reversed(ranked)}
    passed: Counter[str] = Counter()
    found: list[tuple[tuple[int, bool, bool, str, int], LinkedNote]] = []
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
        own = by_path[near] if near_chunk is None else by_chunk.get(near_chunk)
        if far in by_path:
            passed["source_already"] += 1
        elif far is None:
            passed[link.status] += 1
        elif shown is None:
            # An attachment, an excluded note, or a note without text: there is nothing to show.
            passed["no_text"] += 1
        else:
            rank = own or by_path[near]
            place = (rank, not forward, own is None, link.path, link.ordinal)
            found.append((place, LinkedNote(far, shown, link, rank, forward)))
    candidates = [one for _, one in sorted(found, key=lambda pair: pair[0])]
    chunks: Mapping[ChunkId, float] = {}
    if candidates and query is not None:
        notes = {one.path: view.chunk_ids_of(one.path) for one in candidates}
        ids = [one.link.sentence_id for one in candidates if one.link.sentence_id]
        sentences = view.sentence_similarities(query, ids)
        chunks = known_similarities(view.chunk_vectors, query, [*besides, *chain(*notes.values())])
        best = {
            path: max((chunks[id_] for id_ in own if id_ in chunks), default=None)
            for path, own in notes.items()
        }
        for one in candidates:
            one.sentence_similarity = sentences.get(one.link.sentence_id or "")
            one.target_similarity = best[one.path]
    # None is known to be telling yet, so that this is the most that there is for a note.
    reach: dict[str, float] = {}
    for one in candidates:
        reach[one.path] = max(reach.get(one.path, 0.0), one.evidence or 0.0)
    bar = gate * min((chunks.get(one, 0.0) for one in besides), default=0.0)
    _count_repeats(view, [one for one in candidates if one.forward and reach[one.path] >= bar])
    return candidates, dict(sorted(passed.items())), chunks


def _count_repeats(view: Snapshot, candidates: Sequence[LinkedNote]) -> None:
    """Count for each how many other notes lead there in much the same words."""
    said: dict[str | None, dict[str, list[frozenset[str]]]] = {}
    for other in view.links_to(dict.fromkeys(one.path for one in candidates)):
        notes = said.setdefault(other.target_path, {})
        notes.setdefault(other.path, []).append(_words_beside(other))
    for one in candidates:
        own = _words_beside(one.link)
        one.repeats = sum(
            # Two without any words say the same.
            path != one.link.path and any(len(own & two) >= ALIKE * len(own | two) for two in words)
            for path, words in said.get(one.path, {}).items()
        )


def _words_beside(link: LinkRow) -> frozenset[str]:
    """The words of the sentence that holds a link, without those of the link itself."""
    return words_of(link.sentence) - words_of(link.display or link.raw_target)


def ranks_of(values: Iterable[float | None]) -> list[int | None]:
    """Return the rank of each value from 1, the largest first; ties as they stand; None has none."""
    given = list(values)
    known = sorted((-value, at) for at, value in enumerate(given) if value is not None)
    ranks: list[int | None] = [None] * len(given)
    for rank, (_, at) in enumerate(known, start=1):
        ranks[at] = rank
    return ranks


def by_context(candidates: Sequence[LinkedNote], k: int) -> list[LinkedNote]:
    """Return the candidates by reciprocal rank fusion, best first, with their scores.

    Three rankings vote: the rank of the hit, which its links share; the similarity of the sentence
    that holds the link; that of the note, which stands there once however many links lead to it. What
    has no similarity has no vote. The first two count as far as the link is :attr:`LinkedNote.telling`.

    :param candidates: by hit, then as their links stand, which is how ties break.
    :param k: rank offset, in ranks. 10 instead of the 60 of large rankings: there are tens of
        candidates, and with 60 the first would hardly weigh more than the last.
    """
    sentence_rank = ranks_of(one.sentence_similarity for one in candidates)
    notes = {one.path: one.target_similarity for one in candidates}
    note_rank = dict(zip(notes, ranks_of(notes.values()), strict=True))
    for candidate, of_sentence in zip(candidates, sentence_rank, strict=True):
        of_link = (candidate.hit_rank, of_sentence)
        votes = [candidate.telling / (k + rank) for rank in of_link if rank is not None]
        of_note = note_rank[candidate.path]
        candidate.score = sum(votes) + (0.0 if of_note is None else 1.0 / (k + of_note))
    return sorted(candidates, key=lambda one: -(one.score or 0.0))


_SOURCE = re.compile(r"\A(links to|embedded in|linked from) source \d+, ")


def reason(candidate: LinkedNote, near_title: str) -> str:
    """In words, which source (``near_title``) the note hangs on, by which link."""
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


def renumbered(reason: str, number: int | None) -> str:
    """A reason with the number that its source has in a reply; None: the source is not in it."""
    source = f"source {number}, " if number else ""
    return _SOURCE.sub(rf"\g<1> {source}", reason)


Placed = tuple[NodeWithScore, HitPlace | None]


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
        trace = query.trace
        placed = [
            (hit, place)
            for hit, place in zip(hits, places_of(view, hits), strict=True)
            if place is not None or not is_light(hit.node)
        ]
        if placed and not any(place for _, place in placed) and self.max_connected:
            trace.warn(NONE_KNOWN.format(count=len(placed)))
        vector = self._vector(query, view) if placed else None
        if self.fresh is None:
            return self._context(view, placed, vector, query)
        now = self.fresh.held(view, query)
        found = self._context(now, placed, vector, query)
        now.tell(trace, self.fresh.remedy)
        return found

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

    def _context(
        self, view: Snapshot, hits: Sequence[Placed], vector: Vector | None, query: TracedQuery
    ) -> Nodes:
        compared = self.order == "context" and vector is not None
        near = [place for _, place in hits[: self.top_k]]
        # Only the places that a connected note may take are compared with the query.
        behind = [place for _, place in hits[self.top_k : self.places]]
        besides = [place.chunk_id for place in behind if place]
        gated = compared and len(besides) == self.places - self.top_k
        linked, passed, similarities = linked_candidates(
            view,
            near if self.max_connected else (),
            vector,
            direction=self.direction,
            besides=besides,
            gate=self.gate if gated else 0.0,
        )
        candidates = [one for one in linked if one.path not in self.hidden]
        known = [similarities.get(place.chunk_id) if place else None for place in behind]
        known += [None] * (self.places - self.top_k - len(behind))
        plain = not compared or self.gate == 0
        bars = [None if plain or one is None else self.gate * one for one in known]
        ranked = by_context(candidates, self.rrf_k) if compared else candidates
        taken, below_gate = self._chosen(view, ranked, bars)
        sources = self._sources(view, query, hits, taken) if self.fill else hits[: self.top_k]
        query.trace.count(
            self.stage,
            links=len(linked) + sum(passed.values()),
            notes=len({candidate.path for candidate in candidates}),
            below_gate=below_gate,
            taken=len(taken),
            **passed,
        )
        shown: Nodes = []
        for hit, place in sources:
            # A hit of another index gets the role of a source, and the path of its note.
            if not is_light(hit.node) and "role" not in hit.node.metadata:
                path = {"path": place.path} if place else {}
                node = noted(hit.node, role="source", **path)
                hit = NodeWithScore(node=node, score=hit.score)
            shown.append(hit)
        light = light_hits([(one.chunk_id, 1.0) for one in taken])
        whole = {hit.node.node_id: hit for hit in fill([*shown, *light], view)}
        found = [whole[hit.node.node_id] for hit in shown if hit.node.node_id in whole]
        lowest = min((hit.score or 0.0 for hit in found), default=0.0)
        notes = view.notes_at(place.path for place in near if place) if taken else {}
        for number, one in enumerate(taken, start=1):
            if one.chunk_id not in whole:
                continue
            node, source = whole[one.chunk_id].node, hits[one.hit_rank - 1]
            title = notes[source[1].path].title if source[1] else ""
            record = _record(one, "context" if compared else "rank", title, node.metadata["title"])
            record |= {"label": f"C{number}", "source_id": source[0].node.node_id}
            if not among([one.chunk_id], self.allowed):
                record["filtered_out"] = True
            score = below(lowest, number, len(taken))
            found.append(NodeWithScore(node=noted(node, **record), score=score))
        return found

    def _sources(
        self, view: Snapshot, query: TracedQuery, hits: Sequence[Placed], taken: list[LinkedNote]
    ) -> list[Placed]:
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
        self, view: Snapshot, query: TracedQuery, best: Placed, hit: Placed, last: Sequence[ChunkId]
    ) -> bool:
        """Whether a hit of a second look holds some, and more than the last connected note's chunks, of
        the words of the query that the best source lacks, weighed by their rarity."""
        asked, index = self.tokens(query.query_str), view.lexical

        def held(ids: Sequence[ChunkId]) -> set[str]:
            return set().union(*index.held(asked, ids).values())

        lacking = {*asked} - held([best[0].node.node_id])
        new, old = (
            math.fsum(idf(index.frequency(one), len(index)) for one in lacking & held(ids))
            for ids in ([hit[0].node.node_id], last)
        )
        return new > old

    def _chosen(
        self, view: Snapshot, ranked: Sequence[LinkedNote], bars: Sequence[float | None]
    ) -> tuple[list[LinkedNote], int]:
        """The connected notes that take a place, and how many none was given to for lack of evidence.

        Each place goes to the first note whose evidence reaches its bar (None: what would stand there
        cannot be compared), by the first of its links that can be shown.
        """
        waiting, taken = [*ranked], list[LinkedNote]()
        for bar in bars:
            if len(taken) == self.max_connected:
                break
            low: set[str] = set()
            for one in [*waiting]:
                if one.path in low:
                    continue
                if bar is not None and (one.evidence is None or one.evidence < bar):
                    low.add(one.path)
                elif (link := _link_now(view, one)) is None:
                    waiting.remove(one)
                else:
                    one.link, one.bar = link, bar
                    taken.append(one)
                    waiting = [other for other in waiting if other.path != one.path]
                    break
        free = len(taken) < min(self.max_connected, len(bars))
        return taken, len({one.path for one in waiting}) if free else 0


def _record(one: LinkedNote, order: Order, near_title: str, title: str) -> dict[str, Any]:
    """What the metadata of a connected note tell of its link; ``near_title`` is of its source."""
    link = one.link
    names = ("sentence_similarity", "target_similarity", "repeats", "score", "bar")
    numbers = {name: getattr(one, name) for name in names}
    return {
        "role": "connected",
        "linked_from": {
            "path": link.path,
            "title": near_title if one.forward else title,
            "line": link.line,
            "sentence": plain_words_of(link.sentence),
        },
        "reason": reason(one, near_title),
        "evidence": {
            "order": order,
            "direction": "forward" if one.forward else "backward",
            "kind": link.kind,
            "hit_rank": one.hit_rank,
            **{name: None if value is None else round(value, 4) for name, value in numbers.items()},
        },
    }


def _link_now(view: Snapshot, one: LinkedNote) -> LinkRow | None:
    """The link of a candidate as it stands in the view; None if that cannot show the note."""
    shown = view.chunks([one.chunk_id]).get(one.chunk_id)
    if shown is None or not shown.text.strip():
        return None
    if one.forward:
        # The links of the sources were asked for before.
        return one.link
    links = view.links_from([one.link.path])
    return next((link for link in links if link.ordinal == one.link.ordinal), None)
