"""What bfloat16 does to vectors and to the first ten of a ranking, against float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

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
