"""Owns the cross-encoder that reranks: found on this machine, loaded with the first pair to score.

Touches: model.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from notehop.config.errors import ModelError
from notehop.config.small_files import is_folder
from notehop.indexing.embed.models import HUB_NAME, cached_folder, is_complete

if TYPE_CHECKING:
    from notehop.config.ranking_settings import RerankSettings

MAX_TOKENS = 512
"""Tokens of a pair that are read, where the model has no smaller window."""


class Scorer(Protocol):
    """What scores passages against a query."""

    @property
    def name(self) -> str:
        """What it is called in warnings."""

    def load(self) -> None:
        """Load the model, unless it is loaded.

        :raises ModelError: if it cannot be loaded.
        """

    def take(self, seconds: float) -> bool:
        """Wait for one's turn, so long at most; whoever got it calls :meth:`give` afterwards."""

    def give(self) -> None:
        """Let the next one have its turn."""

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers the query, larger is better.

        :raises ModelError: if the model fails.
        """


class CrossEncoderScorer:
    """A cross-encoder behind LlamaIndex's ``SentenceTransformerRerank``. Threads may share it.

    One query at a time has its pairs scored: two would only slow each other down. A model that did
    not load is not tried again: that takes seconds, and every query would wait for it.
    """

    def __init__(self, settings: RerankSettings) -> None:
        """Read no file yet."""
        self._settings = settings
        self._loading = threading.Lock()
        self._turn = threading.Lock()
        self._model: Any = None
        self._broken: ModelError | None = None

    @property
    def name(self) -> str:
        """The model as the settings name it."""
        return self._settings.model

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
                self._model = _loaded(folder, self._settings.device)
                # The first pass is slower than the others; and it shows what the model gives.
                self.scores("warm", ["A passage.", "Another one."])
            except Exception as exc:  # files of all kinds fail in all kinds of ways
                self._model = None
                self._broken = ModelError(
                    f"rerank.model: {self.name} ({folder}) does not load as a cross-encoder with "
                    f"one score a pair: {exc}"
                )
                raise self._broken from exc

    def take(self, seconds: float) -> bool:
        """Wait for one's turn, so long at most."""
        return self._turn.acquire(timeout=max(0.0, seconds))

    def give(self) -> None:
        """Let the next one have its turn."""
        self._turn.release()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Score the texts in one pass: floats in their order, larger is better.

        :raises ModelError: if the model fails, or a score is no number.
        """
        nodes = [
            NodeWithScore(node=TextNode(id_=str(at), text=text)) for at, text in enumerate(texts)
        ]
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


def reranker_name(name: str) -> str:
    """Return the one name of a cross-encoder; a hub name without organisation is of
    ``cross-encoder``."""
    if is_folder(name):
        return Path(name).expanduser().resolve().name
    return name if "/" in name else f"cross-encoder/{name}"


def reranker_folder(name: str) -> Path:
    """Return the folder with the files of a cross-encoder: local, or in the hub's local cache.

    :param name: a folder, or a hub name, as :func:`reranker_name` reads it.
    :raises ModelError: if it is not on this machine.
    """
    if is_folder(name):
        folder = Path(name).expanduser()
        if not is_complete(folder):
            raise ModelError(
                f"rerank.model: {folder} holds no model (no config.json or no weights)"
            )
        return folder.resolve()
    if not HUB_NAME.fullmatch(name):
        raise ModelError(f"rerank.model: there is no folder {name}, and a hub name is no path")
    hub_name = reranker_name(name)
    cached = cached_folder(hub_name)
    if cached is None:
        raise ModelError(
            f"rerank.model: {hub_name} is not on this machine (no folder of that name, and no copy "
            f"in the hub's cache); run: notehop models pull {hub_name}"
        )
    return cached


def _loaded(folder: Path, device: str) -> Any:
    with _quiet():
        from llama_index.postprocessor.sbert_rerank import SentenceTransformerRerank

        return SentenceTransformerRerank(
            model=str(folder),
            device=None if device == "auto" else device,
            cross_encoder_kwargs={
                "max_length": _window(folder),
                "local_files_only": True,
                "trust_remote_code": False,
            },
        )


def _window(folder: Path) -> int:
    """The positions that the model has, 512 at most: longer pairs would fail, or take long."""
    from transformers import AutoConfig

    config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    most = getattr(config, "max_position_embeddings", None)
    if not isinstance(most, int) or most < 1:
        return MAX_TOKENS
    # RoBERTa counts positions from behind its padding token, and has two for that.
    own = most - 2 if "roberta" in str(getattr(config, "model_type", "")) else most
    return min(MAX_TOKENS, own)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' progress bars off the terminal."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
