"""Indexing: a first run against the bare model, one without changes, and what bfloat16 changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from tests.benchmarks.conftest import Large
from tests.benchmarks.drawn import write_vault
from tests.benchmarks.pairs import say
from tests.support import product

pytestmark = pytest.mark.bench

NOTES = 400
"""Each with eight texts of its own. Copies of a few notes would measure something else: a text that
stands in twelve notes is embedded once, and stored twelve times."""


def test_first_index_against_the_bare_model(tmp_path: Path) -> None:
    """The same texts through the model alone, in one call, and through a whole run; in turns."""
    vault = tmp_path / "vault"
    write_vault(vault, NOTES)
    settings = product.load_settings()
    model = product.load_bulk(settings.embedding)
    bare, whole = [], []
    texts: list[str] = []
    for turn in range(3):
        layout = product.IndexLayout(tmp_path / f"index{turn}")
        started = perf_counter()
        product.Indexer(vault, settings, layout, load=lambda *_: model).run()
        whole.append(perf_counter() - started)
        texts = texts or _texts(layout)
        started = perf_counter()
        model.embed(texts)
        bare.append(perf_counter() - started)
    shares = sorted(b / w for b, w in zip(bare, whole, strict=True))
    print()
    say("texts embedded", f"{len(texts)}, {model.precision}")
    say("bare model", f"{len(texts) / min(bare):.0f} texts/s")
    say("first index / bare throughput", f"{shares[1]:.2f}", "budget 0.85")


def _texts(layout: product.IndexLayout) -> list[str]:
    with product.Catalog.open(layout.catalog) as catalog:
        titles = {note.path: note.title for note in catalog.notes()}
        rows = catalog.chunks(key.id for key in catalog.chunk_keys()).values()
        said = {
            link.sentence_id: f"{titles[link.path]}: {link.sentence}"
            for link in catalog.links()
            if link.sentence_id
        }
    texts = {
        row.embedded_hash: product.embedded_text(titles[row.path], row.heading_path, row.text) for row in rows
    }
    return [*texts.values(), *said.values()]


def test_a_run_without_changes(large: Large) -> None:
    command = [sys.executable, "-m", "notehop.indexing", large.vault, "--index-dir", large.layout.root]
    seconds = []
    for _ in range(3):
        started = perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        seconds.append(perf_counter() - started)
    say("index, nothing changed, 10,000 notes, with start", f"{min(seconds):.2f} s", "budget 2 s")
