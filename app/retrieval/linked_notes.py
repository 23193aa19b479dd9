"""The links around passages, and how near what they lead to is to a query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from math import log

from notehop.app.models import Direction
from notehop.app.retrieval.nodes import HitPlace, Vector
from notehop.indexing.stores.model import ChunkId, LinkRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.served.chroma_vectors import ChunkVectors

ALIKE = 0.5
"""Share of their words (Jaccard) that two sentences have in common when they say much the same."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
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
        return 1 / (1 + log(max(1, self.repeats)))

    @property
    def evidence(self) -> float | None:
        """The larger of the similarities, that of the sentence as far as it is telling."""
        sentence = self.sentence_similarity
        both = (None if sentence is None else sentence * self.telling, self.target_similarity)
        return max((one for one in both if one is not None), default=None)


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
    counts = dict(sorted(passed.items()))
    if not found:
        return [], counts, {}
    candidates = [one for _, one in sorted(found, key=lambda pair: pair[0])]
    notes = {one.path: view.chunk_ids_of(one.path) for one in candidates}
    sentences: Mapping[str, float] = {}
    chunks: Mapping[ChunkId, float] = {}
    if query is not None:
        ids = [one.link.sentence_id for one in candidates if one.link.sentence_id]
        sentences = view.sentence_similarities(query, ids)
        chunks = known_similarities(view.chunk_vectors, query, [*besides, *chain(*notes.values())])
    bar = gate * min((chunks.get(one, 0.0) for one in besides), default=0.0)
    reach = dict.fromkeys(notes, 0.0)
    compared: list[LinkedNote] = []
    for one in candidates:
        of_sentence = sentences.get(one.link.sentence_id or "")
        of_note = max((chunks[id_] for id_ in notes[one.path] if id_ in chunks), default=None)
        compared.append(replace(one, sentence_similarity=of_sentence, target_similarity=of_note))
        reach[one.path] = max(reach[one.path], of_sentence or 0.0, of_note or 0.0)
    useful = [one.link for one in candidates if one.forward and reach[one.path] >= bar]
    repeats = _repeats(view, useful)
    return [replace(one, repeats=repeats.get(one.link, 0)) for one in compared], counts, chunks


def _repeats(view: Snapshot, links: Sequence[LinkRow]) -> dict[LinkRow, int]:
    """Of each link, how many other notes lead there in much the same words."""
    told: dict[str | None, dict[str, list[frozenset[str]]]] = {}
    for other in view.links_to(dict.fromkeys(str(link.target_path) for link in links)):
        notes = told.setdefault(other.target_path, {})
        notes.setdefault(other.path, []).append(_words_beside(other))
    found: dict[LinkRow, int] = {}
    for link in links:
        own = _words_beside(link)
        found[link] = sum(
            # Two without any words say the same.
            path != link.path and any(len(own & one) >= ALIKE * len(own | one) for one in said)
            for path, said in told.get(link.target_path, {}).items()
        )
    return found


def _words_beside(link: LinkRow) -> frozenset[str]:
    """The words of the sentence that holds a link, without those of the link itself."""
    return words_of(link.sentence) - words_of(link.display or link.raw_target)


# The same notes are linked to again and again: to read those words anew took a tenth of a search.
@lru_cache(maxsize=10_000)
def words_of(text: str) -> frozenset[str]:
    """The words of a sentence or a name; those asked for last are remembered, some 20 MB."""
    return frozenset(_WORD.findall(text.casefold()))


def known_similarities(table: ChunkVectors, query: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Return the cosine to the query of each id that has a vector."""
    distinct = list(dict.fromkeys(ids))
    values = table.similarities(query, distinct).tolist() if distinct else []
    return {id_: value for id_, value in zip(distinct, values, strict=True) if value == value}


def ranks_of(values: Iterable[float | None]) -> list[int | None]:
    """Return the rank of each value from 1, the largest first; ties as they stand; None has none."""
    given = list(values)
    known = sorted((-value, at) for at, value in enumerate(given) if value is not None)
    ranks: list[int | None] = [None] * len(given)
    for rank, (_, at) in enumerate(known, start=1):
        ranks[at] = rank
    return ranks
