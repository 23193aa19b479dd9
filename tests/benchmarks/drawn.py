"""Vaults of any size, and a model whose vectors are drawn: all else of indexing is real.

As a program it indexes a vault from nothing and prints seconds and the most memory that took:
``python -m tests.benchmarks.drawn VAULT INDEX``.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from tests.support import product
from tests.support.product import EmbedderVectors as Vectors

FOLDERS = 40
SECTIONS = 3
LINKS = 5


def peak_mb() -> float:
    """The most memory of this process so far; not ru_maxrss, which begins with its parent's."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3


class DrawnVectors:
    """The real model's tokenizer and window, with vectors drawn by the text instead of computed."""

    def __init__(self, model: product.TorchEmbedding | product.QueryEmbedder) -> None:
        self.dimensions = model.dimensions
        self.max_tokens = model.max_tokens
        self.tokens = model.tokens
        self.identity = model.identity

    def embed(self, texts: Sequence[str], on_batch: product.OnBatch | None = None) -> Vectors:
        rows = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            chance = np.random.default_rng(zlib.crc32(text.encode()))
            row[:] = chance.standard_normal(self.dimensions, dtype=np.float32)
        if on_batch is not None:
            on_batch(len(texts))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def words() -> list[str]:
    text = " ".join(path.read_text(encoding="utf-8") for path in product.demo_vault().rglob("*.md"))
    plain = [word for word in text.split() if word.isalpha()]
    counted = {word: plain.count(word) for word in dict.fromkeys(plain)}
    return sorted(counted, key=lambda word: (-counted[word], word))


def prose(seed: int = 0) -> Callable[[int], str]:
    chance = np.random.default_rng(seed)
    vocabulary = np.asarray(words())
    weight = 1 / np.arange(1, len(vocabulary) + 1)
    weight /= weight.sum()
    return lambda count: " ".join(chance.choice(vocabulary, size=count, p=weight))


def write_vault(vault: Path, notes: int) -> None:
    """Write notes of three sections of about 120 words and five links, in forty folders."""
    chance, said = np.random.default_rng(0), prose()
    for number in range(notes):
        target = vault / note_path(number)
        target.parent.mkdir(parents=True, exist_ok=True)
        sections = []
        for section in range(SECTIONS):
            links = chance.integers(notes, size=LINKS // SECTIONS + (section < LINKS % SECTIONS))
            linked = " ".join(f"{said(8).capitalize()} [[Note {link}]]." for link in links)
            sections.append(f"## {said(3)}\n\n{said(90).capitalize()}. {linked}\n")
        target.write_text("\n".join(sections), encoding="utf-8")


def note_path(number: int) -> str:
    return f"{number % FOLDERS:02d}/Note {number}.md"


def make_door(layout: product.IndexLayout, vault: Path) -> product.TorchEmbedding:
    """Make the folder of an index with the bundled model's query door in it."""
    real = product.load_bulk(product.load_settings().embedding)
    layout.create(vault)
    product.export_query_model(real, layout.model)
    return real


def indexer(vault: Path, layout: product.IndexLayout) -> product.Indexer:
    """An indexer of a vault whose index has its query door."""
    settings = product.load_settings()
    model = DrawnVectors(product.load_query(layout.model, settings.embedding))
    return product.Indexer(vault, settings, layout, load=lambda *_: model)  # type: ignore[arg-type]


if __name__ == "__main__":
    started = perf_counter()
    indexer(Path(sys.argv[1]), product.IndexLayout(Path(sys.argv[2]))).run()
    print(perf_counter() - started, peak_mb())
