"""Which door to the embedding model a run takes.

Touches: model; index (the folder ``model``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from config.settings import EmbeddingSettings
from indexing.embed.door import read_door
from indexing.embed.embedder import Embedder
from indexing.embed.query import load_query

LoadEmbedder = Callable[[EmbeddingSettings, Path, int], Embedder]
"""(settings, model folder of the index, bytes of notes to embed) -> a loaded model."""

SMALL_CHANGE = 40_000
"""Bytes of notes up to which the query door embeds them: importing torch takes 5 s or more, in
which the door embeds about 150 chunks of 250 characters."""


def load_embedder(settings: EmbeddingSettings, folder: Path, size: int) -> Embedder:
    """Load torch for bulk work, the ONNX door for a small change; make that door if it is missing.

    :raises ModelError: if the model is missing or does not load.
    """
    door = read_door(folder)
    usable = door is not None and door.reason is None and door.is_whole(folder)
    if usable and size <= SMALL_CHANGE:
        return load_query(folder, settings)
    from indexing.embed.bulk import load_bulk
    from indexing.embed.onnx_export import export_query_door

    bulk = load_bulk(settings)
    if not usable and (door is None or door.reason is None):
        export_query_door(bulk, folder)
    return bulk
