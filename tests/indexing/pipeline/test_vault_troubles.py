"""What a disk may do to a vault: not answer, or show another note under the same size and time."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.notes import Bench
from tests.support.product import Indexer, reading

OLD = (1.6e9, 1.6e9)


def indexer(bench: Bench) -> Indexer:
    return Indexer(bench.vault, bench.settings, bench.layout, load=bench.model.load)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """Name of a note -> the number of the error with which it cannot be read."""
    numbers: dict[str, int] = {}
    real = reading.open_below

    def opened(root: Path, path: str, *arguments: Any, **named: Any) -> Any:
        if path in numbers:
            raise OSError(numbers[path], os.strerror(numbers[path]))
        return real(root, path, *arguments, **named)

    monkeypatch.setattr(reading, "open_below", opened)
    return numbers


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENOTCONN, errno.ETIMEDOUT])
def test_a_disk_that_does_not_answer_takes_nothing_from_the_index(
    bench: Bench, broken: dict[str, int], number: int
) -> None:
    bench.write("a.md", "0.1")
    bench.index()
    before = bench.content()
    bench.write("a.md", "0.25 and more")
    bench.write("b.md", "0.5")
    broken |= {"a.md": number, "b.md": number}
    report = bench.index()
    [(path, reason)] = report.failed
    assert (path, report.changed, report.notes) == ("b.md", 0, 1)
    assert "cannot be read now" in reason
    assert any(told.startswith("a.md: cannot be read now") for told in report.warnings)
    assert bench.content()[1:] == before[1:]
    broken.clear()
    report = bench.index()
    assert (report.changed, report.added, report.failed) == (1, 1, ())
    assert "more" in bench.chunks("a.md")[0].text


def test_a_note_without_its_rights_has_failed(bench: Bench, broken: dict[str, int]) -> None:
    bench.write("a.md", "0.1")
    bench.index()
    bench.write("a.md", "0.25 and more")
    broken["a.md"] = errno.EACCES
    assert [path for path, _ in bench.index().failed] == ["a.md"]
    assert bench.chunks("a.md") == []


@pytest.mark.parametrize(
    "told", [["a.md", "b.md"], ["a.md"], None], ids=["both", "one", "by a whole look"]
)
def test_a_note_moved_over_one_of_its_size_and_time(bench: Bench, told: list[str] | None) -> None:
    bench.write("a.md", "the limit is 100")
    bench.write("b.md", "the limit is 900")
    for name in ("a.md", "b.md"):
        os.utime(bench.vault / name, OLD)
    follower = indexer(bench)
    follower.update()
    (bench.vault / "b.md").replace(bench.vault / "a.md")
    follower.update(told)
    assert [chunk.text for chunk in bench.chunks("a.md")] == ["the limit is 900"]


def test_a_report_of_no_change_writes_nothing(bench: Bench) -> None:
    bench.write("a.md", "0.1")
    os.utime(bench.vault / "a.md", OLD)
    follower = indexer(bench)
    follower.update()
    assert not follower.update(["a.md"]).wrote
