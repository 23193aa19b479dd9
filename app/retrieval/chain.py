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
from notehop.app.retrieval.candidate_signals import by_links, by_recency, recent_notes
from notehop.app.retrieval.components import TracedQuery, ViewSource, light_hits, light_node
from notehop.app.retrieval.connected_notes import ConnectedNotesPostprocessor
from notehop.app.retrieval.filters import Narrowed, among
from notehop.app.retrieval.freshness import FreshnessPostprocessor
from notehop.app.retrieval.graph_retriever import PRESETS, GraphEnhancedRetriever
from notehop.app.retrieval.intents import (
    COVERED,
    DECIDING,
    IntentReading,
    Subject,
    about,
    proper_names,
    read,
    weigh,
)
from notehop.app.retrieval.relevance import (
    AMONG,
    RelevancePostprocessor,
    TemplatePostprocessor,
    rest_of_tables,
    templates_of,
    with_most_words,
    with_newest,
)
from notehop.app.retrieval.rerank import CrossEncoderScorer, RerankPostprocessor
from notehop.app.retrieval.retrievers import (
    LexicalRetriever,
    SemanticRetriever,
    TitleRetriever,
    WeightedFusionRetriever,
    with_aliases,
)
from notehop.app.retrieval.subqueries import RRF_K, CompoundRetriever, SecondLookRetriever
from notehop.config import Settings
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens.tokenizer import Tokenizer

SPARE = 4  # hits for each place: what changed since, or is connected already, is passed over
AGAIN = 10  # hits of the second search for each seed; 20 gain less (docs/evaluation.md)

PLACES = 8  # places in the context of an answer that is quoted: it quotes three of them at most
PLACES_FOR_MODEL = 12  # where a language model reads: more bring hardly any (docs/evaluation.md)
WINDOW_FOR_MORE = 6_000  # tokens of the window of a model that takes so many

