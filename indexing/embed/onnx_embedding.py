"""Embedding without torch: a question's vector without importing torch, wherever an export could be made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakValueDictionary

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr

from notehop.indexing.embed.embedder import OnBatch, TokenOffsets, Vectors
from notehop.indexing.embed.identity import describe_model
from notehop.indexing.embed.models import MULTILINGUAL_NAME
from notehop.indexing.embed.onnx_model import OnnxModel, read_manifest

if TYPE_CHECKING:
    from notehop.config.settings import EmbeddingSettings
    from notehop.indexing.embed.packed import PackedEngine
    from notehop.indexing.embed.torch_embedding import TorchEmbedding


Engine: TypeAlias = "OnnxModel | PackedEngine | TorchEmbedding"
"""What embeds queries and passages: ``vectors``, ``tokens`` and ``max_tokens``."""

MOST_SPECIALS = 8  # special tokens that any model puts around a text, with room to spare

Source = Literal["onnx", "packed", "torch"]


class QueryEmbedder(BaseEmbedding):
    """A LlamaIndex embedding for queries, and for the few passages of a small change.

    ``source`` says what serves: ``onnx``, ``packed`` for the model of the extra ``multilingual``,
    which brings its engine, or ``torch`` where there is no export, for the ``reason`` given.
    """

    dimensions: int
    max_tokens: int
    source: Source
    reason: str | None = None
    _engine: Engine = PrivateAttr()
    _identity: dict[str, Any] = PrivateAttr()

    def __init__(self, engine: Engine, source: Source, identity: dict[str, Any], reason: str | None) -> None:
        super().__init__(
            model_name=identity["model"],
            dimensions=identity["dimensions"],
            max_tokens=engine.max_tokens,
            source=source,
            reason=reason,
        )
        self._engine, self._identity = engine, identity

    @property
    def tokens(self) -> TokenOffsets:
        return self._engine.tokens

    def identity(self) -> dict[str, Any]:
        return dict(self._identity)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query, cut at the window: (d,), of length 1. Raises ModelError if the model fails."""
        return np.asarray(self._engine.vectors([text], "query")[0])

    def is_cut(self, query: str) -> bool:
        """Whether a query is longer than the window, so that its end is not looked for."""
        text = self._identity["query_prompt"] + query
        # A token is a byte at least: of most queries none is counted, for which a tokenizer is built.
        if len(text.encode("utf-8", "replace")) + MOST_SPECIALS <= self.max_tokens:
            return False
        return len(self.tokens(text)) + self.tokens.specials > self.max_tokens

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: (n, d), in the order of ``texts``; (0, d) for none.

        One thread and one text at a time: for the notes of a small change, where loading torch
        would take longer.
        """
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for done, text in enumerate(texts):
            rows[done] = self._engine.vectors([text], "passage")[0]
            if on_batch is not None:
                on_batch(done + 1)
        return rows

    def embed_together(self, texts: Sequence[str]) -> Vectors:
        """Embed a few passages: (n, d), n > 0, in half the time of :meth:`embed`; not for an index, as
        the last digits of a vector depend on its company."""
        return self._engine.vectors(texts, "passage")

    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(x) for x in self.embed_query(query)]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(x) for x in self.embed([text])[0]]


_held: WeakValueDictionary[str, Engine] = WeakValueDictionary()
_opening = threading.Lock()


def load_query(folder: Path, settings: EmbeddingSettings) -> QueryEmbedder:
    """Open the query model of an index, or take the one that this process holds already of the same files
    or settings.

    :param folder: the index's model folder.
    :raises ModelError: if there is no export and torch cannot load the model either.
    """
    manifest, description = read_manifest(folder), describe_model(settings)
    identity = description.identity()
    if manifest is not None and manifest.identity != identity:
        manifest = None
    source: Source
    make: Callable[[], Engine]
    reason = None
    key = settings.model_dump_json()
    if settings.model == MULTILINGUAL_NAME:
        from notehop.indexing.embed.packed import PackedEngine

        source = "packed"
        make = partial(PackedEngine, description)
    elif manifest is not None and manifest.reason is None and manifest.is_sound(folder):
        source, key = "onnx", manifest.text()
        make = partial(OnnxModel, folder, manifest)
    else:
        from notehop.indexing.embed.torch_embedding import load_bulk

        # One query gains nothing from bfloat16, and trying it out would cost a second at each start.
        settings = settings.model_copy(update={"precision": "float32"})
        source = "torch"
        make = partial(load_bulk, settings)
        reason = f"{folder} holds no export of this model that can be read"
        if manifest is not None:
            reason = manifest.reason or f"files of {folder} are missing or damaged"
        if manifest is None or manifest.reason is None:
            # Files that are damaged are mended by the next run: nobody else shall wait with them.
            return QueryEmbedder(make(), source, identity, reason)
    with _opening:
        engine = _held.get(key)
        if engine is None:
            engine = _held[key] = make()
    return QueryEmbedder(engine, source, identity, reason)
