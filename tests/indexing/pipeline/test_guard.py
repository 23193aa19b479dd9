"""A vault that is not there is not taken for one whose notes were deleted; what a disk may do to it."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.notes import Bench
from tests.support.product import MassDeletion, VaultError, note_parser
from tests.support.tables import rows

NOTES = 24


@pytest.fixture
def full(bench: Bench) -> Bench:
    for number in range(NOTES):
        bench.write(f"{number}.md", f"Words of note {number}.")
    bench.index()
    return bench


def lose(bench: Bench, first: int, last: int) -> None:
    for number in range(first, last):
        (bench.vault / f"{number}.md").unlink()


@pytest.mark.parametrize(
    ("notes", "gone", "new", "refused"), rows(__file__, "more_than_half_may_not_go_at_once")
)
def test_more_than_half_may_not_go_at_once(
    bench: Bench, notes: int, gone: int, new: int, refused: bool
) -> None:
    for number in range(notes):
        bench.write(f"{number}.md", f"Words of note {number}.")
    bench.index()
    before = bench.content()
    lose(bench, 0, gone)
    for number in range(new):
        bench.write(f"new/{number}.md", f"Other words, {number} of them.")
    if refused:
        with pytest.raises(MassDeletion, match=rf"{gone} of the {notes} notes .* --allow-mass-del"):
            bench.index()
        assert bench.content() == before
    else:
        assert bench.index().notes == notes - gone + new


@pytest.mark.parametrize("rebuild", [False, True])
def test_what_is_allowed_is_done(full: Bench, rebuild: bool) -> None:
    lose(full, 0, NOTES)
    report = full.indexer().run(rebuild=rebuild, allow_mass_delete=True)
    assert report.notes == 0


def test_a_vault_that_is_not_there_is_an_error_and_nothing_changes(full: Bench) -> None:
    full.vault.rename(full.vault.with_name("away"))
    for rebuild in (False, True):
        with pytest.raises(VaultError):
            full.index(rebuild=rebuild)
    full.vault.with_name("away").rename(full.vault)
    assert full.index().unchanged == NOTES


OLD = (1.6e9, 1.6e9)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, int]]:
    """Name of a note -> the number of the error with which it cannot be read."""
    numbers: dict[str, int] = {}
    real = note_parser.open_below

    def opened(root: Path, path: str, *arguments: Any, **named: Any) -> Any:
        if path in numbers:
            raise OSError(numbers[path], os.strerror(numbers[path]))
        return real(root, path, *arguments, **named)

    monkeypatch.setattr(note_parser, "open_below", opened)
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


def test_a_note_that_goes_while_it_is_read_is_counted_by_the_next_run(
    bench: Bench, broken: dict[str, int]
) -> None:
    """Else folders that go one after the other would pass the guard against mass deletions."""
    bench.write("a.md", "0.1")
    bench.index()
    bench.write("a.md", "0.25 and more")
    broken["a.md"] = errno.ENOENT
    report = bench.index()
    assert (report.deleted, report.notes, report.failed) == (0, 1, ())
    assert any(told.startswith("a.md: cannot be read now: it was") for told in report.warnings)
    (bench.vault / "a.md").unlink()
    report = bench.indexer().run(allow_mass_delete=True)
    assert (report.deleted, report.notes) == (1, 0)


def test_a_note_without_its_rights_has_failed(bench: Bench, broken: dict[str, int]) -> None:
    bench.write("a.md", "0.1")
    bench.index()
    bench.write("a.md", "0.25 and more")
    broken["a.md"] = errno.EACCES
    assert [path for path, _ in bench.index().failed] == ["a.md"]
    assert bench.chunks("a.md") == []


@pytest.mark.parametrize("told", [["a.md", "b.md"], ["a.md"], None], ids=["both", "one", "by a whole look"])
def test_a_note_moved_over_one_of_its_size_and_time(bench: Bench, told: list[str] | None) -> None:
    bench.write("a.md", "the limit is 100")
    bench.write("b.md", "the limit is 900")
    for name in ("a.md", "b.md"):
        os.utime(bench.vault / name, OLD)
    follower = bench.indexer()
    follower.update()
    (bench.vault / "b.md").replace(bench.vault / "a.md")
    follower.update(told)
    assert [chunk.text for chunk in bench.chunks("a.md")] == ["the limit is 900"]
