"""A vault whose settings name a cross-encoder: its order is shown, and it breaks nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.retrieval.tiny_cross_encoder import save_cross_encoder
from tests.support.product import VaultHandle, locate, open_place

pytestmark = pytest.mark.model

QUERY = "Why is the launch of Atlas so late?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_cross_encoder(tmp_path_factory.mktemp("models") / "tiny", seed=1)


@pytest.fixture(scope="module")
def opened(indexed: tuple[Path, Path], model: Path) -> Iterator[VaultHandle]:
    vault = open_with(indexed, **{"rerank.model": str(model), "rerank.budget_ms": 60_000})
    with vault:
        yield vault


def open_with(indexed: tuple[Path, Path], **settings: object) -> VaultHandle:
    return open_place(locate(indexed[0], index_dir=indexed[1], overrides=settings))


def test_hits_stand_in_the_order_of_the_cross_encoder(
    opened: VaultHandle, indexed: tuple[Path, Path]
) -> None:
    with open_with(indexed) as plain:
        fused = [hit.id for hit in plain.search(QUERY).hits]
    found = opened.search(QUERY)
    assert {hit.id for hit in found.hits} == set(fused)
    assert [hit.id for hit in found.hits] != fused
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert {"rerank", "rerank model"} <= set(found.timings_ms)
    assert found.warnings == []


def test_a_model_that_is_not_here_is_said_and_the_fused_order_stands(
    indexed: tuple[Path, Path], tmp_path: Path
) -> None:
    with open_with(indexed) as plain:
        fused = [hit.id for hit in plain.search(QUERY).hits]
    with open_with(indexed, **{"rerank.model": str(tmp_path / "gone")}) as vault:
        vault.warm()
        found = vault.search(QUERY)
    assert [hit.id for hit in found.hits] == fused
    [warning] = found.warnings
    assert warning.startswith("not reranked, the fused order stands: rerank.model: there is no")
