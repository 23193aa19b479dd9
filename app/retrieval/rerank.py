"""The rerank: a cross-encoder reads the best passages with the query, within a budget of time."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from notehop.app.retrieval.components import (
    Nodes,
    Trace,
    TracedQuery,
    VaultPostprocessor,
    fill_stubs,
    score_below,
    with_metadata,
)
from notehop.app.retrieval.intents import DECIDED_BY
from notehop.app.retrieval.retrievers import DISPATCH
from notehop.config.errors import ModelError
from notehop.config.small_files import is_folder
from notehop.indexing.embed.models import folder_on_disk, quiet_loading
from notehop.indexing.nodes.chunker import embedded_prefix
from notehop.indexing.stores.reader import Snapshot

if TYPE_CHECKING:
    from notehop.config.ranking_settings import RerankSettings

MAX_TOKENS = 512  # of a pair that are read, where the model has no smaller window


class CrossEncoderScorer:
    """A cross-encoder behind LlamaIndex's ``SentenceTransformerRerank``, which threads may share: one
    query at a time holds ``turn`` and has its pairs scored, for two would only slow each other down. A
    model that did not load is not tried again: every query would wait for it."""

    def __init__(self, settings: RerankSettings) -> None:
        self.name = settings.model
        self._loading = threading.Lock()
        self.turn = threading.Lock()
        self._model: Any = None
        self._broken: ModelError | None = None

    def load(self) -> None:
        """Load the model, unless it is loaded: some seconds, most of them for torch.

        :raises ModelError: if it is not on this machine, does not load, or gives no single score.
        """
        with self._loading:
            if self._model is not None:
                return
            if self._broken is not None:
                raise self._broken
            folder = reranker_folder(self.name)
            try:
                with quiet_loading():
                    from llama_index.postprocessor.sbert_rerank import SentenceTransformerRerank

                    self._model = SentenceTransformerRerank(
                        model=str(folder),
                        cross_encoder_kwargs={
                            "max_length": _max_pair_tokens(folder),
                            "local_files_only": True,
                            "trust_remote_code": False,
                        },
                    )
                # The first pass is slower than the others; and it shows what the model gives.
                self.scores("warm", ["A passage.", "Another one."])
            except Exception as exc:  # files of all kinds fail in all kinds of ways
                self._model = None
                self._broken = ModelError(
                    f"rerank.model: {self.name} ({folder}) does not load as a cross-encoder with "
                    f"one score a pair: {exc}"
                )
                raise self._broken from exc

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score the texts in one pass: floats in their order, larger is better.

        :raises ModelError: if the model fails, or a score is no number.
        """
        nodes = [NodeWithScore(node=TextNode(id_=str(at), text=text)) for at, text in enumerate(texts)]
        try:
            self._model.top_n = len(nodes)
            scored = self._model.postprocess_nodes(nodes, QueryBundle(query))
            found = {hit.node.node_id: float(hit.score) for hit in scored}
            scores = [found[str(at)] for at in range(len(nodes))]
        except Exception as exc:  # any broken model
            raise ModelError(f"rerank.model: {self.name} failed: {exc}") from exc
        if not all(math.isfinite(score) for score in scores):
            raise ModelError(f"rerank.model: {self.name} gave scores that are no numbers")
        return scores


