"""Wires the retrieval of one query to one generation of the index."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

from notehop.app.models import BaseQuery, ConnectedOptions, Explanation, Filters, Intent
from notehop.app.retrieval.background import RelevancePostprocessor
from notehop.app.retrieval.candidate_signals import (
    CandidateSignal,
    GraphSignal,
    RecencySignal,
    RecentSignal,
)
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.filters.apply import Allowed, Narrowed
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.fusion import WeightedFusionRetriever
from notehop.app.retrieval.graph_retriever import (
    TOP,
    GraphEnhancedRetriever,
    count_expanded,
    preset,
)
from notehop.app.retrieval.intents import IntentReading, Weights, about, read, weigh
from notehop.app.retrieval.nodes import light_hits
from notehop.app.retrieval.rerank import CrossEncoderScorer, RerankPostprocessor
from notehop.app.retrieval.retrievers import (
    AliasWidening,
    LexicalRetriever,
    NewestRetriever,
    SemanticRetriever,
    TitleRetriever,
)
from notehop.app.retrieval.subject import COVERED, Subject, SubjectSignal, proper_names
from notehop.app.retrieval.templates import TemplatePostprocessor, templates_of
from notehop.app.retrieval.trace import TracedQuery, ViewSource
from notehop.config import Settings
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import Tokenizer

SPARE = 4
"""Hits for each place of a reply: passages that changed since, and chunks of notes that are
connected already, are passed over."""

FEW = 16
"""Hits beyond those that a reply can need, for such as are held back or say nothing."""

TASKS = "it asks for open tasks: these are the passages that have some, of the newest notes first"
LISTED = "there are no words to search for: these are the newest notes that the filters leave"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one query asks of retrieval; None means the setting in force.

    ``fill`` gives places that no connected note takes to further sources. ``literal`` tells that
    the query's text holds no filters, whatever it looks like. ``rerank`` is False where the fused
    scores are what is wanted. ``by_relevance`` orders the first hits by it: searches do, and answers,
    whose choice of sentences gained nothing by it, do not (docs/evaluation.md). ``listing`` tells
    that a question for a list of notes ("which projects are active?") wants them all, by their
    properties, tags and folders. ``passages`` are shown in place of what a search would find.
    """

    top_k: int | None = None
    connected: ConnectedOptions = field(default_factory=ConnectedOptions)
    results: Literal["chunks", "notes"] = "chunks"
    fill: bool = True
    filters: Filters = field(default_factory=Filters)
    literal: bool = False
    intent: Intent | None = None
    rerank: bool = True
    by_relevance: bool = False
    listing: bool = False
    passages: tuple[ChunkId, ...] = ()

    @classmethod
    def by(cls, query: BaseQuery) -> Wanted:
        """What a query of an edge asks for."""
        return cls(
            query.top_k,
            query.connected,
            filters=query.filters,
            literal=query.literal,
            intent=query.intent,
        )

    @classmethod
    def best_notes(cls, most: int, filters: Filters | None = None, *, literal: bool) -> Wanted:
        """The notes that a text has most to do with, as the signals alone rank them."""
        return cls(
            most,
            ConnectedOptions(max=0),
            results="notes",
            fill=False,
            filters=filters or Filters(),
            literal=literal,
            intent="none",
            rerank=False,
        )


@dataclass(frozen=True, slots=True)
class Parts:
    """What outlives a generation: vault, settings, and the two readers of queries.

    ``embed_model`` gives the model, which is loaded when it is first asked for. ``remedy`` tells
    what is done, or has to be done, about notes that changed since. ``scorer`` reranks; None for no
    rerank.
    """

    vault: Path
    settings: Settings
    embed_model: Callable[[], BaseEmbedding]
    tokenizer: Tokenizer
    remedy: Callable[[], str]
    scorer: CrossEncoderScorer | None


def retrieve(
    query: TracedQuery, view: Snapshot, parts: Parts, wanted: Wanted, narrowed: Narrowed
) -> list[NodeWithScore]:
    """Return the sources of a query, best first, then its connected notes.

    A query without words lists the newest notes that its filters leave, and connects none: there
    is nothing that they could have to do with.

    Nothing is among them whose text does not stand in the vault: the index may be behind it.
    """
    fresh = freshness(view, parts.vault, parts.settings, parts.remedy)
    # Filters choose sources; connected notes are their context, and only those that a tag or a path
    # keeps out by name are none.
    update = {
        "hidden": narrowed.notes.hidden,
        "allowed": narrowed.allowed,
        **({"max_connected": 0, "order": "rank"} if narrowed.lists or wanted.passages else {}),
    }
    model = None if narrowed.lists or wanted.passages else parts.embed_model()
    around = connected(view, parts.settings, wanted, model, fresh).model_copy(update=update)
    # Places that no connected note takes go to the next hits only where that is wanted.
    most = SPARE * around.places if wanted.fill else around.places
    fresh = fresh.model_copy(
        update={
            "top_n": most,
            "places": around.places,
            "told": around.places if wanted.fill else around.top_k,
            "each_note": wanted.results == "notes",
        }
    )
    depth = _depth(parts.settings, wanted)
    if wanted.passages:
        count = len(wanted.passages)
        chosen = light_hits([(one, count - at) for at, one in enumerate(wanted.passages)])
        query.trace.plan = Explanation(intent="none", about="", weights={}, reasons=[TASKS])
        hits = fresh.postprocess_nodes(chosen, query_bundle=query)
        return around.postprocess_nodes(hits, query_bundle=query)
    if narrowed.lists:
        is_template = templates_of(parts.vault, query.query_str)
        newest = NewestRetriever(view, narrowed, depth, is_template)
        query.trace.plan = Explanation(intent="none", about="", weights={}, reasons=[LISTED])
        hits = fresh.postprocess_nodes(newest.retrieve(query), query_bundle=query)
        return around.postprocess_nodes(hits, query_bundle=query)
    hits = _ranked(query, view, parts, wanted, narrowed, fresh, depth)
    relevance = RelevancePostprocessor(view=view, tokenizer=parts.tokenizer)
    for stage in (around, relevance):
        hits = stage.postprocess_nodes(hits, query_bundle=query)
    return hits


