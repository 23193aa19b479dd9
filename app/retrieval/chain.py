"""Wires the retrieval of one query to one generation of the index."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

from notehop.app.models import BaseQuery, ConnectedOptions, Explanation, Filters
from notehop.app.retrieval.candidate_signals import rank_by_links, rank_by_recency, rank_recent_notes
from notehop.app.retrieval.components import TracedQuery, ViewSource, stub_hits, stub_node
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.filters import FilteredQuery, keep_allowed
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.graph_retriever import PRESETS, GraphEnhancedRetriever
from notehop.app.retrieval.intents import (
    DECIDING_SIGNALS,
    MIN_NAME_SHARE,
    DetectedIntent,
    SubjectFinder,
    detect_intent,
    find_topic,
    make_proper_name_test,
    weigh_signals,
)
from notehop.app.retrieval.relevance import (
    TOP_PLACES,
    RelevancePostprocessor,
    TemplatePostprocessor,
    find_rest_of_tables,
    insert_newest,
    make_template_test,
    promote_most_words,
)
from notehop.app.retrieval.rerank import CrossEncoderScorer, RerankPostprocessor
from notehop.app.retrieval.retrievers import (
    LexicalRetriever,
    SemanticRetriever,
    TitleRetriever,
    WeightedFusionRetriever,
    add_aliases,
)
from notehop.app.retrieval.subqueries import RRF_K, CompoundRetriever, SecondLookRetriever
from notehop.config import Settings
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId
from notehop.indexing.tokens.tokenizer import Tokenizer

HITS_PER_PLACE = 4  # hits for each place: what changed since, or is connected already, is passed over
SECOND_LOOK_HITS = 10  # hits of the second search for each seed; 20 gain less (docs/evaluation.md)

QUOTE_PLACES = 8  # places in the context of an answer that is quoted: it quotes three of them at most
MODEL_PLACES = 12  # where a language model reads: more bring hardly any (docs/evaluation.md)
MIN_MODEL_WINDOW_TOKENS = 6_000  # tokens of the window of a model that takes so many

PASSAGES_REASON = "it asks for open tasks, or links: these are the passages that have some"
NEWEST_NOTES_REASON = "there are no words to search for: these are the newest notes that the filters leave"


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """What one query of an edge asks of retrieval.

    ``fill`` gives places that no connected note takes to further sources. ``rerank`` is False where
    the fused scores are what is wanted. ``by_relevance`` orders the first hits by it, as searches do
    (docs/evaluation.md). ``listing``: a question for a list of notes ("which projects are active?")
    wants them all. ``passages`` are shown in place of what a search would find. ``for_model``: a
    language model reads what is found, which takes more of it. ``already_shown`` counts what a list
    showed before, which it goes on from.
    """

    query: BaseQuery
    results: Literal["chunks", "notes"] = "chunks"
    fill: bool = True
    rerank: bool = True
    by_relevance: bool = False
    listing: bool = False
    passages: tuple[ChunkId, ...] = ()
    for_model: bool = False
    already_shown: int = 0

    @classmethod
    def best_notes(cls, most: int, filters: Filters | None = None, *, literal: bool) -> RetrievalRequest:
        """Ask for the notes that a text has most to do with, as the signals alone rank them."""
        filters, none = filters or Filters(), ConnectedOptions(max=0)
        query = BaseQuery(
            query="", top_k=most, connected=none, filters=filters, literal=literal, intent="none"
        )
        return cls(query, results="notes", fill=False, rerank=False)


@dataclass
class QueryChain:
    """The stages of one query over one generation. ``embed_model`` gives the model, loaded when it is
    first asked for; ``remedy`` tells what is done about notes that changed since."""

    view: Snapshot
    request: RetrievalRequest
    filtered: FilteredQuery
    vault: Path
    settings: Settings
    embed_model: Callable[[], BaseEmbedding]
    tokenizer: Tokenizer
    remedy: Callable[[], str]
    scorer: CrossEncoderScorer | None

    def run(self, query: TracedQuery) -> list[NodeWithScore]:
        """Return the sources of a query, best first, then its connected notes; nothing whose text does
        not stand in the vault. A query without words lists the newest notes that its filters leave."""
        request, filtered = self.request, self.filtered
        is_listed = bool(request.passages or filtered.has_no_terms)
        fresh = make_freshness_stage(self.view, self.vault, self.settings, self.remedy)
        # Filters choose sources; connected notes are their context, and only those that a tag or a
        # path keeps out by name are none.
        connected_stage = make_connected_stage(
            self.view,
            self.settings,
            request,
            None if is_listed else self.embed_model(),
            fresh,
            hidden=filtered.notes.hidden,
            allowed=filtered.allowed,
            tokens=self.tokenizer.query if request.fill and not request.for_model else None,
        )
        if is_listed:
            connected_stage.max_connected, connected_stage.order = 0, "rank"
            connected_stage.top_k += request.already_shown
        places = connected_stage.places
        fresh.places = places if request.fill else connected_stage.top_k
        fresh.each_note = request.results == "notes"
        # Places that no connected note takes go to the next hits only where that is wanted.
        fresh.top_n = HITS_PER_PLACE * places if request.fill else places
        stages: list[BaseNodePostprocessor]
        if is_listed:
            hits, stages = self._listed_hits(query, places), [fresh, connected_stage]
        else:
            hits, stages = self._searched_hits(query, fresh, connected_stage)
            if request.fill and (rest := find_rest_of_tables(self.view, hits, filtered.allowed)):
                # They take nobody's place.
                rest_ids = {one.node.node_id for one in rest}
                others = [one for one in hits if one.node.node_id not in rest_ids]
                hits = [*others[:TOP_PLACES], *rest, *others[TOP_PLACES:]]
                connected_stage.top_k += len(rest)
                connected_stage.context_chunks += len(rest)
                fresh.places += len(rest)
        for stage in stages:
            hits = stage.postprocess_nodes(hits, query_bundle=query)
        return hits

    def _listed_hits(self, query: TracedQuery, places: int) -> list[NodeWithScore]:
        """The hits of a query that nothing is searched for: passages, else the first that filters leave of
        each of the newest notes that say something, templates last."""
        view, filtered, passages = self.view, self.filtered, self.request.passages
        reason = PASSAGES_REASON if passages else NEWEST_NOTES_REASON
        query.trace.plan = Explanation(intent="none", about="", weights={}, reasons=[reason])
        if passages:
            return stub_hits([(one, len(passages) - at) for at, one in enumerate(passages)])
        is_template, count = (make_template_test(self.vault, query.query_str), HITS_PER_PLACE * places)
        chunk_ids: list[ChunkId] = []
        templates: list[ChunkId] = []
        for path in filter(filtered.notes, view.labels.newest_first()):
            ids = keep_allowed(view.chunk_ids_of(path), filtered.allowed)[:1]
            if any(chunk.text.strip() for chunk in view.chunks(ids).values()):
                (templates if is_template(path) else chunk_ids).extend(ids)
            if len(chunk_ids) == count:
                break
        hits: list[NodeWithScore] = []
        for rank, chunk_id in enumerate([*chunk_ids, *templates][:count], start=1):
            record = {"newest": {"rank": rank, "score": None, "weight": None}}
            hits.append(NodeWithScore(node=stub_node(chunk_id, signals=record), score=1 / rank))
        return hits

    def _searched_hits(
        self, query: TracedQuery, fresh: FreshnessPostprocessor, connected_stage: ConnectedNotesPostprocessor
    ) -> tuple[list[NodeWithScore], list[BaseNodePostprocessor]]:
        """The hits that signals find for a query, without text, and the stages that they go through."""
        view, request, tokenizer = self.view, self.request, self.tokenizer
        settings = self.settings.retrieval
        text, intent = query.query_str, request.query.intent or settings.intent
        detected = detect_intent(text, view.named_any) if intent == "auto" else find_topic(text, intent)
        weights, reasons = weigh_signals(text, self.settings, detected.intent, tokenizer.language)
        term = find_topic(text, "concept").topic
        # Who asks about something in particular may not call it by its whole name.
        particular = detected.intent != "none"
        any_name = particular or settings.subject_names == "any"
        language = tokenizer.language
        subject = SubjectFinder(
            view,
            detected.topic,
            tokenizer.query if particular else None,
            min_share=MIN_NAME_SHARE if particular else 0.0,
            is_proper_name=None if any_name else make_proper_name_test(detected.topic, language),
            is_excluded=make_template_test(self.vault, text),
            prefer_opening=detected.intent == "concept" and detected.topic != text,
            term=term if term != text else "",
        )
        if subject.term and not subject.notes_by_span:
            # Of what no note is called by, a glossary tells as much as its note would.
            concept_weight = settings.intents.concept.get("subject", 0.0)
            weights["subject"] = max(weights["subject"], concept_weight)
        finder = self._make_retriever(detected, weights, subject)
        if request.fill:
            finder = CompoundRetriever(finder)
        # An answer takes a second look, a search where it is asked to.
        second_look = request.query.second_look
        if look := request.fill if second_look is None else second_look:
            # Nothing is asked with, or named, that does not stand in the files any more.
            finder = self._add_second_look(finder, fresh.current_view(view, query), connected_stage)
        hits = finder.retrieve(query)
        if request.fill and not particular:
            hits = insert_newest(view, query, hits, tokenizer, self.filtered.allowed)
        # Of a note that is named, its passages are found by that.
        if settings.relevance_weight and not (particular or subject.found_paths):
            hits = promote_most_words(view, query, hits, tokenizer)
        query.trace.plan = Explanation(
            intent=detected.intent,
            rule=None if detected.rule is None else detected.rule.phrase,
            about=detected.topic,
            subject=list(subject.found_paths),
            weights=weights,
            reasons=reasons,
            rrf_k=settings.rrf_k,
            template_share=settings.template_share,
        )
        scorer = self.scorer if request.rerank else None
        by_relevance = request.by_relevance and not look and not particular and scorer is None
        relevance = RelevancePostprocessor(
            view=view, tokenizer=tokenizer, weight=settings.relevance_weight if by_relevance else 0.0
        )
        stages: list[BaseNodePostprocessor] = [
            TemplatePostprocessor(view=view, vault=self.vault, share=settings.template_share),
            fresh,
            # Where it orders hits anew, connected notes are those of the new order.
            *((relevance, connected_stage) if relevance.weight else (connected_stage, relevance)),
        ]
        if scorer is not None:
            # Chunks are reranked, before those of a note are merged.
            rerank = self.settings.rerank
            budget = {"candidates": rerank.candidates, "budget_ms": rerank.budget_ms}
            stages.insert(0, RerankPostprocessor(view=view, scorer=scorer, **budget))
        return hits, stages

    def _signal_retrievers(self, top_k: int) -> dict[str, BaseRetriever]:
        """Make the retrievers that rank all chunks the filters leave, by meaning and by words."""
        options: dict[str, Any] = {"allowed": self.filtered.allowed, "with_text": False}
        options["similarity_top_k"] = top_k
        return {
            "semantic": SemanticRetriever(self.view, self.embed_model(), **options),
            "lexical": LexicalRetriever(self.view, self.tokenizer, **options),
        }

    def _make_retriever(
        self, detected: DetectedIntent, weights: Mapping[str, float], subject: SubjectFinder
    ) -> BaseRetriever:
        """Make the retriever that fuses the signals and is widened by the graph as the settings say."""
        view, settings, allowed = self.view, self.settings.retrieval, self.filtered.allowed
        options: dict[str, Any] = {"allowed": allowed, "with_text": False}
        now = time.time()
        fusion = WeightedFusionRetriever(
            self._signal_retrievers(settings.candidates),
            weights=weights,
            deciding=DECIDING_SIGNALS.get(detected.intent, ()),
            judges={
                "subject": lambda candidates: subject.rank(candidates, allowed),
                "recent": lambda candidates: rank_recent_notes(view, subject, candidates, now, allowed),
                "graph": lambda candidates: rank_by_links(view, candidates, settings.rrf_k),
                "recency": lambda candidates: rank_by_recency(view, candidates, now),
            },
            k=settings.rrf_k,
            similarity_top_k=settings.candidates,
            dispatch=TitleRetriever(view, **options) if settings.title_dispatch else None,
            widening=partial(add_aliases, view) if settings.alias_expansion else None,
        )
        if settings.expansion == "off":
            return fusion
        expansion, weight = PRESETS[settings.expansion], settings.expansion_weight
        return GraphEnhancedRetriever(fusion, view, expansion=expansion, weight=weight, **options)

    def _add_second_look(
        self, first: BaseRetriever, now: Snapshot, connected_stage: ConnectedNotesPostprocessor
    ) -> SecondLookRetriever:
        """The ranking with what a second search finds, where the places of the context that no
        connected note takes begin; a search shows as many of it as it has places for."""
        again = WeightedFusionRetriever(
            self._signal_retrievers(SECOND_LOOK_HITS), k=RRF_K, similarity_top_k=SECOND_LOOK_HITS
        )
        keep, most = max(1, connected_stage.top_k - 2), 2
        # A quoted answer has one at most, if it brings something.
        tentative = connected_stage.tokens is not None
        if self.request.fill:
            free = (
                1
                if tentative
                else connected_stage.places - connected_stage.top_k - connected_stage.max_connected
            )
            keep, most = connected_stage.top_k, min(4, max(1, free))
        words = self.tokenizer.query_words
        return SecondLookRetriever(
            first, again, view=now, words=words, keep=keep, most=most, tentative=tentative
        )


def make_connected_stage(
    view: ViewSource,
    settings: Settings,
    request: RetrievalRequest,
    embed_model: BaseEmbedding | None,
    fresh: FreshnessPostprocessor,
    **more: Any,
) -> ConnectedNotesPostprocessor:
    """Make the stage that adds connected notes as a query wants them, else as the settings say."""
    options, defaults, top_k = request.query.connected, settings.connected, request.query.top_k
    places = defaults.context_chunks
    if places is None:
        window = settings.llm.context_window
        wide = request.for_model and (not window or window >= MIN_MODEL_WINDOW_TOKENS)
        places = MODEL_PLACES if wide else QUOTE_PLACES
    return ConnectedNotesPostprocessor(
        view=view,
        embed_model=embed_model,
        top_k=settings.retrieval.top_k if top_k is None else top_k,
        context_chunks=places,
        max_connected=defaults.max if options.max is None else options.max,
        order=options.order or defaults.order,
        direction=options.direction or defaults.direction,
        gate=defaults.gate,
        rrf_k=defaults.rrf_k,
        fill=request.fill,
        fresh=fresh,
        **more,
    )


def make_freshness_stage(
    view: ViewSource, vault: Path, settings: Settings, remedy: Callable[[], str]
) -> FreshnessPostprocessor:
    """Make the stage that compares hits with the files of a vault; ``remedy`` as in :class:`QueryChain`."""
    return FreshnessPostprocessor(
        view=view,
        vault=vault,
        max_note_bytes=settings.vault.max_note_bytes,
        comment_links=settings.vault.comment_links,
        remedy=remedy,
    )