def _max_pair_tokens(folder: Path) -> int:
    """Tokens of a pair that a model reads, 512 at most: longer ones would fail, or take long."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    most = getattr(config, "max_position_embeddings", None)
    if not isinstance(most, int) or most < 1:
        return MAX_TOKENS
    # RoBERTa has two positions for its padding.
    return min(MAX_TOKENS, most - 2 if "roberta" in config.model_type else most)


_shared: WeakValueDictionary[str, CrossEncoderScorer] = WeakValueDictionary()
_shared_lock = threading.Lock()


def shared_scorer(settings: RerankSettings) -> CrossEncoderScorer:
    """The scorer that all vaults of this process share whose settings name the same model."""
    with _shared_lock:
        return _shared.setdefault(settings.model, CrossEncoderScorer(settings))


def reranker_folder(name: str) -> Path:
    """Return the folder with the files of a cross-encoder: local, or in the hub's local cache, where a name
    without organisation is of ``cross-encoder``.

    :raises ModelError: if it is not on this machine.
    """
    hub_name = name if "/" in name or is_folder(name) else f"cross-encoder/{name}"
    found = folder_on_disk("rerank.model", name, hub_name)
    if found is None:
        raise ModelError(
            f"rerank.model: {hub_name} is not on this machine (no folder of that name, and no copy "
            f"in the hub's cache); run: notehop models pull {hub_name}"
        )
    return found


PAIRS_PER_PASS = 4
"""Pairs of a pass, between which the clock is looked at; more are hardly faster on a processor."""


class RerankPostprocessor(VaultPostprocessor):
    """Orders the best hits by a cross-encoder, which reads query and passage together.

    Hits beyond ``candidates`` keep their order below them. What the query names exactly (the
    dispatched notes) stays first, and so do hits that signals decided on (``decided_by``). A hit that
    was scored has ``metadata["rerank"]``: ``score``, ``rank_before`` and ``score_before``. If the time
    is over before all are scored, or the model cannot be used, the hits stay as they came and the
    query's trace holds a warning.
    """

    stage = "rerank"

    scorer: Any = Field(exclude=True, description="A CrossEncoderScorer, or what has its methods.")
    candidates: int = Field(default=20, ge=1, description="Hits that are scored.")
    budget_ms: float = Field(default=1500.0, gt=0, description="Time for scoring them.")
    clock: Callable[[], float] = Field(
        default=time.perf_counter, exclude=True, description="Seconds, for the budget."
    )

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        # The text of each under its title and headings; a chunk that is not there has none.
        texts: dict[str, str] = {}
        for hit in fill_stubs(hits[: self.candidates], view):
            about, text = hit.node.metadata, hit.node.get_content()
            title, headings = str(about.get("title", "")), tuple(about.get("heading_path") or ())
            texts[hit.node.node_id] = f"{embedded_prefix(title, headings)}\n{text}" if title else text
        if len(texts) < 2 or not query.query_str.strip():
            return hits
        try:
            # Loading, which happens once, is outside the budget.
            self.scorer.load()
            scores = self._score_texts(query.query_str, texts, query.trace)
        except ModelError as exc:
            query.trace.warn(f"not reranked, the fused order stands: {exc}")
            return hits
        return hits if scores is None else _order_by_score(hits, scores)

    def _score_texts(self, query: str, texts: Mapping[str, str], trace: Trace) -> dict[str, float] | None:
        """The score of each candidate by id; None, with a warning, if the time ran out."""
        waiting, ends = list(texts), self.clock() + self.budget_ms / 1000
        scores: dict[str, float] = {}
        if self.scorer.turn.acquire(timeout=self.budget_ms / 1000):
            try:
                while waiting and self.clock() < ends:
                    batch, waiting = waiting[:PAIRS_PER_PASS], waiting[PAIRS_PER_PASS:]
                    batch_scores = self.scorer.scores(query, [texts[one] for one in batch])
                    scores.update(zip(batch, batch_scores, strict=True))
            finally:
                self.scorer.turn.release()
        trace.count(self.stage, candidates=len(texts), scored=len(scores))
        if not waiting:
            return scores
        trace.warn(
            f"not reranked, the fused order stands: {self.scorer.name} had scored {len(scores)} of "
            f"{len(texts)} passages when the {self.budget_ms:,.0f} ms of rerank.budget_ms were over; "
            "raise that, or name a smaller model"
        )
        return None


def _order_by_score(nodes: Nodes, scores: Mapping[str, float]) -> Nodes:
    """The hits by rerank score, those without one below; decided ones stay first, with the best."""
    best, lowest = max(scores.values()), min(scores.values())
    first: Nodes = []
    scored: Nodes = []
    rest: Nodes = []
    for rank, hit in enumerate(nodes, start=1):
        node, about = hit.node, hit.node.metadata
        # The place of such a hit does not depend on its text.
        decided = DISPATCH in about.get("signals", {}) or bool(about.get(DECIDED_BY))
        score = scores.get(node.node_id)
        if score is not None:
            record = {"score": score, "rank_before": rank, "score_before": hit.score}
            node = with_metadata(node, rerank=record)
        into = first if decided else rest if score is None else scored
        into.append(NodeWithScore(node=node, score=best if decided else score))
    scored.sort(key=lambda hit: -(hit.score or 0.0))
    for number, hit in enumerate(rest, start=1):
        hit.score = score_below(lowest, number, len(rest))
    return [*first, *scored, *rest]
