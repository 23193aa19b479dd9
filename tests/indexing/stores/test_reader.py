"""The reader: one generation a query, always the newest, whatever of the derived files is there."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from tests.support.product import (
    Batch,
    IndexMismatch,
    IndexMissing,
    Ranking,
    Reader,
    Snapshot,
)
from tests.support.sample_index import DIMENSIONS, SampleIndex, record, vector_of

PLAN = record("Plan.md", "alpha beta", "gamma", to=["Team", "Budget"])
TEAM = record("Team.md", "delta alpha", to=["Plan"], aliases=("Crew", "The  Crew"))
BUDGET = record("Budget.md", "euros")


@pytest.fixture
def filled(index: SampleIndex) -> SampleIndex:
    index.write(PLAN, TEAM, BUDGET)
    return index


def seen(snapshot: Snapshot) -> dict[str, Any]:
    ids = [one for path in snapshot.paths() for one in snapshot.chunk_ids_of(path)]
    sentences = [str(one.sentence_id) for one in snapshot.links_from(snapshot.paths())]
    query = vector_of("query")
    return {
        "generation": snapshot.generation,
        "texts": [chunk.text for chunk in snapshot.chunks(ids).values()],
        "nearest": snapshot.chunk_vectors.top(query, 99),
        "sentences": snapshot.link_vectors.similarities(query, sentences).tolist(),
        "lexical": snapshot.lexical_top(["alpha", "delta", "euros", "new"], 99),
        "links": snapshot.links_from(snapshot.paths()),
        "warnings": snapshot.warnings,
    }


def expected(index: SampleIndex) -> dict[str, Any]:
    with Reader.open(index.layout) as reader, reader.snapshot() as snapshot:
        found = seen(snapshot)
    assert found["warnings"] == ()
    assert not np.isnan(found["sentences"]).any()
    return found


def test_threads_each_see_one_whole_generation(filled: SampleIndex) -> None:
    """Generation n holds n notes ``N.md``, each with its vector, tokens and text."""
    stop = threading.Event()
    wrong: list[object] = []

    def ask() -> None:
        while not stop.is_set():
            with reader.snapshot() as snapshot:
                count = 3 + snapshot.generation - 1
                found = (
                    len(snapshot.paths()),
                    len(snapshot.chunk_vectors) - 1,
                    len(snapshot.notes()),
                    len(
                        snapshot.chunks(
                            one for one, _ in snapshot.chunk_vectors.top(vector_of("q"), 99)
                        )
                    )
                    - 1,
                )
                if set(found) != {count}:
                    wrong.append((snapshot.generation, found))

    with Reader.open(filled.layout) as reader:
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for n in range(8):
            filled.write(record(f"{n}.md", f"new {n}"), derived=n % 3 == 0)
        stop.set()
        for thread in threads:
            thread.join()
        assert reader.refresh() or reader.generation == 9
    assert wrong == []


def test_no_index_yet(index: SampleIndex) -> None:
    with pytest.raises(IndexMissing, match="run: notehop index"):
        Reader.open(index.layout)
    index.catalog().close()
    with pytest.raises(IndexMissing, match="nothing is indexed yet"):
        Reader.open(index.layout)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param(
            {"model": "bge-small", "dimensions": 384, "weights": "b"},
            "index built with all-MiniLM-L6-v2 (8), settings name bge-small (384); "
            "run: notehop index --rebuild",
            id="model",
        ),
        pytest.param(
            {"model": "all-MiniLM-L6-v2", "dimensions": 4},
            "index built with all-MiniLM-L6-v2 (8), settings name all-MiniLM-L6-v2 (4); "
            "run: notehop index --rebuild",
            id="dimensions",
        ),
        pytest.param(
            {"model": "all-MiniLM-L6-v2", "chunker": 2, "language": "de"},
            "index built with chunker None, language None, settings name chunker 2, language de; "
            "run: notehop index --rebuild",
            id="others",
        ),
    ],
)
def test_an_index_built_otherwise_says_how(
    filled: SampleIndex, asked: dict[str, Any], says: str
) -> None:
    with pytest.raises(IndexMismatch) as caught:
        Reader.open(filled.layout, asked)
    assert str(caught.value) == says


def test_an_index_made_anew_is_followed(filled: SampleIndex) -> None:
    """Also with equal ids and generations: only its vectors and texts count."""
    with Reader.open(filled.layout, {"dimensions": DIMENSIONS}) as reader:
        old = reader.snapshot()
        texts = [one.text for one in old.chunks_of("Plan.md")]
        filled.remove()
        with pytest.raises(IndexMissing):
            reader.snapshot()
        filled.write(record("Plan.md", "alpha beta", "other"))
        with reader.snapshot() as snapshot:
            assert seen(snapshot) == expected(filled)
            assert snapshot.generation == old.generation == 1
            assert snapshot.paths() == ["Plan.md"]
        assert [one.text for one in old.chunks_of("Plan.md")] == texts
        old.close()
        filled.remove()
        filled.fingerprint = {"model": "all-MiniLM-L6-v2", "dimensions": 4}
        with filled.catalog() as catalog:
            catalog.commit(Batch(meta={"fingerprint": dict(filled.fingerprint)}))
        with pytest.raises(IndexMismatch, match=r"all-MiniLM-L6-v2 \(4\)"):
            reader.snapshot()


def test_the_ranking_acts_when_a_query_is_answered(filled: SampleIndex) -> None:
    by_title = Ranking(boosts={"content": 0.0})
    with Reader.open(filled.layout, ranking=by_title) as reader, reader.snapshot() as snapshot:
        assert snapshot.lexical_top(["alpha"], 9) == []
        assert len(snapshot.lexical_top(["Plan"], 9)) == 2
