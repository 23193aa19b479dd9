"""Vaults and their indexes, made with a model that a person can read in a fraction of a second.

``built(folder, notes)`` is a place whose index is made; ``Bench(folder)`` is one to write into and
index again and again, in which tests of indexing look. ``NOTES`` is the small vault of many tests.
With the real embedding model: :mod:`tests.support.real_index`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support import product
from tests.support.readable_model import ReadableModel

if TYPE_CHECKING:
    from llama_index.core.schema import TransformComponent

NOTES = {
    "Atlas.md": (
        "---\naliases: [Project A]\n---\n"
        "Atlas is the map project. Work on it is planned in [[Plan]]. It began as a drawing on a "
        "napkin, grew into a proposal in winter, and has kept three people busy since then.\n\n"
        "## Timeline\n"
        "The launch of Atlas is on 14 June 2027. Why so late stands in [[people/Priya 1-1]]. "
        "The tiles come first, then the search box, then the printed edition for the walkers.\n"
    ),
    "Plan.md": "# Plan\nThe beta of Atlas starts on 2 May, and testers come from [[Nowhere]].\n",
    "people/Priya 1-1.md": ("We talked about the launch. Priya needs four more weeks for the map tiles.\n"),
    "people/Secret.md": "---\nprivate: true\n---\nNobody reads this launch note, nor [[Atlas]].\n",
    "Bread.md": "# Sourdough\nFeed the starter every morning, bake on Sunday. See [[Secret]].\n",
}


VAULTS = Path(__file__).parents[1] / "vaults"


def notes_of(name: str) -> dict[str, str]:
    """The notes of a vault in ``tests/vaults``."""
    files = sorted((VAULTS / name).rglob("*.md"))
    return {file.relative_to(VAULTS / name).as_posix(): file.read_text(encoding="utf-8") for file in files}


def write_notes(vault: Path, notes: dict[str, str]) -> Path:
    """Write notes into a folder that the application would take for a vault."""
    (vault / ".obsidian").mkdir(parents=True)
    for path, text in notes.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, encoding="utf-8")
    return vault


def mirror_here(layout: product.IndexLayout, _: object) -> str | None:
    """Write the mirror in this process, which may be lost with it, and takes no seconds."""
    try:
        product.write_mirror(layout)
    except Exception as exc:  # noqa: BLE001 (as the child tells)
        return str(exc)
    return None


def place_of(folder: Path, notes: dict[str, str], **overrides: object) -> product.Place:
    """A vault of these notes in a folder, not indexed; overrides with ``__`` for the dot."""
    vault = write_notes(folder / "My vault", notes)
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return product.locate(vault, index_dir=folder / "index", overrides=dotted)


def indexer(place: product.Place, layout: product.IndexLayout | None = None) -> product.Indexer:
    return product.Indexer(place.vault, place.settings, layout or place.layout, load=ReadableModel().load)


def index(place: product.Place, *, rebuild: bool = False, layout: product.IndexLayout | None = None) -> None:
    indexer(place, layout).run(rebuild=rebuild)


def built(folder: Path, notes: dict[str, str], **overrides: object) -> product.Place:
    place = place_of(folder, notes, **overrides)
    index(place)
    return place


class Bench:
    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir(exist_ok=True)
        self.layout = product.IndexLayout(folder / "index")
        self.model = ReadableModel()
        self.settings: product.Settings = product.load_settings()
        self.limits = product.LIMITS

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def index(self, *, rebuild: bool = False) -> product.Report:
        self.model.asked.clear()
        return self.indexer().run(rebuild=rebuild)

    def indexer(self, transformations: Sequence[TransformComponent] = ()) -> product.Indexer:
        return product.Indexer(
            self.vault,
            self.settings,
            self.layout,
            load=self.model.load,
            write_mirror=mirror_here,
            transformations=transformations,
            limits=self.limits,
        )

    def catalog(self) -> product.Catalog:
        return product.Catalog.open(self.layout.catalog)

    def links(self, path: str) -> list[product.LinkRow]:
        with self.catalog() as catalog:
            return catalog.links_from([path])

    def chunks(self, path: str) -> list[product.ChunkRow]:
        with self.catalog() as catalog:
            return catalog.chunks_of(path)

    def content(self) -> tuple[object, ...]:
        """All that the index says of the vault, without what depends on how it came to be."""
        with self.catalog() as catalog:
            notes = [(n.path, n.title, n.status, n.reason, n.aliases) for n in catalog.notes()]
            chunks = catalog.chunks(key.id for key in catalog.chunk_keys()).values()
            keys = [(one.id, one.path, one.ordinal, one.embedded_hash) for one in chunks]
            tokens = {chunk: dict(said) for chunk, said in catalog.chunk_tokens()}
            return notes, keys, tokens, list(catalog.links())
