"""LlamaIndex's embedding over sentence-transformers, with what bulk work needs added.

Importing this file imports torch; only functions import it. Touches: model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.embeddings.huggingface import HuggingFaceEmbedding

from notehop.config.errors import ModelError
from notehop.indexing.embed.passes import even_width, passes, thread_shares
from notehop.indexing.embed.tokens import TokenOffsets

PASS_TOKENS = {"cpu": 2_048}
OTHER_PASS_TOKENS = 262_144
"""Tokens of a pass through the model at most, on a processor and on other devices. On a processor
wider passes are no faster (with all-MiniLM-L6-v2 8,192 tokens were a tenth slower than 2,048), and
their memory grows with them: a pass of a model with a window of 8,192 would take gigabytes."""

MOST_PASSES = 4
"""Passes that run at once on a processor; its cores are divided among them. Each pass waits for its
own cores only, and one does while the other is in Python. More would wait for Python's lock."""

Matrix = npt.NDArray[np.float32]


class TorchEmbedding(HuggingFaceEmbedding):  # type: ignore[misc]
    """``HuggingFaceEmbedding`` that sorts by length, fills the cores and counts what it cuts.

    The parent slices texts into batches in the order they come, so that one long text pads a batch
    of short ones: sorting first is worth half again to nearly twice the throughput. The parent's
    retries are left out: what fails on this machine once fails again.
    """

    max_length: float = Field(default=512, gt=0, description="Window; infinite for static vectors.")

    _tokens: TokenOffsets | None = PrivateAttr(default=None)
    _pool: ThreadPoolExecutor | None = PrivateAttr(default=None)
    _cut: int = PrivateAttr(default=0)

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

    def measure_with(self, tokens: TokenOffsets) -> None:
        """Sort passages by their tokens from now on, and count those that the window cuts."""
        self._tokens = tokens

    def use_processor(self, threads: int) -> None:
        """Run several passes of :meth:`passages` at once on so many threads of a processor.

        Two passes of one thread each do a tenth more than one of two threads: the threads of a
        pass wait for one another after each of its steps, the more so where the machine is busy.
        On another device than a processor nothing changes.
        """
        if self._device != "cpu":
            return
        if getattr(self._model.tokenizer, "padding_side", None) == "right":
            self._model[0].register_forward_pre_hook(self._evened)
        if threads > 1:
            shares = thread_shares(threads, MOST_PASSES)

            def use_share() -> None:
                # The number is torch's own for each thread, so that all others keep theirs; but a
                # thread that has not asked for it yet would take that of the thread set last.
                torch.get_num_threads()
                torch.set_num_threads(shares.pop())

            self._pool = ThreadPoolExecutor(len(shares), "embed", initializer=use_share)

    def passages(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> Matrix:
        """Embed passages, longest first, at most ``embed_batch_size`` in a pass.

        :param on_batch: called after each pass with the number of passages done.
        :returns: (n, d), unit rows, in the order of ``texts``.
        """
        sizes = self._sizes(texts)
        rows = np.empty((len(texts), self._dimensions()), dtype=np.float32)
        done = 0
        for which, found in self._run(texts, self._plan(sizes)):
            rows[which] = found
            done += len(which)
            if on_batch is not None:
                on_batch(done)
        self._count_cut(texts, sizes)
        return rows

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Embed queries: (n, d), unit rows, in the order of ``texts``."""
        return self.vectors(list(texts), "query")

    def get_text_embedding_batch(
        self, texts: list[str], show_progress: bool = False, **kwargs: Any
    ) -> list[list[float]]:
        """Embed passages, longest first, through LlamaIndex's events and cache."""
        order = [i for which in self._plan(self._sizes(texts)) for i in which]
        found = super().get_text_embedding_batch(
            [texts[i] for i in order], show_progress=show_progress, **kwargs
        )
        rows: list[list[float]] = [[] for _ in texts]
        for i, row in zip(order, found, strict=True):
            rows[i] = row
        return rows

    def vectors(self, texts: list[Any], prompt_name: str | None) -> Matrix:
        """Embed texts as they are, with a prompt of the model: (n, d), unit rows.

        :raises ModelError: if the model fails.
        """
        if not texts:
            return np.empty((0, self._dimensions()), dtype=np.float32)
        longest = max(len(t) if isinstance(t, str) else 1 for t in texts)
        fitting = self._pass_tokens() // max(1, int(min(longest, self.max_length)))
        return self._encoded(texts, prompt_name, max(1, min(fitting, self.embed_batch_size)))

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        sizes = self._sizes(texts)
        rows = np.empty((len(texts), self._dimensions()), dtype=np.float32)
        for which in self._plan(sizes):
            rows[which] = self._pass(texts, which)
        self._count_cut(texts, sizes)
        return rows.tolist()

    def _embed(self, inputs: list[Any], prompt_name: str | None = None) -> list[list[float]]:
        rows: list[list[float]] = self.vectors(inputs, prompt_name).tolist()
        return rows

    def _plan(self, sizes: Sequence[int]) -> list[list[int]]:
        return passes(sizes, self.embed_batch_size, self._pass_tokens())

    def _run(
        self, texts: Sequence[str], plan: Sequence[list[int]]
    ) -> Iterator[tuple[list[int], Matrix]]:
        """Each pass with its vectors, in the order in which they are done."""
        if self._pool is None or len(plan) < 2:
            for which in plan:
                yield which, self._pass(texts, which)
            return
        running = {self._pool.submit(self._pass, texts, which): which for which in plan}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        finally:
            for future in running:
                future.cancel()

    def _pass(self, texts: Sequence[str], which: Sequence[int]) -> Matrix:
        return self._encoded([texts[i] for i in which], "text", len(which))

    def _encoded(self, texts: list[Any], prompt_name: str | None, batch: int) -> Matrix:
        try:
            found = self._model.encode(
                texts,
                batch_size=batch,
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

    def _evened(self, _module: Any, inputs: tuple[dict[str, Any], ...]) -> None:
        """Pad what goes into the model to one of few widths."""
        features = inputs[0]
        ids = features.get("input_ids")
        if ids is None or ids.ndim != 2 or "attention_mask" not in features:
            return
        width = int(ids.shape[1])
        more = int(min(even_width(width), max(width, self.max_length))) - width
        fillers = {
            "input_ids": getattr(self._model.tokenizer, "pad_token_id", None) or 0,
            "attention_mask": 0,
            "token_type_ids": 0,
        }
        for name in fillers.keys() & features.keys() if more else ():
            features[name] = torch.nn.functional.pad(features[name], (0, more), value=fillers[name])

    def _sizes(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model sees it; characters where it has no window."""
        tokens = self._tokens
        if tokens is None:
            return [len(text) for text in texts]
        most = int(self.max_length)
        # One more than the window says that a text may not fit.
        return [min(tokens.size(text) + tokens.overhead, most + 1) for text in texts]

    def _count_cut(self, texts: Sequence[str], sizes: Sequence[int]) -> None:
        if self._tokens is None:
            return
        # The sizes may be one too large: texts are counted where it matters.
        long = [text for text, size in zip(texts, sizes, strict=True) if size > self.max_length]
        self._cut += sum(self._tokens.count(text) > self.max_length for text in long)

    def _pass_tokens(self) -> int:
        return PASS_TOKENS.get(self._device, OTHER_PASS_TOKENS)

    def _dimensions(self) -> int:
        return int(self._model.get_embedding_dimension())


def unit_rows(rows: Matrix, model: str) -> Matrix:
    """Scale each row to length 1; a row of zeros stays.

    :raises ModelError: if a number is not finite.
    """
    if not np.isfinite(rows).all():
        raise ModelError(
            f"{model} gave vectors that are no numbers; set embedding.precision = float32"
        )
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), dtype=np.float32)
