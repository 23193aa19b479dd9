"""What the rest of notehop asks of an embedding model, torch or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from notehop.indexing.embed.tokenizer import TokenOffsets

Vectors = npt.NDArray[np.float32]
"""(n, d) or (d,), float32, each of length 1."""

Kind = Literal["query", "passage"]
"""What a text is to the model, which may want a prompt of its own before each."""

OnBatch = Callable[[int], None]
"""Called after each batch with the number of passages done so far."""


class BulkEmbedder(Protocol):
    """Embeds passages: torch, the exported model, or the workers of a cluster."""

    @property
    def cut(self) -> int:
        """Passages so far that were longer than the window."""

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        """Embed passages: (n, d), in the order of ``texts``; (0, d) for none."""


class Embedder(BulkEmbedder, Protocol):
    """A model that notes are cut for, and embedded by."""

    @property
    def dimensions(self) -> int:
        """Length of the vectors."""

    @property
    def max_tokens(self) -> int:
        """Tokens the model sees at once, special tokens and prompt included."""

    @property
    def tokens(self) -> TokenOffsets:
        """The model's tokenizer; it knows the passage prompt."""

    def identity(self) -> dict[str, Any]:
        """Return what the fingerprint of an index names."""
