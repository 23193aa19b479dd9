"""The embedding model of a follower: small, and kept loaded; bulk work goes to another process.

Touches: model; index (the folder ``model``).
"""

from __future__ import annotations

from pathlib import Path

from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.embedder import Embedder
from notehop.indexing.embed.onnx_embedding import load_query
from notehop.indexing.embed.onnx_model import MANIFEST_FILE, read_manifest
from notehop.indexing.pipeline.doors import SmallOrBulk, small_change
from notehop.indexing.watch.follower import Bulky


class LightDoor:
    """Opens the query door once, and again when it was made anew.

    A model that has no such door is loaded with torch, and kept.
    """

    def __init__(self) -> None:
        self._kept: tuple[object, Embedder] | None = None

    def __call__(self, settings: EmbeddingSettings, folder: Path) -> Embedder:
        """The model.

        :raises Bulky: if there is no door yet; and from ``embed``, for more than a small change.
        :raises ModelError: if the model is missing or does not load.
        """
        door = read_manifest(folder)
        if door is None or (door.reason is None and not door.is_whole(folder)):
            raise Bulky
        made = (folder / MANIFEST_FILE).stat()
        key = (settings, made.st_ino, made.st_mtime_ns)
        if self._kept is None or self._kept[0] != key:
            opened = load_query(folder, settings)
            self._kept = (
                key,
                (
                    SmallOrBulk(opened, _refuse, small_change(settings))
                    if door.reason is None
                    else opened
                ),
            )
        return self._kept[1]


def _refuse() -> Embedder:
    raise Bulky
