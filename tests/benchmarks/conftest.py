"""A large vault with its index, made once a session: vectors are drawn, everything else is real."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.demo import demo_vault
from config import Settings, load_settings
from indexing.embed.bulk import BulkEmbedder, load_bulk
from indexing.embed.embedder import OnBatch, Vectors
from indexing.embed.onnx_export import export_query_door
from indexing.pipeline import Indexer
from indexing.stores.layout import IndexLayout

NOTES = 10_000
SECTIONS = 3
LINKS = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--large",
        action="store_true",
        help="measure at 100,000 notes too: minutes, and 8 GB of disk",
    )


@pytest.fixture
def sizes(request: pytest.FixtureRequest) -> list[int]:
    """How many notes the indexes have that show what grows with them."""
    return [1_000, 10_000, *([100_000] if request.config.getoption("large") else [])]


class DrawnVectors:
    """The real model's tokenizer and window, with vectors drawn by the text instead of computed."""

    def __init__(self, model: BulkEmbedder) -> None:
        self.llama = model.llama
        self.dimensions = model.dimensions
        self.max_tokens = model.max_tokens
        self.tokens = model.tokens
        self.cut = 0
        self.identity = model.identity

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = np.random.default_rng(zlib.crc32(text.encode())).normal(size=self.dimensions)
        if on_batch is not None:
            on_batch(len(texts))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@dataclass(frozen=True)
class Large:
    """The vault, its index, and queries made of its words."""

    vault: Path
    layout: IndexLayout
    settings: Settings
    model: DrawnVectors
    queries: list[str]

    def index(self) -> Any:
        indexer = Indexer(
            self.vault,
            self.settings,
            self.layout,
            load=lambda *_: self.model,  # type: ignore[arg-type]
        )
        return indexer.run()


def words() -> list[str]:
    """The words of the demo vault, by frequency."""
    text = " ".join(path.read_text(encoding="utf-8") for path in demo_vault().rglob("*.md"))
    plain = [word for word in text.split() if word.isalpha()]
    counted = {word: plain.count(word) for word in dict.fromkeys(plain)}
    return sorted(counted, key=lambda word: (-counted[word], word))


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Large:
    folder = tmp_path_factory.mktemp("large")
    vault, layout = folder / "vault", IndexLayout(folder / "index")
    chance = np.random.default_rng(0)
    vocabulary = np.asarray(words())
    weight = 1 / np.arange(1, len(vocabulary) + 1)
    weight /= weight.sum()

    def prose(count: int) -> str:
        return " ".join(chance.choice(vocabulary, size=count, p=weight))

    for number in range(NOTES):
        target = vault / f"{number % 40:02d}" / f"Note {number}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        sections = []
        for section in range(SECTIONS):
            links = chance.integers(NOTES, size=LINKS // SECTIONS + (section < LINKS % SECTIONS))
            linked = " ".join(f"{prose(8).capitalize()} [[Note {link}]]." for link in links)
            sections.append(f"## {prose(3)}\n\n{prose(90).capitalize()}. {linked}\n")
        target.write_text("\n".join(sections), encoding="utf-8")
    settings = load_settings()
    real = load_bulk(settings.embedding)
    layout.create(vault)
    export_query_door(real, layout.model)
    queries = [f"What {prose(2)} about {prose(4)}?" for _ in range(60)]
    made = Large(vault, layout, settings, DrawnVectors(real), queries)
    made.index()
    return made
