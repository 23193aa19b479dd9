"""Vectors are those of the index's model, with its prompts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from notehop import open_vault
from tests.support.product import EmbedQuery, VaultHandle

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def opened(indexed: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(indexed[0], index_dir=indexed[1]) as vault:
        yield vault


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_vectors(opened: VaultHandle, kind: str) -> None:
    texts = ["the launch of the map", "bread", "the launch of the map"]
    found = opened.embed(EmbedQuery(texts=texts, kind=kind))  # type: ignore[arg-type]
    assert (found.model, found.dimensions) == ("all-MiniLM-L6-v2", 384)
    rows = np.array(found.vectors)
    assert rows.shape == (3, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(rows[0], rows[2])
    assert rows[0] @ rows[1] < 0.9


def test_a_query_is_near_to_what_the_index_holds(opened: VaultHandle) -> None:
    [vector] = opened.embed(EmbedQuery(texts=["When is the launch of Atlas?"])).vectors
    with opened._machinery.reader.snapshot() as view:
        [(best, _)] = view.chunk_vectors.top(np.array(vector, dtype=np.float32), 1)
        assert view.path_of(best) == "Atlas.md"
