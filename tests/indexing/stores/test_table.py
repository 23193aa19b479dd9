"""The vector table: exact, in one order, and the same after saving."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import Beside, Rows, VectorTable
from tests.support.sample_index import DIMENSIONS, matrix_of, vector_of

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


def in_memory(_: Path) -> VectorTable:
    return VectorTable.empty(DIMENSIONS).with_tail(IDS, matrix_of(IDS))


def on_disk(folder: Path) -> VectorTable:
    return VectorTable.build(folder, "chunks", IDS, matrix_of(IDS), 3, stamp="s")


def in_parts(folder: Path) -> VectorTable:
    VectorTable.build(folder, "chunks", IDS[:2], matrix_of(IDS[:2]), 3, stamp="s")
    VectorTable.append(folder, "chunks", IDS[2:4], matrix_of(IDS[2:4]), stamp="s")
    return VectorTable.open(folder, "chunks").with_tail(IDS[4:], matrix_of(IDS[4:]))


@pytest.fixture(params=[in_memory, on_disk, in_parts])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> VectorTable:
    make: Callable[[Path], VectorTable] = request.param
    return make(tmp_path / "vectors")


def test_it_ranks_exactly(table: VectorTable) -> None:
    assert len(table) == 5
    assert sorted(table.ids) == IDS
    for k in (1, 3, 5, 99):
        assert close(table.top(QUERY, k), exact(IDS, k))


class Watched(Beside):
    """Remembers which threads worked."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads)
        self.threads: set[int] = set()

    def begun(self, work: Callable[[], T]) -> AbstractContextManager[Callable[[], T]]:
        def told() -> T:
            self.threads.add(threading.get_ident())
            return work()

        return super().begun(told)


def test_it_ranks_the_same_when_threads_share_the_work(tmp_path: Path) -> None:
    ids = [f"{number}" for number in range(9_000)]
    drawn = np.random.default_rng(3).normal(size=(len(ids), DIMENSIONS)).astype(np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    table = VectorTable.build(tmp_path, "chunks", ids[:7_000], drawn[:7_000], 1)
    table = table.with_tail(ids[7_000:], drawn[7_000:]).without(["17", "8000"])
    beside = Watched(2)
    for k, allowed in ((50, None), (50, ids[:6_000]), (9_000, None)):
        assert table.top(QUERY, k, allowed, beside) == table.top(QUERY, k, allowed)
    assert beside.threads - {threading.get_ident()}
    beside.close()


class FailsBeside(np.ndarray[Any, Any]):
    """Vectors that only the main thread can multiply, once another has tried."""

    tried: threading.Event = threading.Event()

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **_: Any
    ) -> Any:
        if threading.current_thread() is not threading.main_thread():
            self.tried.set()
            raise MemoryError("no room")
        assert self.tried.wait(10)
        return getattr(ufunc, method)(*map(np.asarray, inputs), out=out)


def test_what_fails_in_another_thread_is_no_product() -> None:
    matrix = np.ones((9_000, DIMENSIONS), dtype=np.float32)
    rows = Rows.of(DIMENSIONS, [([str(at) for at in range(len(matrix))], matrix.view(FailsBeside))])
    beside = Beside(1)
    with pytest.raises(MemoryError, match="no room"):
        rows.products(QUERY, beside)
    beside.close()


def test_it_ranks_only_the_allowed(table: VectorTable) -> None:
    assert close(table.top(QUERY, 2, allowed={"e", "b", "unknown"}), exact(["b", "e"], 2))
    assert close(table.top(QUERY, 9, allowed=["d", "a", "c", "b", "a"]), exact(IDS[:4], 9))
    assert table.top(QUERY, 5, allowed=()) == []
    assert table.top(QUERY, 0) == []


def test_similarities_are_in_the_order_asked_for(table: VectorTable) -> None:
    found = table.similarities(QUERY, ["c", "unknown", "a", "c"])
    assert found.shape == (4,)
    assert np.isnan(found[1])
    expected = dict(exact(IDS, 5))
    assert np.allclose(found[[0, 2, 3]], [expected["c"], expected["a"], expected["c"]], atol=2e-6)
    assert table.similarities(QUERY, []).shape == (0,)


def test_rows_come_in_the_order_asked_for(table: VectorTable) -> None:
    ids, rows = table.rows(["d", "unknown", "a"])
    assert ids == ["d", "a"]
    assert np.array_equal(rows, matrix_of(["d", "a"]))
    assert table.rows([])[1].shape == (0, DIMENSIONS)


def test_changes_give_another_table_and_leave_this_one(table: VectorTable) -> None:
    less = table.without(["b", "unknown"])
    more = less.with_tail(["f"], matrix_of(["f"]))
    assert sorted(less.ids) == ["a", "c", "d", "e"]
    assert close(more.top(QUERY, 9), exact(["a", "c", "d", "e", "f"], 9))
    assert "b" not in more
    assert "b" in more.restored(["b", "unknown"])
    assert close(table.top(QUERY, 9), exact(IDS, 9))
    assert np.isnan(less.similarities(QUERY, ["b"])).all()


