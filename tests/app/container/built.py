"""Indexes made with a model that a person can read, in a fraction of a second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.app.conftest import write_notes
from tests.indexing.pipeline.readable_model import DIMENSIONS, ReadableModel
from tests.support.product import DOOR_FILE, Door, Embedder, Indexer, IndexLayout, Place, locate


class ModelWithDoor(ReadableModel):
    """Leaves a query door, as the models of the product do."""

    def load(self, *arguments: Any) -> Embedder:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        door = Door({}, DIMENSIONS, None, 60, "", "", {}, reason="nobody asks this model")
        (folder / DOOR_FILE).write_text(door.text(), encoding="utf-8")
        return super().load(*arguments)


def sound(*_: object) -> None:
    """Take a vector store for sound without a process that tries it."""


def place_of(folder: Path, notes: dict[str, str], **overrides: object) -> Place:
    """A vault of these notes in a folder, not indexed; overrides with ``__`` for the dot."""
    vault = write_notes(folder / "My vault", notes)
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return locate(vault, index_dir=folder / "index", overrides=dotted)


def indexer(place: Place, layout: IndexLayout | None = None) -> Indexer:
    """An indexer of a place, with the readable model."""
    return Indexer(
        place.vault,
        place.settings,
        layout or place.layout,
        load=ModelWithDoor().load,
        probe=sound,
    )


def index(place: Place, *, rebuild: bool = False, layout: IndexLayout | None = None) -> None:
    """Bring the index of a place up to its vault."""
    indexer(place, layout).run(rebuild=rebuild)


def built(folder: Path, notes: dict[str, str], **overrides: object) -> Place:
    """A vault of these notes, indexed."""
    place = place_of(folder, notes, **overrides)
    index(place)
    return place
