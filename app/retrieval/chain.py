"""Wires the retrieval of one query to one generation of the index."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

from notehop.app.models import ConnectedOptions, Filters, Intent
from notehop.app.retrieval.background import Relevance, question_words, relevance
from notehop.app.retrieval.candidate_signals import (
    CandidateSignal,
    GraphSignal,
    RecencySignal,
    RecentSignal,
)
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.current import CurrentFiles
from notehop.app.retrieval.expansion import preset
from notehop.app.retrieval.filters.apply import Allowed
from notehop.app.retrieval.filters.narrowing import Narrowed, newest
from notehop.app.retrieval.freshness import CurrentView, FreshnessPostprocessor
from notehop.app.retrieval.fusion import DISPATCH, WeightedFusionRetriever
from notehop.app.retrieval.graph_retriever import GraphEnhancedRetriever, count_expanded
from notehop.app.retrieval.index_view import IndexView, ViewSource
from notehop.app.retrieval.intents import Reading
from notehop.app.retrieval.nodes import noted, with_text
from notehop.app.retrieval.rerank import Scorer, reranked
from notehop.app.retrieval.retrievers import (
    AliasWidening,
    LexicalRetriever,
    SemanticRetriever,
    TitleRetriever,
    known_vector,
)
from notehop.app.retrieval.subject import COVERED, Subject, SubjectSignal, proper_names
from notehop.app.retrieval.templates import templates_last, templates_of
from notehop.app.retrieval.trace import Plan, TracedQuery
from notehop.app.retrieval.weighing import Weights, reading, weigh
from notehop.config import Settings
from notehop.indexing.beside import Beside
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer

SPARE = 4
"""Hits for each place of a reply: passages that changed since, and chunks of notes that are
connected already, are passed over."""

FEW = 16
"""Hits beyond those that a reply can need, for such as are held back or say nothing."""

LISTED = "there are no words to search for: these are the newest notes that the filters leave"

STAGE = "current"
"""The stage of a query that holds its hits against the files."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one query asks of retrieval; None means the setting in force.

    ``fill`` gives places that no connected note takes to further sources. ``literal`` tells that
    the query's text holds no filters, whatever it looks like. ``rerank`` is False where the fused
    scores are what is wanted.
    """

    top_k: int | None = None
    connected: ConnectedOptions = field(default_factory=ConnectedOptions)
    results: Literal["chunks", "notes"] = "chunks"
    fill: bool = True
    filters: Filters = field(default_factory=Filters)
    literal: bool = False
    intent: Intent | None = None
    rerank: bool = True


@dataclass(frozen=True, slots=True)
class Parts:
    """What outlives a generation: vault, settings, and the two readers of queries.

    ``embed_model`` gives the model, which is loaded when it is first asked for. ``remedy`` tells
    what is done, or has to be done, about notes that changed since. ``scorer`` reranks; None for no
    rerank. ``beside`` are threads that share the work of a query. ``clock`` gives seconds since the
    epoch.
    """

    vault: Path
    settings: Settings
    embed_model: Callable[[], BaseEmbedding]
    tokenizer: Tokenizer
    remedy: Callable[[], str]
    scorer: Scorer | None = None
    beside: Beside | None = None
    clock: Callable[[], float] = time.time


def retrieve(
    query: TracedQuery, view: Snapshot, parts: Parts, wanted: Wanted, narrowed: Narrowed
) -> list[NodeWithScore]:
    """Return the sources of a query, best first, then its connected notes.

    A query without words lists the newest notes that its filters leave, and connects none: there
    is nothing that they could have to do with.

    Nothing is among them whose text does not stand in the vault: the index may be behind it.
    """
    for warning in view.warnings:
        query.trace.warn(warning)
    depth = _depth(parts.settings, wanted)
    if narrowed.lists:
        is_template = templates_of(parts.vault, query.query_str)
        hits = iter(newest(view, narrowed, depth, is_template))
        query.trace.plan = Plan(Reading("none", ""), Weights({}, (LISTED,)))
    else:
        taken = reading(query.query_str, view, wanted.intent or parts.settings.retrieval.intent)
        weights = weigh(query.query_str, parts.settings, taken, parts.tokenizer.language)
        # Who asks about something in particular may not call it by its whole name.
        particular = taken.intent != "none"
        subject = Subject(
            view,
            taken.about,
            parts.tokenizer.query if particular else None,
            covered=COVERED if particular else 0.0,
            proper=None
            if particular or parts.settings.retrieval.subject_names == "any"
            else proper_names(taken.about, parts.tokenizer.language),
            left_out=templates_of(parts.vault, query.query_str),
        )
        share = parts.settings.retrieval.template_share

        def fused(most: int | None) -> list[NodeWithScore]:
            return ranking(view, parts, narrowed.allowed, weights, subject, most).retrieve(query)

        def shown(hits: Iterator[NodeWithScore]) -> Iterator[NodeWithScore]:
            return with_text(templates_last(hits, query.query_str, view, parts.vault, share), view)

        if wanted.rerank and parts.scorer is not None:
            # Chunks are reranked, before those of a note are merged below.
            best = iter(fused(depth))
            hits = shown(reranked(best, query, view, parts.scorer, parts.settings, depth))
        else:
            hits = _as_needed(fused, shown, depth + FEW)
        query.trace.plan = Plan(
            taken, weights, subject.found, parts.settings.retrieval.rrf_k, share
        )
        hits = count_expanded(hits, query)
    now = current_view(view, parts.vault, parts.settings)
    around = context(now, parts, wanted, narrowed)
    with query.trace.timed(STAGE):
        standing = now.standing(
            islice(hits, depth),
            shown=around.places if wanted.fill else around.top_k,
            places=around.places,
            # Places that no connected note takes go to the next hits only where that is wanted.
            most=SPARE * around.places if wanted.fill else around.places,
            each_note=wanted.results == "notes",
        )
    found = around.postprocess_nodes(standing, query_bundle=query)
    if not narrowed.lists:
        with query.trace.timed("relevance"):
            found = _judged(found, query, view, parts.tokenizer)
    left_out = now.warning(parts.remedy)
    if left_out is not None:
        query.trace.warn(left_out)
    return found if narrowed.allowed is None else _marked(found, narrowed.allowed)


def _as_needed(
    fused: Callable[[int | None], list[NodeWithScore]],
    shown: Callable[[Iterator[NodeWithScore]], Iterator[NodeWithScore]],
    most: int,
) -> Iterator[NodeWithScore]:
    """Return the fused hits that are shown, best first: few are held back or say nothing, so the
    fusion is asked for all of them only where the first ``most`` do not suffice."""
    first = fused(most)

    def hits() -> Iterator[NodeWithScore]:
        taken = 0
        for hit in shown(iter(first)):
            # One that the fusion left out may be before it.
            if len(first) == most and (hit.score or 0.0) < (first[-1].score or 0.0):
                break
            taken += 1
            yield hit
        if len(first) == most:
            yield from islice(shown(iter(fused(None))), taken, None)

    return hits()


def _marked(found: list[NodeWithScore], allowed: Allowed) -> list[NodeWithScore]:
    """Connected notes that the filters do not leave say so: they are context, and never a source."""
    left = frozenset(allowed.among([hit.node.node_id for hit in found]))
    return [
        hit
        if hit.node.node_id in left
        else NodeWithScore(node=noted(hit.node, filtered_out=True), score=hit.score)
        for hit in found
    ]


def _judged(
    found: list[NodeWithScore], query: TracedQuery, view: Snapshot, tokenizer: Tokenizer
) -> list[NodeWithScore]:
    """The sources with their relevance; what the query names exactly is what was asked for."""
    ids = [hit.node.node_id for hit in found if hit.node.metadata.get("role") == "source"]
    words = query.words
    if words is None:
        words = question_words(query.query_str, tokenizer, view.lexical)
    known = relevance(ids, words, known_vector(query, view.chunk_vectors), view)
    judged = []
    for hit in found:
        one = known.get(hit.node.node_id) if hit.node.metadata.get("role") == "source" else None
        if one is not None:
            if DISPATCH in (hit.node.metadata.get("signals") or {}):
                one = Relevance(1.0, weak=False)
            node = noted(hit.node, relevance=one.value, weak=one.weak)
            hit = NodeWithScore(node=node, score=hit.score)
        judged.append(hit)
    return judged


def current_view(view: Snapshot, vault: Path, settings: Settings) -> CurrentView:
    """One generation as far as it still stands in the files; make one for each query."""
    files = settings.vault
    looked_at = CurrentFiles(
        vault, max_note_bytes=files.max_note_bytes, comment_links=files.comment_links
    )
    return CurrentView(view, looked_at)


def _depth(settings: Settings, wanted: Wanted) -> int:
    """How many hits a reply can need: those of notes are merged, those of chunks skip few."""
    candidates = settings.retrieval.candidates
    if wanted.results == "notes":
        return candidates
    top_k = wanted.top_k if wanted.top_k is not None else settings.retrieval.top_k
    needed = SPARE * max(top_k, settings.connected.context_chunks)
    if settings.rerank.model:
        needed = max(needed, settings.rerank.candidates)
    return min(candidates, needed)


def ranking(
    view: Snapshot,
    parts: Parts,
    allowed: Allowed | None,
    weights: Weights,
    subject: Subject,
    most: int | None = None,
) -> BaseRetriever:
    """The fused ranking of the signals, widened by the graph as the settings say.

    :param allowed: what filters leave, which is all that any signal ranks; None for no filters.
    :param weights: those of this query.
    :param subject: the notes that it is about.
    :param most: hits of the fusion; None for all.
    """
    settings = parts.settings.retrieval
    # A phrase is looked for in texts of the catalog, by whichever signal comes to it first.
    beside = None if allowed is not None and allowed.phrases else parts.beside
    signals = {
        "semantic": SemanticRetriever(
            view,
            parts.embed_model(),
            similarity_top_k=settings.candidates,
            allowed=allowed,
            with_text=False,
            beside=beside,
        ),
        "lexical": LexicalRetriever(
            view,
            parts.tokenizer,
            similarity_top_k=settings.candidates,
            allowed=allowed,
            with_text=False,
        ),
    }
    judges: dict[str, CandidateSignal] = {
        "subject": SubjectSignal(view, subject, allowed=allowed),
        "recent": RecentSignal(view, subject, clock=parts.clock, allowed=allowed),
        "graph": GraphSignal(view, k=settings.rrf_k),
        "recency": RecencySignal(view, clock=parts.clock),
    }
    fusion = WeightedFusionRetriever(
        signals,
        weights=weights.by_signal,
        deciding=weights.deciding,
        judges=judges,
        k=settings.rrf_k,
        similarity_top_k=most,
        dispatch=TitleRetriever(view, allowed=allowed, with_text=False)
        if settings.title_dispatch
        else None,
        widening=AliasWidening(view) if settings.alias_expansion else None,
        beside=beside,
    )
    expansion = preset(settings.expansion)
    if expansion.notes == 0:
        return fusion
    return GraphEnhancedRetriever(
        fusion,
        view,
        expansion=expansion,
        weight=settings.expansion_weight,
        allowed=allowed,
        with_text=False,
        clock=parts.clock,
    )


def context(
    view: IndexView, parts: Parts, wanted: Wanted, narrowed: Narrowed
) -> ConnectedNotesPostprocessor:
    """What settles the sources of a query, and adds their connected notes.

    Filters choose sources; connected notes are their context, and only those that a tag or a path
    keeps out by name are none.
    """
    if narrowed.lists:
        options = wanted.connected.model_copy(update={"max": 0, "order": "rank"})
        wanted = replace(wanted, connected=options)
    model = None if narrowed.lists else parts.embed_model()
    return connected(view, parts.settings, wanted, model, narrowed.notes.hidden)


def connected(
    view: ViewSource,
    settings: Settings,
    wanted: Wanted,
    embed_model: BaseEmbedding | None,
    hidden: Collection[str] = frozenset(),
) -> ConnectedNotesPostprocessor:
    """What adds connected notes as a query wants them, else as the settings say.

    :param hidden: notes that are never connected ones.
    """
    asked, otherwise = wanted.connected, settings.connected
    return ConnectedNotesPostprocessor(
        view=view,
        embed_model=embed_model,
        top_k=_first(wanted.top_k, settings.retrieval.top_k),
        context_chunks=otherwise.context_chunks,
        max_connected=_first(asked.max, otherwise.max),
        order=asked.order or otherwise.order,
        direction=asked.direction or otherwise.direction,
        scope=otherwise.scope,
        gate=otherwise.gate,
        rrf_k=otherwise.rrf_k,
        fill=wanted.fill,
        hidden=hidden,
    )


def freshness(
    view: ViewSource, vault: Path, settings: Settings, told: Callable[[], str]
) -> FreshnessPostprocessor:
    """What holds hits against the files of a vault.

    :param told: what is done, or has to be done, about notes that changed.
    """
    files = settings.vault
    return FreshnessPostprocessor(
        view=view,
        vault=vault,
        max_note_bytes=files.max_note_bytes,
        comment_links=files.comment_links,
        remedy=told,
    )


def _first(asked: int | None, otherwise: int) -> int:
    return otherwise if asked is None else asked
