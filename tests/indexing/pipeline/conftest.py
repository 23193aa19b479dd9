"""A vault to write into and an index of it, with a model a person can read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.pipeline.machine.contents import caught_up
from tests.indexing.pipeline.readable_model import DIMENSIONS, ReadableModel
from tests.support.product import (
    Catalog,
    ChunkRow,
    Indexer,
    IndexLayout,
    LinkRow,
    Report,
    Settings,
    load_settings,
)


class Bench:
    """One vault and its index."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.layout = IndexLayout(folder / "index")
        self.model = ReadableModel()
        self.settings: Settings = load_settings()

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def index(self, *, rebuild: bool = False) -> Report:
        self.model.asked.clear()
        indexer = Indexer(self.vault, self.settings, self.layout, load=self.model.load)
        return indexer.run(rebuild=rebuild)

    def catalog(self) -> Catalog:
        return Catalog.open(self.layout.catalog)

    def links(self, path: str) -> list[LinkRow]:
        with self.catalog() as catalog:
            return catalog.links_from([path])

    def chunks(self, path: str) -> list[ChunkRow]:
        with self.catalog() as catalog:
            return catalog.chunks_of(path)

    def vector_ids(self) -> tuple[set[str], set[str]]:
        """What the vector store holds, once it has caught up."""
        if not self.layout.chroma.is_dir():
            return set(), set()
        with caught_up(self.layout, DIMENSIONS) as vectors:
            return vectors.ids("chunks"), vectors.ids("links")

    def content(self) -> tuple[object, ...]:
        """All that the index says of the vault, without what depends on how it came to be."""
        with self.catalog() as catalog:
            notes = [(n.path, n.title, n.status, n.reason, n.aliases) for n in catalog.notes()]
            keys = [(k.id, k.path, k.ordinal, k.embedded_hash) for k in catalog.chunk_keys()]
            tokens = {chunk: dict(said) for chunk, said in catalog.chunk_tokens()}
            return notes, keys, tokens, list(catalog.links()), self.vector_ids()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    return Bench(tmp_path)
