"""Indexing: a first run against the bare model, one without changes, and what bfloat16 changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.benchmarks.conftest import Large
from tests.benchmarks.drawn import write_vault
from tests.benchmarks.pairs import say
from tests.support.product import (
    Catalog,
    Indexer,
    IndexLayout,
    ModelError,
    demo_vault,
    embedded_text,
    load_bulk,
    load_query,
    load_settings,
)

pytestmark = pytest.mark.bench

NOTES = 400
"""Each with eight texts of its own. Copies of a few notes would measure something else: a text that
stands in twelve notes is embedded once, and stored twelve times."""


def test_first_index_against_the_bare_model(tmp_path: Path) -> None:
    """The same texts through the model alone, in one call, and through a whole run; in turns."""
    vault = tmp_path / "vault"
    write_vault(vault, NOTES)
    settings = load_settings()
    model = load_bulk(settings.embedding)
    bare, whole = [], []
    texts: list[str] = []
    for turn in range(3):
        layout = IndexLayout(tmp_path / f"index{turn}")
        started = perf_counter()
        Indexer(vault, settings, layout, load=lambda *_: model).run()
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


def _texts(layout: IndexLayout) -> list[str]:
    with Catalog.open(layout.catalog) as catalog:
        titles = {note.path: note.title for note in catalog.notes()}
        rows = catalog.chunks(key.id for key in catalog.chunk_keys()).values()
        said = {
            link.sentence_id: f"{titles[link.path]}: {link.sentence}"
            for link in catalog.links()
            if link.sentence_id
        }
    texts = {
        row.embedded_hash: embedded_text(titles[row.path], row.heading_path, row.text)
        for row in rows
    }
    return [*texts.values(), *said.values()]


def test_a_run_without_changes(large: Large) -> None:
    command = [
        sys.executable,
        "-m",
        "notehop.indexing",
        large.vault,
        "--index-dir",
        large.layout.root,
    ]
    seconds = []
    for _ in range(3):
        started = perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        seconds.append(perf_counter() - started)
    say("index, nothing changed, 10,000 notes, with start", f"{min(seconds):.2f} s", "budget 2 s")


TOP = 10
MOST = 300
"""Headings that are asked for, those of two words or more."""


def test_first_ten_in_both_precisions(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """The headings of a vault as queries, over its passages: the demo's, or of ``--vault PATH``."""
    vault = Path(request.config.getoption("vault") or demo_vault())
    settings = load_settings()
    layout = IndexLayout(tmp_path / "index")
    Indexer(vault, settings, layout).run()
    texts, headings = _passages(layout)
    door = load_query(layout.model, settings.embedding)
    asked = np.array([door.embed_query(heading) for heading in headings])
    exact = load_bulk(settings.embedding.model_copy(update={"precision": "float32"})).embed(texts)
    try:
        half = load_bulk(settings.embedding.model_copy(update={"precision": "bfloat16"}))
    except ModelError as exc:
        say("bfloat16 is refused", str(exc))
        return
    halved = half.embed(texts)
    cosines = (exact * halved).sum(axis=1)
    first, second = _top(asked @ exact.T), _top(asked @ halved.T)
    shared = [len({*a} & {*b}) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    best = -np.sort(-(asked @ exact.T), axis=1)
    gaps = best[:, TOP - 1] - best[:, TOP]
    differing = gaps[np.array(shared) < TOP]
    print()
    say("passages, headings asked for", f"{len(texts)}, {len(headings)}")
    say("cosine to float32, least and median", f"{cosines.min():.5f}, {np.median(cosines):.5f}")
    say("the first ten are the same", f"{np.mean(np.array(shared) == TOP):.1%}")
    say("of ten, the same", f"{np.mean(shared):.2f}")
    say("the first is the same", f"{np.mean(first[:, 0] == second[:, 0]):.1%}")
    if len(differing):
        say(
            "where they differ, 10th to 11th in float32", f"at most {differing.max():.4f} of cosine"
        )


def _passages(layout: IndexLayout) -> tuple[list[str], list[str]]:
    with Catalog.open(layout.catalog) as catalog:
        titles = {note.path: note.title for note in catalog.notes()}
        rows = catalog.chunks(key.id for key in catalog.chunk_keys()).values()
    texts = [embedded_text(titles[row.path], row.heading_path, row.text) for row in rows]
    headings = {row.heading_path[-1] for row in rows if row.heading_path}
    return texts, sorted(one for one in headings if " " in one)[:MOST]


def _top(scores: NDArray[np.float32]) -> NDArray[np.intp]:
    return np.argsort(-scores, axis=1, kind="stable")[:, :TOP]
