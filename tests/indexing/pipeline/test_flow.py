"""Groups of notes, and the order in which they are begun and finished."""

from __future__ import annotations

import pytest

from notehop.indexing.pipeline.flow import groups, one_ahead
from notehop.indexing.vault.walk import FileEntry


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        pytest.param([], [], id="none"),
        pytest.param([1, 1, 1, 1, 1], [[1, 1, 1], [1, 1]], id="no more notes than said"),
        pytest.param([6, 4, 1], [[6, 4], [1]], id="no more bytes than said"),
        pytest.param([1, 40, 1], [[1], [40], [1]], id="a large note is alone"),
    ],
)
def test_groups(sizes: list[int], found: list[list[int]]) -> None:
    files = [FileEntry(f"{at}.md", size, 0, "note") for at, size in enumerate(sizes)]
    made = [*groups(files, 3, 10)]
    assert [[file.size for file in group] for group in made] == found
    assert [file for group in made for file in group] == files


@pytest.mark.parametrize(
    ("count", "order"),
    [
        pytest.param(0, "", id="none"),
        pytest.param(1, "b0 f0", id="one"),
        pytest.param(3, "b0 b1 f0 b2 f1 f2", id="the next is begun before one is finished"),
    ],
)
def test_one_ahead(count: int, order: str) -> None:
    done: list[str] = []

    def begin(number: int) -> int:
        done.append(f"b{number}")
        return number

    done.extend(f"f{number}" for number in one_ahead(range(count), begin))
    assert " ".join(done) == order
