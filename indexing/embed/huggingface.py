"""LlamaIndex's embedding over sentence-transformers, with what bulk work needs added.

Importing this file imports torch; only functions import it. Touches: model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.embeddings.huggingface import HuggingFaceEmbedding

from config.errors import ModelError
from indexing.embed.tokens import TokenOffsets

BATCH_TOKENS = {"cpu": 32_768}
OTHER_BATCH_TOKENS = 262_144
"""Tokens a forward pass holds at most on a processor and on other devices: a model with a window of
8,192 gets small batches, or one pass would take gigabytes."""


class TorchEmbedding(HuggingFaceEmbedding):  # type: ignore[misc]
    """``HuggingFaceEmbedding`` that sorts by length, reports progress and counts what it cuts.

    The parent slices texts into batches in the order they come, so that one long text pads a batch
    of short ones: sorting first is worth half again to nearly twice the throughput. The parent's
    retries are left out: what fails on this machine once fails again.
    """

    max_length: float = Field(default=512, gt=0, description="Window; infinite for static vectors.")

    _tokens: TokenOffsets | None = PrivateAttr(default=None)
    _on_batch: Callable[[int], None] | None = PrivateAttr(default=None)
    _done: int = PrivateAttr(default=0)
    _cut: int = PrivateAttr(default=0)
    _widest: int = PrivateAttr(default=0)

    @classmethod
    def class_name(cls) -> str:
        return "TorchEmbedding"

    @property
    def model(self) -> Any:
        """The ``SentenceTransformer`` inside."""
        return self._model

    @property
    def cut(self) -> int:
        """Passages so far that were longer than the window, so that the model missed their end."""
        return self._cut

    def watch_window(self, tokens: TokenOffsets) -> None:
        """Count from now on, with the model's tokenizer, the passages that do not fit.

        Texts are counted only where a batch was as wide as the window: tokenizing each once more
        would cost a percent or two of the whole run.
        """

        def widest(_model: Any, inputs: Any) -> None:
            ids = inputs[0].get("input_ids")
            if ids is not None and ids.ndim == 2:
                self._widest = max(self._widest, int(ids.shape[1]))

        self._tokens = tokens
        self._model.register_forward_pre_hook(widest)

    def report_to(self, on_batch: Callable[[int], None] | None) -> None:
        """Call ``on_batch`` with the number of passages done, from now on; None stops it."""
        self._on_batch = on_batch
        self._done = 0

    def passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed passages, longest first, in batches of ``embed_batch_size``.

        :returns: (n, d), unit rows, in the order of ``texts``.
        """
        order = longest_first(texts)
        rows = np.empty((len(texts), self._dimensions()), dtype=np.float32)
        for first in range(0, len(order), self.embed_batch_size):
            batch = order[first : first + self.embed_batch_size]
            rows[batch] = self._passage_batch([texts[i] for i in batch])
        return rows

    def queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed queries: (n, d), unit rows, in the order of ``texts``."""
        return self.vectors(list(texts), "query")

    def get_text_embedding_batch(
        self, texts: list[str], show_progress: bool = False, **kwargs: Any
    ) -> list[list[float]]:
        """Embed passages as :meth:`passages` does, through LlamaIndex's events and cache."""
        order = longest_first(texts)
        found = super().get_text_embedding_batch(
            [texts[i] for i in order], show_progress=show_progress, **kwargs
        )
        rows: list[list[float]] = [[] for _ in texts]
        for i, row in zip(order, found, strict=True):
            rows[i] = row
        return rows

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = self._passage_batch(texts).tolist()
        return rows

    def _embed(self, inputs: list[Any], prompt_name: str | None = None) -> list[list[float]]:
        rows: list[list[float]] = self.vectors(inputs, prompt_name).tolist()
        return rows

    def _passage_batch(self, texts: list[str]) -> npt.NDArray[np.float32]:
        self._widest = 0
        rows = self.vectors(texts, "text")
        if self._tokens is not None and self._widest >= self.max_length:
            self._cut += sum(self._tokens.count(text) > self.max_length for text in texts)
        self._done += len(texts)
        if self._on_batch is not None:
            self._on_batch(self._done)
        return rows

    def _dimensions(self) -> int:
        return int(self._model.get_embedding_dimension())

    def vectors(self, texts: list[Any], prompt_name: str | None) -> npt.NDArray[np.float32]:
        if not texts:
            return np.empty((0, self._dimensions()), dtype=np.float32)
        longest = max(len(t) if isinstance(t, str) else 1 for t in texts)
        budget = BATCH_TOKENS.get(self._device, OTHER_BATCH_TOKENS)
        batch = max(1, budget // max(1, int(min(longest, self.max_length))))
        try:
            found = self._model.encode(
                texts,
                batch_size=min(batch, self.embed_batch_size),
                prompt_name=prompt_name,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        except (RuntimeError, ValueError, IndexError) as exc:
            raise ModelError(
                f"{self.model_name} failed on {len(texts)} texts on {self._device}: {exc}; "
                "try a smaller embedding.batch_size, or embedding.device = cpu"
            ) from exc
        return unit_rows(np.asarray(found, dtype=np.float32), self.model_name)


def longest_first(texts: Sequence[str]) -> list[int]:
    """Return positions by length in bytes, longest first, ties in order.

    Bytes follow tokens better than characters where scripts mix. Longest first: what does not fit
    into memory fails at once.
    """
    return sorted(range(len(texts)), key=lambda i: (-len(texts[i].encode()), i))


def unit_rows(rows: npt.NDArray[np.float32], model: str) -> npt.NDArray[np.float32]:
    """Scale each row to length 1; a row of zeros stays.

    :raises ModelError: if a number is not finite.
    """
    if not np.isfinite(rows).all():
        raise ModelError(
            f"{model} gave vectors that are no numbers; set embedding.precision = float32"
        )
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)
