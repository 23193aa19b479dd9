"""Vectors are exact, and in one order; readers name another model's index."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.sample_index import DIMENSIONS, FINGERPRINT, SampleIndex, matrix_of, record, vector_of

QUERY = vector_of("query")


def of(ids: list[str], matrix: np.ndarray | None = None) -> product.VectorIndex:
    given = matrix_of(ids) if matrix is None else matrix
    return product.VectorIndex.empty(DIMENSIONS).changed((), ids, given)


def rows_of(vectors: list[np.ndarray]) -> np.ndarray:
    return np.array(vectors, dtype=np.float32).reshape(-1, DIMENSIONS)


@pytest.mark.parametrize("copies", [3, 400])
def test_equal_vectors_tie_by_id(copies: int) -> None:
    """The sum of a row must not depend on where in the matrix it stands."""
    rng = np.random.default_rng(5)
    one = rng.standard_normal(384).astype(np.float32)
    one /= np.linalg.norm(one)
    others = rng.standard_normal((copies, 384)).astype(np.float32)
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    ids = [f"{n:04}" for n in range(2 * copies)]
    order = rng.permutation(2 * copies)
    matrix = np.concatenate([np.repeat(one[np.newaxis], copies, axis=0), others])[np.argsort(order)]
    shuffled = [ids[n] for n in order]
    index = product.VectorIndex.empty(384).changed((), shuffled, matrix[order])
    query = np.float32(0.8) * one + np.float32(0.6) * others[0] / 1
    query /= np.linalg.norm(query)
    equal = sorted(one for one, row in zip(ids, matrix, strict=True) if np.array_equal(row, matrix[order[0]]))
    hits = [hit for hit in index.top(query, copies) if hit[0] in equal]
    assert [hit[0] for hit in hits] == equal[: len(hits)]
    assert len({*product.known_similarities(index, query, equal).values()}) == 1


COARSE = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 3)), unique_by=lambda pair: pair[0], max_size=60
)


@given(
    first=COARSE, more=st.lists(COARSE, max_size=4), gone=st.sets(st.integers(0, 99)), k=st.integers(0, 70)
)
def test_any_index_ranks_as_a_list_of_all_its_scores_does(
    first: list[tuple[int, int]], more: list[list[tuple[int, int]]], gone: set[int], k: int
) -> None:
    """With many ties, with rows that were added, taken away and given back."""
    vectors = {n: vector_of(f"coarse {n}") for n in range(4)}
    expected = {f"{n:02}": v for n, v in first}
    index = of([*expected], rows_of([vectors[v] for v in expected.values()]))
    for step in more:
        new = {f"{n:02}": v for n, v in step if f"{n:02}" not in expected}
        index = index.changed((), [*new], rows_of([vectors[v] for v in new.values()]))
        expected |= new
    left_out = {f"{n:02}" for n in gone}
    before, ranked_before = index, index.top(QUERY, 99)
    index = index.changed(left_out, (), rows_of([]))
    back = [one for one in sorted(left_out)[::2] if one in expected]
    index = index.changed((), back, rows_of([vectors[expected[one]] for one in back]))
    left = {one: v for one, v in expected.items() if one not in left_out or one in back}
    scores = {one: round(float(np.vecdot(vectors[v], QUERY)), 6) + 0.0 for one, v in left.items()}
    ranked = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
    assert len(index) == len(left)
    assert index.top(QUERY, k) == ranked[:k]
    for some in (sorted(left)[::3], sorted(left)[::2], [*sorted(left)[1:], "unknown"]):
        assert index.top(QUERY, k, some) == [hit for hit in ranked if hit[0] in some][:k]
    similarities = product.known_similarities(index, QUERY, [*left, "unknown"])
    assert similarities == {one: scores[one] for one in left}
    asked = sorted(left, reverse=True)
    found, rows = index.rows([*asked, "unknown"])
    assert found == asked
    assert np.array_equal(rows, rows_of([vectors[left[one]] for one in asked]))
    assert before.top(QUERY, 99) == ranked_before, "what it was made from stays as it is"


def test_more_rows_than_there_is_room_for_and_few_that_are_left() -> None:
    ids = [f"{n:05}" for n in range(9_000)]
    matrix = np.eye(DIMENSIONS, dtype=np.float32)[np.arange(9_000) % DIMENSIONS]
    index = of(ids[:3_000], matrix[:3_000])
    grown = index.changed((), ids[3_000:], matrix[3_000:])
    assert len(index) == 3_000
    left = grown.changed(ids[1:-1], (), matrix[:0])
    assert left.ids == [ids[0], ids[-1]]
    assert np.array_equal(left.rows([ids[-1], ids[0]])[1], matrix[[-1, 0]])
    assert np.array_equal(grown.rows(ids)[1], matrix)


def test_an_index_made_anew_with_other_settings_is_refused_time_after_time(tmp_path: Path) -> None:
    index = SampleIndex(tmp_path / "index")
    index.write(record("Plan.md", "alpha beta"))
    with product.Reader(index.layout, {"model": FINGERPRINT["model"]}) as reader:
        made = index.layout.beside()
        made.home.mkdir()
        with product.Catalog.open(made.catalog, create=True) as catalog:
            catalog.commit(product.Batch(meta={"fingerprint": {**FINGERPRINT, "model": "another"}}))
        # What is left of the former one stays, as after a kill.
        index.layout.current.write_text(made.home.name)
        for _ in range(2):
            with pytest.raises(product.IndexMismatch):
                reader.snapshot()


def test_a_cache_keeps_no_more_than_it_may() -> None:
    cache: product.BoundedCache[int, int] = product.BoundedCache(3)
    assert [*cache.get(range(9), dict.fromkeys)] == [*range(9)]
    asked: list[int] = []
    cache.get(range(9), lambda missing: asked.extend(missing) or {})
    assert len(asked) == 6
