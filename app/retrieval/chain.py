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

from notehop.app.models import BaseQuery, ConnectedOptions, Explanation, Filters, Intent
from notehop.app.retrieval.candidate_signals import by_links, by_recency, recent_notes
from notehop.app.retrieval.compound import CompoundRetriever
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.filters import Narrowed
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.fusion import WeightedFusionRetriever
from notehop.app.retrieval.graph_retriever import PRESETS, GraphEnhancedRetriever
from notehop.app.retrieval.intents import DECIDING, about, read, weigh
from notehop.app.retrieval.nodes import light_hits
from notehop.app.retrieval.relevance import RelevancePostprocessor
from notehop.app.retrieval.rerank import CrossEncoderScorer, RerankPostprocessor
from notehop.app.retrieval.retrievers import (
    LexicalRetriever,
    SemanticRetriever,
    TitleRetriever,
    newest_notes,
    with_aliases,
)
from notehop.app.retrieval.second_look import RRF_K, SecondLookRetriever
from notehop.app.retrieval.subject import COVERED, Subject, proper_names
from notehop.app.retrieval.templates import TemplatePostprocessor, templates_of
from notehop.app.retrieval.trace import TracedQuery, ViewSource
from notehop.config import Settings
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer

SPARE = 4  # hits for each place: what changed since, or is connected already, is passed over
AGAIN = 10  # hits of the second search for each seed; 20 gain less (docs/evaluation.md)

PLACES = 8  # places in the context of an answer that is quoted: it quotes three of them at most
PLACES_FOR_MODEL = 12  # where a language model reads: more bring hardly any (docs/evaluation.md)
WINDOW_FOR_MORE = 6_000  # tokens of the window of a model that takes so many

