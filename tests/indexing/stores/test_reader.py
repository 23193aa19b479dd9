"""Vectors are exact, in one order, and the same after saving; readers see one generation whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import (
    Batch,
    IndexDamaged,
    IndexMismatch,
    IndexMissing,
    Ranking,
    Reader,
    Snapshot,
    VectorIndex,
    write_vectors,
)
from tests.support.sample_index import DIMENSIONS, SampleIndex, matrix_of, record, vector_of

T = TypeVar("T")

IDS = ["a", "b", "c", "d", "e"]
QUERY = vector_of("query")


def exact(ids: list[str], k: int) -> list[tuple[str, float]]:
    hits = [(one, round(float(np.float64(vector_of(one) @ QUERY)), 6) + 0.0) for one in ids]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:k]


def close(found: list[tuple[str, float]], expected: list[tuple[str, float]]) -> bool:
    return [one for one, _ in found] == [one for one, _ in expected] and np.allclose(
        [score for _, score in found], [score for _, score in expected], atol=2e-6
    )


def of(ids: list[str], matrix: np.ndarray | None = None) -> VectorIndex:
    return VectorIndex.empty(DIMENSIONS).with_ids(
        ids, ids, matrix_of(ids) if matrix is None else matrix
    )


def on_disk(folder: Path) -> VectorIndex:
    write_vectors(folder / "chunks.vectors", "s", 3, DIMENSIONS, [(IDS, matrix_of(IDS))])
    return VectorIndex.read(folder / "chunks.vectors")


def in_both(folder: Path) -> VectorIndex:
    blocks = [(IDS[:1], matrix_of(IDS[:1])), (IDS[1:3], matrix_of(IDS[1:3]))]
    write_vectors(folder / "chunks.vectors", "s", 3, DIMENSIONS, blocks)
    read = VectorIndex.read(folder / "chunks.vectors")
    assert (read.generation, read.stamp, read.dimensions) == (3, "s", DIMENSIONS)
    return read.with_ids(IDS[3:], IDS[3:], matrix_of(IDS[3:]))


@pytest.fixture(params=[lambda _: of(IDS), on_disk, in_both])
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> VectorIndex:
    make: Callable[[Path], VectorIndex] = request.param
    return make(tmp_path / "vectors")


def test_it_ranks_exactly(vectors: VectorIndex) -> None:
    assert len(vectors) == 5
    assert sorted(vectors.ids) == IDS
    for k in (1, 3, 5, 99):
        assert close(vectors.top(QUERY, k), exact(IDS, k))


def test_it_ranks_only_the_allowed(vectors: VectorIndex) -> None:
    assert close(vectors.top(QUERY, 2, allowed={"e", "b", "unknown"}), exact(["b", "e"], 2))
    assert close(vectors.top(QUERY, 9, allowed=["d", "a", "c", "b", "a"]), exact(IDS[:4], 9))
    assert vectors.top(QUERY, 5, allowed=()) == []
    assert vectors.top(QUERY, 0) == []


def test_rows_come_in_the_order_asked_for(vectors: VectorIndex) -> None:
    ids, rows = vectors.rows(["d", "unknown", "a"])
    assert ids == ["d", "a"]
    assert np.array_equal(rows, matrix_of(["d", "a"]))
    assert vectors.rows([])[1].shape == (0, DIMENSIONS)


def test_changes_give_another_index_and_leave_this_one(vectors: VectorIndex) -> None:
    less = vectors.without(["b", "unknown"])
    more = less.with_ids(["f"], ["f"], matrix_of(["f"]))
    assert sorted(less.ids) == ["a", "c", "d", "e"]
    assert close(more.top(QUERY, 9), exact(["a", "c", "d", "e", "f"], 9))
    assert "b" not in more
    assert more.unknown(["b", "g"]) == ["g"]
    assert "b" in more.with_ids(["b", "unknown"])
    assert close(vectors.top(QUERY, 9), exact(IDS, 9))
    assert np.isnan(less.similarities(QUERY, ["b"])).all()


@pytest.mark.parametrize("copies", [3, 400])
def test_equal_vectors_tie_by_id(tmp_path: Path, copies: int) -> None:
    """The sum of a row must not depend on where in the matrix it stands."""
    rng = np.random.default_rng(5)
    one = rng.standard_normal(384).astype(np.float32)
    one /= np.linalg.norm(one)
    others = rng.standard_normal((copies, 384)).astype(np.float32)
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    ids = [f"{n:04}" for n in range(2 * copies)]
    order = rng.permutation(2 * copies)
    matrix = np.concatenate([np.repeat(one[np.newaxis], copies, axis=0), others])[np.argsort(order)]
    write_vectors(tmp_path / "a", "s", 1, 384, [([ids[n] for n in order], matrix[order])])
    index = VectorIndex.read(tmp_path / "a")
    query = np.float32(0.8) * one + np.float32(0.6) * others[0] / 1
    query /= np.linalg.norm(query)
    equal = sorted(
        one for one, row in zip(ids, matrix, strict=True) if np.array_equal(row, matrix[order[0]])
    )
    hits = [hit for hit in index.top(query, copies) if hit[0] in equal]
    assert [hit[0] for hit in hits] == equal[: len(hits)]
    scores = index.similarities(query, equal)
    assert len(set(scores.tolist())) == 1


@pytest.mark.parametrize(
    ("ids", "matrix", "says"),
    [
        pytest.param(["a"], matrix_of(["a", "b"]), r"1 ids and vectors of shape \(2", id="count"),
        pytest.param(["a"], matrix_of(["a"])[:, :4], r"expected \(1, 8\)", id="length"),
        pytest.param(["a", "a"], matrix_of(["a", "b"]), "twice", id="twice"),
        pytest.param(["a"], matrix_of(["a"]) * 3, "has length 3.000", id="not normalised"),
        pytest.param(["a"], matrix_of(["a"]) * np.float32(np.nan), "has length nan", id="nan"),
    ],
)
def test_wrong_vectors_are_refused(ids: list[str], matrix: np.ndarray, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        of(ids, matrix)


names = st.lists(st.sampled_from([f"n{n}" for n in range(12)]), max_size=6, unique=True)

COARSE = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 3)), unique_by=lambda pair: pair[0], max_size=60
)


@given(
    first=COARSE,
    more=st.lists(COARSE, max_size=4),
    gone=st.sets(st.integers(0, 99)),
    k=st.integers(0, 70),
)
def test_any_index_ranks_as_a_list_of_all_its_scores_does(
    first: list[tuple[int, int]], more: list[list[tuple[int, int]]], gone: set[int], k: int
) -> None:
    """With many ties, with rows that were added, taken away and given back."""
    vectors = {n: vector_of(f"coarse {n}") for n in range(4)}
    index = VectorIndex.empty(DIMENSIONS)
    expected: dict[str, int] = {}
    for step in (first, *more):
        ids = [f"{n:02}" for n, _ in step]
        new = {f"{n:02}": v for n, v in step if f"{n:02}" not in expected}
        assert index.unknown(ids) == [*new]
        matrix = np.array([vectors[v] for v in new.values()]).reshape(-1, DIMENSIONS)
        index = index.with_ids(ids, [*new], matrix)
        expected |= new
    left_out = {f"{n:02}" for n in gone}
    index = index.without(left_out)
    back = sorted(left_out)[::2]
    index = index.with_ids(back)
    left = {one: v for one, v in expected.items() if one not in left_out or one in back}
    scores = {one: round(float(np.vecdot(vectors[v], QUERY)), 6) + 0.0 for one, v in left.items()}
    ranked = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
    assert len(index) == len(left)
    assert index.top(QUERY, k) == ranked[:k]
    for some in (sorted(left)[::3], sorted(left)[::2], [*sorted(left)[1:], "unknown"]):
        assert index.top(QUERY, k, some) == [hit for hit in ranked if hit[0] in some][:k]
    assert index.similarities(QUERY, [*left, "unknown"])[:-1].tolist() == [
        scores[one] for one in left
    ]


def test_copies_that_grow_apart_do_not_see_each_other(tmp_path: Path) -> None:
    """Rows are added in place; each copy shows its own."""

    def grown(vectors: VectorIndex, name: str) -> VectorIndex:
        return vectors.with_ids([name], [name], matrix_of([name]))

    index = grown(on_disk(tmp_path), "f")
    one, other = grown(index, "g"), grown(index, "h")
    again = grown(one, "i")
    for copy, names in ((index, "f"), (one, "fg"), (other, "fh"), (again, "fgi")):
        assert close(copy.top(QUERY, 99), exact([*IDS, *names], 99))
        some = ["a", *"fghi"]
        assert close(copy.top(QUERY, 99, some), exact(["a", *names], 99))
        known = ~np.isnan(copy.similarities(QUERY, some))
        assert [one for one, there in zip(some, known, strict=True) if there] == ["a", *names]


def test_more_rows_than_there_is_room_for_and_few_that_are_left() -> None:
    ids = [f"{n:05}" for n in range(9_000)]
    matrix = np.eye(DIMENSIONS, dtype=np.float32)[np.arange(9_000) % DIMENSIONS]
    index = of(ids[:3_000], matrix[:3_000])
    grown = index.with_ids(ids[3_000:], ids[3_000:], matrix[3_000:])
    assert len(index) == 3_000
    left = grown.without(ids[1:-1])
    assert (left.ids, left.unknown(ids[:2])) == ([ids[0], ids[-1]], [ids[1]])
    assert np.array_equal(left.rows([ids[-1], ids[0]])[1], matrix[[-1, 0]])
    assert np.array_equal(grown.rows(ids)[1], matrix)


@pytest.mark.parametrize("at", [0, 40, 520, -1])
@pytest.mark.parametrize("cut", [True, False])
def test_a_file_that_is_not_as_it_was_written_is_refused(
    tmp_path: Path, at: int, *, cut: bool
) -> None:
    on_disk(tmp_path)
    file = tmp_path / "chunks.vectors"
    found = bytearray(file.read_bytes())
    found[at] ^= 1
    file.write_bytes(found[:at] if cut else found)
    with pytest.raises(IndexDamaged, match="run: notehop index"):
        VectorIndex.read(file)
    with pytest.raises(IndexMissing):
        VectorIndex.read(tmp_path / "links.vectors")


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
        "sentences": snapshot.sentence_similarities(query, sentences),
        "lexical": snapshot.lexical_top(["alpha", "delta", "euros", "new"], 99),
        "links": snapshot.links_from(snapshot.paths()),
        "warnings": snapshot.warnings,
    }


def expected(index: SampleIndex) -> dict[str, Any]:
    with Reader.open(index.layout) as reader, reader.snapshot() as snapshot:
        found = seen(snapshot)
    assert found["warnings"] == ()
    assert found["sentences"].keys() == {link.sentence_id for link in found["links"]}
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
        reader.snapshot().close()
        assert reader.generation == 9
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
