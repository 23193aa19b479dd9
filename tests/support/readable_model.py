"""An embedding model a person can read: one direction a word, so that equal words mean likeness."""

import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.product import MANIFEST_FILE, Embedder, ModelManifest, OnBatch
from tests.support.product import EmbedderVectors as Vectors

DIMENSIONS = 384


class WordTokens:
    """Tokens are words; the window is the caller's."""

    specials = overhead = 0

    def __call__(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\S+", text)]

    def size(self, text: str) -> int:
        return len(self(text))

    count = size

    def room(self, window: int, limit: int = 0) -> int:
        return min(window, limit) if limit else window


class ReadableModel:
    """Counts what it is asked to embed."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.loaded = 0
        self.tokens: Any = WordTokens()
        self.dimensions = DIMENSIONS
        self.max_tokens = 60

    def load(self, _: object = None, folder: Path | None = None) -> Embedder:
        """Leave a manifest, as the models of the product do for queries."""
        self.loaded += 1
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            told = ModelManifest({}, 60, reason="nobody asks it")
            (folder / MANIFEST_FILE).write_text(told.text(), encoding="utf-8")
        return self

    def identity(self) -> dict[str, Any]:
        return {"model": "readable"}

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        self.asked += texts
        rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()) or ["nothing"]:
                row[zlib.crc32(word.encode()) % DIMENSIONS] += 1
            row /= np.linalg.norm(row)
        if on_batch is not None:
            on_batch(len(texts))
        return rows