TASKS = "it asks for open tasks: these are the passages that have some, of the newest notes first"
LISTED = "there are no words to search for: these are the newest notes that the filters leave"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of retrieval for one query of an edge.

    ``fill`` gives places that no connected note takes to further sources. ``rerank`` is False where
    the fused scores are what is wanted. ``by_relevance`` orders the first hits by it, as searches do
    (docs/evaluation.md). ``listing``: a question for a list of notes ("which projects are active?")
    wants them all. ``passages`` are shown in place of what a search would find. ``for_model``: a
    language model reads what is found, which takes more of it.
    """

    asked: BaseQuery
    results: Literal["chunks", "notes"] = "chunks"
    fill: bool = True
    rerank: bool = True
    by_relevance: bool = False
    listing: bool = False
    passages: tuple[ChunkId, ...] = ()
    for_model: bool = False

    @classmethod
    def best_notes(cls, most: int, filters: Filters | None = None, *, literal: bool) -> Wanted:
        """The notes that a text has most to do with, as the signals alone rank them."""
        filters, none = filters or Filters(), ConnectedOptions(max=0)
        asked = BaseQuery(
            query="", top_k=most, connected=none, filters=filters, literal=literal, intent="none"
        )
        return cls(asked, results="notes", fill=False, rerank=False)


@dataclass
class QueryChain:
    """The stages of one query over one generation. ``embed_model`` gives the model, loaded when it is
    first asked for; ``remedy`` tells what is done about notes that changed since."""

    view: Snapshot
    wanted: Wanted
    narrowed: Narrowed
    vault: Path
    settings: Settings
    embed_model: Callable[[], BaseEmbedding]
    tokenizer: Tokenizer
    remedy: Callable[[], str]
    scorer: CrossEncoderScorer | None

    def __post_init__(self) -> None:
        view, wanted, narrowed, settings = self.view, self.wanted, self.narrowed, self.settings
        self.given = bool(wanted.passages or narrowed.lists)
        self.fresh = freshness(view, self.vault, settings, self.remedy)
        # Filters choose sources; connected notes are their context, and only those that a tag or a
        # path keeps out by name are none.
        self.around = connected(
            view,
            settings,
            wanted,
            None if self.given else self.embed_model(),
            self.fresh,
            hidden=narrowed.notes.hidden,
            allowed=narrowed.allowed,
            tokens=self.tokenizer.query if wanted.fill and not wanted.for_model else None,
        )
        if self.given:
            self.around.max_connected, self.around.order = 0, "rank"
        places = self.around.places
        self.fresh.places = places if wanted.fill else self.around.top_k
        self.fresh.each_note = wanted.results == "notes"
        # Places that no connected note takes go to the next hits only where that is wanted.
        self.fresh.top_n = SPARE * places if wanted.fill else places

    def run(self, query: TracedQuery) -> list[NodeWithScore]:
        """Return the sources of a query, best first, then its connected notes; nothing whose text does
        not stand in the vault. A query without words lists the newest notes that its filters leave."""
        if self.given:
            hits = self._given(query)
            stages: tuple[BaseNodePostprocessor, ...] = (self.fresh, self.around)
        else:
            hits, relevance = self._ranked(query)
            # Where it orders hits anew, connected notes are those of the new order.
            stages = (relevance, self.around) if relevance.weight else (self.around, relevance)
        for stage in stages:
            hits = stage.postprocess_nodes(hits, query_bundle=query)
        return hits

    def _given(self, query: TracedQuery) -> list[NodeWithScore]:
        """The hits of a query that nothing is searched for."""
        passages = self.wanted.passages
        reason = TASKS if passages else LISTED
        query.trace.plan = Explanation(intent="none", about="", weights={}, reasons=[reason])
        if passages:
            return light_hits([(one, len(passages) - at) for at, one in enumerate(passages)])
        is_template = templates_of(self.vault, query.query_str)
        return newest_notes(self.view, self.narrowed, SPARE * self.around.places, is_template)

    def _ranked(self, query: TracedQuery) -> tuple[list[NodeWithScore], RelevancePostprocessor]:
        """The hits of a query that stand in the files, without text, and what judges them."""
        view, wanted, fresh, tokenizer = self.view, self.wanted, self.fresh, self.tokenizer
        retrieval = self.settings.retrieval
        text, intent = query.query_str, wanted.asked.intent or retrieval.intent
        taken = read(text, view.named_any) if intent == "auto" else about(text, intent)
        weights, reasons = weigh(text, self.settings, taken.intent, tokenizer.language)
        # Who asks about something in particular may not call it by its whole name.
        particular = taken.intent != "none"
        any_name = particular or retrieval.subject_names == "any"
        subject = Subject(
            view,
            taken.about,
            tokenizer.query if particular else None,
            covered=COVERED if particular else 0.0,
            proper=None if any_name else proper_names(taken.about, tokenizer.language),
            left_out=templates_of(self.vault, text),
        )
        scorer = self.scorer if wanted.rerank else None
        asked = wanted.asked.second_look
        # An answer takes one, a search where it is asked to.
        look = wanted.fill if asked is None else asked
        finder = self._finder(taken.intent, weights, subject)
        if wanted.fill:
            finder = CompoundRetriever(finder)
        if look:
            # Nothing is asked with, or named, that does not stand in the files any more.
            finder = self._looking_again(finder, fresh.held(view, query))
        stages: list[BaseNodePostprocessor] = [
            TemplatePostprocessor(view=view, vault=self.vault, share=retrieval.template_share),
            fresh,
        ]
        if scorer is not None:
            # Chunks are reranked, before those of a note are merged.
            rerank = self.settings.rerank
            budget = {"candidates": rerank.candidates, "budget_ms": rerank.budget_ms}
            stages.insert(0, RerankPostprocessor(view=view, scorer=scorer, **budget))
        hits = finder.retrieve(query)
        for stage in stages:
            hits = stage.postprocess_nodes(hits, query_bundle=query)
        query.trace.plan = Explanation(
            intent=taken.intent,
            rule=None if taken.rule is None else taken.rule.phrase,
            about=taken.about,
            subject=list(subject.found),
            weights=weights,
            reasons=reasons,
            rrf_k=retrieval.rrf_k,
            template_share=retrieval.template_share,
        )
        weighs = wanted.by_relevance and not look and not particular and scorer is None
        weight = retrieval.relevance_weight if weighs else 0.0
        return hits, RelevancePostprocessor(view=view, tokenizer=tokenizer, weight=weight)

    def _signals(self, top_k: int) -> dict[str, BaseRetriever]:
        """What ranks all chunks that filters leave, by meaning and by words."""
        what: dict[str, Any] = {"allowed": self.narrowed.allowed, "with_text": False}
        return {
            "semantic": SemanticRetriever(
                self.view, self.embed_model(), similarity_top_k=top_k, **what
            ),
            "lexical": LexicalRetriever(self.view, self.tokenizer, similarity_top_k=top_k, **what),
        }

    def _finder(
        self, intent: Intent, weights: Mapping[str, float], subject: Subject
    ) -> BaseRetriever:
        """The best by the signals, fused, widened by the graph as the settings say."""
        view, settings, allowed = self.view, self.settings.retrieval, self.narrowed.allowed
        what: dict[str, Any] = {"allowed": allowed, "with_text": False}
        now = time.time()
        fusion = WeightedFusionRetriever(
            self._signals(settings.candidates),
            weights=weights,
            deciding=DECIDING.get(intent, ()),
            judges={
                "subject": lambda found: subject.rank(found, allowed),
                "recent": lambda found: recent_notes(view, subject, found, now, allowed),
                "graph": lambda found: by_links(view, found, settings.rrf_k),
                "recency": lambda found: by_recency(view, found, now),
            },
            k=settings.rrf_k,
            similarity_top_k=settings.candidates,
            dispatch=TitleRetriever(view, **what) if settings.title_dispatch else None,
            widening=partial(with_aliases, view) if settings.alias_expansion else None,
        )
        if settings.expansion == "off":
            return fusion
        expansion, weight = PRESETS[settings.expansion], settings.expansion_weight
        return GraphEnhancedRetriever(fusion, view, expansion=expansion, weight=weight, **what)

    def _looking_again(self, first: BaseRetriever, now: Snapshot) -> SecondLookRetriever:
        """The ranking with what a second search finds, where the places of the context that no
        connected note takes begin; a search shows as many of it as it has places for."""
        again = WeightedFusionRetriever(self._signals(AGAIN), k=RRF_K, similarity_top_k=AGAIN)
        around, words = self.around, self.tokenizer.query_words
        keep, most = max(1, around.top_k - 2), 2
        # A quoted answer has one at most, if it brings something.
        tentative = around.tokens is not None
        if self.wanted.fill:
            free = 1 if tentative else around.places - around.top_k - around.max_connected
            keep, most = around.top_k, min(4, max(1, free))
        return SecondLookRetriever(
            first, again, view=now, words=words, keep=keep, most=most, tentative=tentative
        )


def connected(
    view: ViewSource,
    settings: Settings,
    wanted: Wanted,
    embed_model: BaseEmbedding | None,
    fresh: FreshnessPostprocessor,
    **more: Any,
) -> ConnectedNotesPostprocessor:
    """What adds connected notes as a query wants them, else as the settings say."""
    asked, otherwise, top_k = wanted.asked.connected, settings.connected, wanted.asked.top_k
    places = otherwise.context_chunks
    if places is None:
        window = settings.llm.context_window
        wide = wanted.for_model and (not window or window >= WINDOW_FOR_MORE)
        places = PLACES_FOR_MODEL if wide else PLACES
    return ConnectedNotesPostprocessor(
        view=view,
        embed_model=embed_model,
        top_k=settings.retrieval.top_k if top_k is None else top_k,
        context_chunks=places,
        max_connected=otherwise.max if asked.max is None else asked.max,
        order=asked.order or otherwise.order,
        direction=asked.direction or otherwise.direction,
        gate=otherwise.gate,
        rrf_k=otherwise.rrf_k,
        fill=wanted.fill,
        fresh=fresh,
        **more,
    )


def freshness(
    view: ViewSource, vault: Path, settings: Settings, remedy: Callable[[], str]
) -> FreshnessPostprocessor:
    """What holds hits against the files of a vault; ``remedy`` as in :class:`QueryChain`."""
    return FreshnessPostprocessor(
        view=view,
        vault=vault,
        max_note_bytes=settings.vault.max_note_bytes,
        comment_links=settings.vault.comment_links,
        remedy=remedy,
    )
