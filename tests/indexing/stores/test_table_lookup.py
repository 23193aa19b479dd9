"""A few rows of a table are found by id as a reader of the whole table finds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from notehop.indexing.stores.table import VectorTable
from notehop.indexing.stores.table_lookup import find_rows
from tests.indexing.stores.index_samples import DIMENSIONS, matrix_of, name_of

WORDS = [f"word {number}" for number in range(40)]
NAMES = [name_of(word) for word in WORDS]


def find(folder: Path, ids: list[str], stamp: str = "s") -> dict[str, list[float]]:
    found, matrix = find_rows(folder, "chunks", stamp, DIMENSIONS, ids)
    assert found == sorted(found)
    assert matrix.shape == (len(found), DIMENSIONS)
    return dict(zip(found, matrix.tolist(), strict=True))


def expected(words: list[str], ids: list[str]) -> dict[str, list[float]]:
    return dict(zip(ids, matrix_of(words).tolist(), strict=True))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    VectorTable.build(tmp_path, "chunks", NAMES[:30], matrix_of(WORDS[:30]), 1, stamp="s")
    VectorTable.append(tmp_path, "chunks", NAMES[30:], matrix_of(WORDS[30:]), stamp="s")
    return tmp_path


@pytest.mark.parametrize("at", [0, 1, 17, 29, 30, 39])
def test_one_wherever_it_stands(table: Path, at: int) -> None:
    assert find(table, [NAMES[at]]) == expected([WORDS[at]], [NAMES[at]])


def test_many_of_several_parts_and_some_unknown(table: Path) -> None:
    asked = [*NAMES[::3], "unknown", name_of("nowhere"), NAMES[0]]
    assert find(table, asked) == expected(WORDS[::3], NAMES[::3])
    assert find(table, []) == {}


def test_ids_that_begin_alike(tmp_path: Path) -> None:
    ids = [f"12345678{letter}" for letter in "abcdefgh"]
    VectorTable.build(tmp_path, "chunks", ids, matrix_of(WORDS[:8]), 1, stamp="s")
    assert find(tmp_path, [ids[2], ids[7], "12345678z"]) == expected(
        [WORDS[2], WORDS[7]], [ids[2], ids[7]]
    )


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(["a", "bb", "ccc"], id="of several lengths"),
        pytest.param(["aaaaaaaaa", "bbbbbbbbbbb", "ccccccccccccc"], id="whose mean is whole"),
        pytest.param(["a", "b", "c"], id="short"),
        pytest.param(["日記日記日", "日記日記月", "日記日記年"], id="of other letters"),
    ],
)
def test_any_ids(tmp_path: Path, ids: list[str]) -> None:
    VectorTable.build(tmp_path, "chunks", ids, matrix_of(WORDS[:3]), 1, stamp="s")
    assert find(tmp_path, [*ids[1:], "d"]) == expected(WORDS[1:3], ids[1:])


def test_of_an_id_in_two_parts_the_later_row(table: Path) -> None:
    VectorTable.append(table, "chunks", [NAMES[3]], matrix_of(["newer"]), stamp="s")
    assert find(table, [NAMES[3]]) == expected(["newer"], [NAMES[3]])


def test_a_table_of_another_index_holds_nothing(table: Path) -> None:
    assert find(table, NAMES, stamp="other") == {}
    assert find_rows(table, "chunks", "s", DIMENSIONS + 1, NAMES)[0] == []
    assert find_rows(table, "links", "s", DIMENSIONS, NAMES)[0] == []


@pytest.mark.parametrize("suffix", [".npy", ".ids"])
def test_what_cannot_be_read_is_not_there(table: Path, suffix: str) -> None:
    [large] = [path for path in table.glob(f"*{suffix}") if path.stat().st_size > 800]
    large.unlink()
    assert find(table, NAMES) == expected(WORDS[30:], NAMES[30:])


@pytest.mark.parametrize("suffix", [".npy", ".ids"])
@pytest.mark.parametrize("left", [0, 40])
def test_what_was_cut_off_is_not_there(table: Path, suffix: str, left: int) -> None:
    [large] = [path for path in table.glob(f"*{suffix}") if path.stat().st_size > 800]
    large.write_bytes(large.read_bytes()[:left])
    assert find(table, NAMES) == expected(WORDS[30:], NAMES[30:])


def test_a_vector_of_another_length_is_not_given(table: Path) -> None:
    [large] = [path for path in table.glob("*.npy") if path.stat().st_size > 1_000]
    matrix = np.load(large, mmap_mode="r+")
    matrix[4] *= 2
    matrix[5] = np.nan
    matrix[6] = 0
    matrix.flush()
    assert find(table, NAMES[3:8]) == expected([WORDS[3], WORDS[7]], [NAMES[3], NAMES[7]])