def _ranked(
    query: TracedQuery,
    view: Snapshot,
    parts: Parts,
    wanted: Wanted,
    narrowed: Narrowed,
    fresh: FreshnessPostprocessor,
    depth: int,
) -> list[NodeWithScore]:
    """Return the hits of a query that stand in the files, best first, without text.

    Few are held back, say nothing or are gone: nodes are made, and texts read, of a few more than
    are needed, and of the rest where those do not suffice.
    """
    settings = parts.settings
    text, intent = query.query_str, wanted.intent or settings.retrieval.intent
    taken = read(text, view.named_any) if intent == "auto" else about(text, intent)
    weights = weigh(text, settings, taken.intent, parts.tokenizer.language)
    subject = _subject(query, view, parts, taken)
    share = settings.retrieval.template_share
    templates = TemplatePostprocessor(view=view, vault=parts.vault, share=share, top_n=depth)
    scorer = parts.scorer if wanted.rerank else None
    few = min(
        depth, fresh.top_n if settings.retrieval.expansion == "off" else max(fresh.top_n, TOP)
    )
    for most in (depth,) if scorer else ((depth if fresh.each_note else few) + FEW, None):
        found = ranking(view, parts, narrowed.allowed, weights, subject, most).retrieve(query)
        ranked = found
        if scorer is not None:
            # Chunks are reranked, before those of a note are merged.
            rerank = RerankPostprocessor(
                view=view,
                scorer=scorer,
                candidates=settings.rerank.candidates,
                budget_ms=settings.rerank.budget_ms,
            )
            ranked = rerank.postprocess_nodes(found, query_bundle=query)
        hits = templates.postprocess_nodes(ranked, query_bundle=query)
        if settings.retrieval.expansion != "off":
            count_expanded(hits, query)
        kept = fresh.postprocess_nodes(hits, query_bundle=query)
        enough = len(kept) == fresh.top_n
        if most is None or len(found) < most:
            break
        # What the fusion left out may stand before one that was held back.
        last = kept[-1:] if enough else hits[depth - 1 :]
        if last and (last[0].score or 0.0) >= (found[-1].score or 0.0):
            break
    query.trace.plan = Explanation(
        intent=taken.intent,
        rule=None if taken.rule is None else taken.rule.phrase,
        about=taken.about,
        subject=list(subject.found),
        weights=weights.by_signal,
        reasons=list(weights.reasons),
        rrf_k=settings.retrieval.rrf_k,
        template_share=share,
    )
    weight = settings.retrieval.relevance_weight if wanted.by_relevance else 0.0
    if not weight or taken.intent != "none" or scorer is not None:
        return kept
    relevance = RelevancePostprocessor(view=view, tokenizer=parts.tokenizer, weight=weight)
    return relevance.postprocess_nodes(kept, query_bundle=query)


def _subject(query: TracedQuery, view: Snapshot, parts: Parts, taken: IntentReading) -> Subject:
    """The notes that a query is about; who asks about something in particular may not call it by
    its whole name."""
    particular = taken.intent != "none"
    any_name = particular or parts.settings.retrieval.subject_names == "any"
    return Subject(
        view,
        taken.about,
        parts.tokenizer.query if particular else None,
        covered=COVERED if particular else 0.0,
        proper=None if any_name else proper_names(taken.about, parts.tokenizer.language),
        left_out=templates_of(parts.vault, query.query_str),
    )


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
    what: dict[str, Any] = {"allowed": allowed, "with_text": False}
    top_k = settings.candidates
    model, words = parts.embed_model(), parts.tokenizer
    signals = {
        "semantic": SemanticRetriever(view, model, similarity_top_k=top_k, **what),
        "lexical": LexicalRetriever(view, words, similarity_top_k=top_k, **what),
    }
    judges: dict[str, CandidateSignal] = {
        "subject": SubjectSignal(view, subject, allowed=allowed),
        "recent": RecentSignal(view, subject, clock=time.time, allowed=allowed),
        "graph": GraphSignal(view, k=settings.rrf_k),
        "recency": RecencySignal(view, clock=time.time),
    }
    fusion = WeightedFusionRetriever(
        signals,
        weights=weights.by_signal,
        deciding=weights.deciding,
        judges=judges,
        k=settings.rrf_k,
        similarity_top_k=most,
        dispatch=TitleRetriever(view, **what) if settings.title_dispatch else None,
        widening=AliasWidening(view) if settings.alias_expansion else None,
    )
    if settings.expansion == "off":
        return fusion
    return GraphEnhancedRetriever(
        fusion,
        view,
        expansion=preset(settings.expansion),
        weight=settings.expansion_weight,
        **what,
    )


def connected(
    view: ViewSource,
    settings: Settings,
    wanted: Wanted,
    embed_model: BaseEmbedding | None,
    fresh: FreshnessPostprocessor,
) -> ConnectedNotesPostprocessor:
    """What adds connected notes as a query wants them, else as the settings say."""
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
        fresh=fresh,
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