def test_a_vector_given_again_replaces_the_old_one(table: VectorTable) -> None:
    changed = table.with_tail(["b", "a"], matrix_of(["x", "y"]))
    assert len(changed) == 5
    assert np.array_equal(changed.rows(["a", "b"])[1], matrix_of(["y", "x"]))
    assert changed.hidden_rows == table.hidden_rows + 2


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
    table = VectorTable.build(tmp_path, "chunks", [ids[n] for n in order], matrix[order], 1)
    query = np.float32(0.8) * one + np.float32(0.6) * others[0] / 1
    query /= np.linalg.norm(query)
    equal = sorted(
        one for one, row in zip(ids, matrix, strict=True) if np.array_equal(row, matrix[order[0]])
    )
    hits = [hit for hit in table.top(query, copies) if hit[0] in equal]
    assert [hit[0] for hit in hits] == equal[: len(hits)]
    scores = table.similarities(query, equal)
    assert len(set(scores.tolist())) == 1


def test_a_zero_vector_ranks_at_zero(tmp_path: Path) -> None:
    rows = np.concatenate([matrix_of(["a"]), np.zeros((1, DIMENSIONS), dtype=np.float32)])
    table = VectorTable.build(tmp_path, "chunks", ["a", "zero"], rows, 1)
    assert table.similarities(QUERY, ["zero"]).tolist() == [0.0]


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
        VectorTable.empty(DIMENSIONS).with_tail(ids, matrix)


def test_a_query_of_another_length_is_refused(table: VectorTable) -> None:
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        table.top(np.ones(3), 1)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        table.similarities(np.ones(3), ["a"])


names = st.lists(st.sampled_from([f"n{n}" for n in range(12)]), max_size=6, unique=True)


@given(st.lists(st.tuples(st.sampled_from(["add", "hide", "show"]), names), max_size=8), names)
def test_any_sequence_of_changes_ranks_as_the_rest(
    steps: list[tuple[str, list[str]]], allowed: list[str]
) -> None:
    table = VectorTable.empty(DIMENSIONS)
    there: set[str] = set()
    ever: set[str] = set()
    for what, ids in steps:
        if what == "add":
            table = table.with_tail(ids, matrix_of(ids))
            there.update(ids)
            ever.update(ids)
        elif what == "hide":
            table = table.without(ids)
            there.difference_update(ids)
        else:
            table = table.restored(ids)
            there.update(ever.intersection(ids))
    assert len(table) == len(there)
    assert sorted(table.ids) == sorted(there)
    assert close(table.top(QUERY, 4), exact(sorted(there), 4))
    assert close(table.top(QUERY, 4, allowed), exact(sorted(there.intersection(allowed)), 4))


COARSE = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 3)), unique_by=lambda pair: pair[0], max_size=60
)


@given(
    first=COARSE,
    more=st.lists(COARSE, max_size=4),
    gone=st.sets(st.integers(0, 99)),
    k=st.integers(0, 70),
)
def test_any_table_ranks_as_a_list_of_all_its_scores_does(
    first: list[tuple[int, int]], more: list[list[tuple[int, int]]], gone: set[int], k: int
) -> None:
    """With many ties, in parts, with rows that were replaced, taken away and given back."""
    vectors = {n: vector_of(f"coarse {n}") for n in range(4)}
    table = VectorTable.empty(DIMENSIONS)
    expected: dict[str, int] = {}
    for step in (first, *more):
        ids = [f"{n:02}" for n, _ in step]
        table = table.with_tail(
            ids, np.array([vectors[v] for _, v in step]).reshape(-1, DIMENSIONS)
        )
        expected |= {f"{n:02}": v for n, v in step}
    left_out = {f"{n:02}" for n in gone}
    table = table.without(left_out)
    back = sorted(left_out)[::2]
    table = table.restored(back)
    left = {one: v for one, v in expected.items() if one not in left_out or one in back}
    scores = {one: round(float(np.vecdot(vectors[v], QUERY)), 6) + 0.0 for one, v in left.items()}
    ranked = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
    assert len(table) == len(left)
    assert table.top(QUERY, k) == ranked[:k]
    for some in (sorted(left)[::3], sorted(left)[::2], [*sorted(left)[1:], "unknown"]):
        assert table.top(QUERY, k, some) == [hit for hit in ranked if hit[0] in some][:k]
    assert table.similarities(QUERY, [*left, "unknown"])[:-1].tolist() == [
        scores[one] for one in left
    ]


def test_copies_that_grow_apart_do_not_see_each_other(tmp_path: Path) -> None:
    """Rows are added in place where nobody else did; each copy keeps its own."""
    table = on_disk(tmp_path).with_tail(["f"], matrix_of(["f"]))
    one, other = (table.with_tail([name], matrix_of([name])) for name in "gh")
    again = one.with_tail(["i"], matrix_of(["i"]))
    for grown, names in ((table, "f"), (one, "fg"), (other, "fh"), (again, "fgi")):
        assert close(grown.top(QUERY, 99), exact([*IDS, *names], 99))
