"""A vault whose settings name a cross-encoder: its order is shown, and it breaks nothing."""

from __future__ import annotations

import os
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


def test_the_earlier_rank_is_kept_for_whoever_asks(opened: VaultHandle) -> None:
    nodes = opened.retriever().retrieve(QUERY)
    sources = [node for node in nodes if node.node.metadata["role"] == "source"]
    records = [node.node.metadata["rerank"] for node in sources]
    assert sorted(one["rank_before"] for one in records) == list(range(1, len(sources) + 1))
    assert [one["score"] for one in records] == [node.score for node in sources]


def test_notes_are_merged_after_it(opened: VaultHandle) -> None:
    chunks = opened.search(QUERY, top_k=10).hits
    notes = opened.search(QUERY, top_k=10, results="notes").hits
    best = {hit.path: hit.id for hit in reversed(chunks)}
    assert [hit.id for hit in notes] == [hit.id for hit in chunks if best[hit.path] == hit.id]


@pytest.mark.parametrize(
    ("name", "path"),
    [("Plan", "Plan.md"), ("Project A", "Atlas.md"), ("Bread", "Bread.md")],
    ids=["title", "alias", "another title"],
)
def test_a_title_stays_first(opened: VaultHandle, name: str, path: str) -> None:
    assert opened.search(name).hits[0].path == path


def test_a_passage_that_is_not_in_the_vault_any_more_is_not_shown(
    indexed: tuple[Path, Path], model: Path
) -> None:
    file = indexed[0] / "Plan.md"
    before, times = file.read_bytes(), file.stat()
    file.write_text("# Plan\nNothing of that.\n", encoding="utf-8")
    try:
        with open_with(indexed, **{"rerank.model": str(model)}) as vault:
            found = vault.search(QUERY)
        assert "Plan.md" not in {hit.path for hit in found.hits}
        assert any("left out" in warning for warning in found.warnings)
    finally:
        file.write_bytes(before)
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


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


def test_an_answer_carries_the_warning_too(indexed: tuple[Path, Path], model: Path) -> None:
    with open_with(indexed, **{"rerank.model": str(model), "rerank.budget_ms": 0.001}) as vault:
        answer = vault.ask(QUERY)
    assert any("rerank.budget_ms" in warning for warning in answer.warnings)
    assert answer.sources