TASKS = "it asks for open tasks, or links: these are the passages that have some"
LISTED = "there are no words to search for: these are the newest notes that the filters leave"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of retrieval for one query of an edge.

    ``fill`` gives places that no connected note takes to further sources. ``rerank`` is False where
    the fused scores are what is wanted. ``by_relevance`` orders the first hits by it, as searches do
    (docs/evaluation.md). ``listing``: a question for a list of notes ("which projects are active?")
    wants them all. ``passages`` are shown in place of what a search would find. ``for_model``: a
    language model reads what is found, which takes more of it. ``seen`` counts what a list showed
    before, which it goes on from.
    """

    asked: BaseQuery
    results: Literal["chunks", "notes"] = "chunks"
    fill: bool = True
    rerank: bool = True
    by_relevance: bool = False
    listing: bool = False
    passages: tuple[ChunkId, ...] = ()
    for_model: bool = False
    seen: int = 0

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

    def run(self, query: TracedQuery) -> list[NodeWithScore]:
        """Return the sources of a query, best first, then its connected notes; nothing whose text does
        not stand in the vault. A query without words lists the newest notes that its filters leave."""
        wanted, narrowed = self.wanted, self.narrowed
        given = bool(wanted.passages or narrowed.lists)
        fresh = freshness(self.view, self.vault, self.settings, self.remedy)
        # Filters choose sources; connected notes are their context, and only those that a tag or a
        # path keeps out by name are none.
        around = connected(
            self.view,
            self.settings,
            wanted,
            None if given else self.embed_model(),
            fresh,
            hidden=narrowed.notes.hidden,
            allowed=narrowed.allowed,
            tokens=self.tokenizer.query if wanted.fill and not wanted.for_model else None,
        )
        if given:
            around.max_connected, around.order = 0, "rank"
            around.top_k += wanted.seen
        places = around.places
        fresh.places = places if wanted.fill else around.top_k
        fresh.each_note = wanted.results == "notes"
        # Places that no connected note takes go to the next hits only where that is wanted.
        fresh.top_n = SPARE * places if wanted.fill else places
        stages: list[BaseNodePostprocessor]
        if given:
            hits, stages = self._given(query, places), [fresh, around]
        else:
            hits, stages = self._ranked(query, fresh, around)
            if wanted.fill and (rest := rest_of_tables(self.view, hits, narrowed.allowed)):
                # They take nobody's place.
                own = {one.node.node_id for one in rest}
                left = [one for one in hits if one.node.node_id not in own]
                hits = [*left[:AMONG], *rest, *left[AMONG:]]
                around.top_k += len(rest)
                around.context_chunks += len(rest)
                fresh.places += len(rest)
        for stage in stages:
            hits = stage.postprocess_nodes(hits, query_bundle=query)
        return hits

    def _given(self, query: TracedQuery, places: int) -> list[NodeWithScore]:
        """The hits of a query that nothing is searched for: passages, else the first that filters leave of
        each of the newest notes that say something, templates last."""
        view, narrowed, passages = self.view, self.narrowed, self.wanted.passages
        reason = TASKS if passages else LISTED
        query.trace.plan = Explanation(intent="none", about="", weights={}, reasons=[reason])
        if passages:
            return light_hits([(one, len(passages) - at) for at, one in enumerate(passages)])
        is_template, count = templates_of(self.vault, query.query_str), SPARE * places
        found: list[ChunkId] = []
        templates: list[ChunkId] = []
        for path in filter(narrowed.notes, view.labels.newest_first()):
            ids = among(view.chunk_ids_of(path), narrowed.allowed)[:1]
            if any(chunk.text.strip() for chunk in view.chunks(ids).values()):
                (templates if is_template(path) else found).extend(ids)
            if len(found) == count:
                break
        hits: list[NodeWithScore] = []
        for rank, chunk_id in enumerate([*found, *templates][:count], start=1):
            record = {"newest": {"rank": rank, "score": None, "weight": None}}
            hits.append(NodeWithScore(node=light_node(chunk_id, signals=record), score=1 / rank))
        return hits

    def _ranked(
        self, query: TracedQuery, fresh: FreshnessPostprocessor, around: ConnectedNotesPostprocessor
    ) -> tuple[list[NodeWithScore], list[BaseNodePostprocessor]]:
        """The hits that signals find for a query, without text, and the stages that they go through."""
        view, wanted, tokenizer = self.view, self.wanted, self.tokenizer
        settings = self.settings.retrieval
        text, intent = query.query_str, wanted.asked.intent or settings.intent
        taken = read(text, view.named_any) if intent == "auto" else about(text, intent)
        weights, reasons = weigh(text, self.settings, taken.intent, tokenizer.language)
        term = about(text, "concept").about
        # Who asks about something in particular may not call it by its whole name.
        particular = taken.intent != "none"
        any_name = particular or settings.subject_names == "any"
        subject = Subject(
            view,
            taken.about,
            tokenizer.query if particular else None,
            covered=COVERED if particular else 0.0,
            proper=None if any_name else proper_names(taken.about, tokenizer.language),
            left_out=templates_of(self.vault, text),
            opening=taken.intent == "concept" and taken.about != text,
            term=term if term != text else "",
        )
        if subject.term and not subject.named:
            # Of what no note is called by, a glossary tells as much as its note would.
            told = settings.intents.concept.get("subject", 0.0)
            weights["subject"] = max(weights["subject"], told)
        finder = self._finder(taken, weights, subject)
        if wanted.fill:
            finder = CompoundRetriever(finder)
        # An answer takes a second look, a search where it is asked to.
        asked = wanted.asked.second_look
        if look := wanted.fill if asked is None else asked:
            # Nothing is asked with, or named, that does not stand in the files any more.
            finder = self._looking_again(finder, fresh.held(view, query), around)
        hits = finder.retrieve(query)
        if wanted.fill and not particular:
            hits = with_newest(view, query, hits, tokenizer, self.narrowed.allowed)
        # Of a note that is named, its passages are found by that.
        if settings.relevance_weight and not (particular or subject.found):
            hits = with_most_words(view, query, hits, tokenizer)
        query.trace.plan = Explanation(
            intent=taken.intent,
            rule=None if taken.rule is None else taken.rule.phrase,
            about=taken.about,
            subject=list(subject.found),
            weights=weights,
            reasons=reasons,
            rrf_k=settings.rrf_k,
            template_share=settings.template_share,
        )
        scorer = self.scorer if wanted.rerank else None
        weighs = wanted.by_relevance and not look and not particular and scorer is None
        relevance = RelevancePostprocessor(
            view=view, tokenizer=tokenizer, weight=settings.relevance_weight if weighs else 0.0
        )
        stages: list[BaseNodePostprocessor] = [
            TemplatePostprocessor(view=view, vault=self.vault, share=settings.template_share),
            fresh,
            # Where it orders hits anew, connected notes are those of the new order.
            *((relevance, around) if relevance.weight else (around, relevance)),
        ]
        if scorer is not None:
            # Chunks are reranked, before those of a note are merged.
            rerank = self.settings.rerank
            budget = {"candidates": rerank.candidates, "budget_ms": rerank.budget_ms}
            stages.insert(0, RerankPostprocessor(view=view, scorer=scorer, **budget))
        return hits, stages

    def _signals(self, top_k: int) -> dict[str, BaseRetriever]:
        """What ranks all chunks that filters leave, by meaning and by words."""
        what: dict[str, Any] = {"allowed": self.narrowed.allowed, "with_text": False}
        what["similarity_top_k"] = top_k
        return {
            "semantic": SemanticRetriever(self.view, self.embed_model(), **what),
            "lexical": LexicalRetriever(self.view, self.tokenizer, **what),
        }

    def _finder(
        self, taken: IntentReading, weights: Mapping[str, float], subject: Subject
    ) -> BaseRetriever:
        """The best by the signals, fused, widened by the graph as the settings say."""
        view, settings, allowed = self.view, self.settings.retrieval, self.narrowed.allowed
        what: dict[str, Any] = {"allowed": allowed, "with_text": False}
        now = time.time()
        fusion = WeightedFusionRetriever(
            self._signals(settings.candidates),
            weights=weights,
            deciding=DECIDING.get(taken.intent, ()),
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

    def _looking_again(
        self, first: BaseRetriever, now: Snapshot, around: ConnectedNotesPostprocessor
    ) -> SecondLookRetriever:
        """The ranking with what a second search finds, where the places of the context that no
        connected note takes begin; a search shows as many of it as it has places for."""
        again = WeightedFusionRetriever(self._signals(AGAIN), k=RRF_K, similarity_top_k=AGAIN)
        keep, most = max(1, around.top_k - 2), 2
        # A quoted answer has one at most, if it brings something.
        tentative = around.tokens is not None
        if self.wanted.fill:
            free = 1 if tentative else around.places - around.top_k - around.max_connected
            keep, most = around.top_k, min(4, max(1, free))
        words = self.tokenizer.query_words
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
