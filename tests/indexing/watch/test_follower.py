"""A follower over a real folder, with a model a person can read."""

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support import product
from tests.support.notes import Bench

LONG = 60.0


class Followed:
    def __init__(self, bench: Bench, **timing: float) -> None:
        self.bench, self.timing = bench, replace(TIMING, **timing)
        self.told: list[product.Update | str] = []
        self.bulk_runs = 0
        self.bulky = False
        self.failures = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.watching = product.WatcherLock(bench.layout, "a test")

    def start(self) -> None:
        self.bench.layout.create(self.bench.vault)
        self.watching.acquire()
        self._thread.start()
        # Only what happens from now on is the test's.
        self.until(self.is_following)

    def is_following(self) -> bool:
        state = product.read_watch_state(self.bench.layout)
        return state is not None and state.state == "following"

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        self.watching.release()

    def until(self, true: Callable[[], object]) -> None:
        end = time.monotonic() + LONG
        while not true():
            assert time.monotonic() < end, f"it did not come; told: {self.told}"
            time.sleep(0.02)

    def paths(self) -> list[str]:
        with self.bench.catalog() as catalog:
            return list(catalog.stamps())

    def messages(self) -> list[str]:
        return [said for said in self.told if isinstance(said, str)]

    def texts(self, path: str) -> list[str]:
        return [chunk.text for chunk in self.bench.chunks(path)]

    def _run(self) -> None:
        how = self._bulk, self.told.append, self._indexer, self.timing
        product.Follower(self._indexer(), self.watching, *how).run(self._stop)

    def _indexer(self) -> product.Indexer:
        settings = self.bench.settings
        return product.Indexer(self.bench.vault, settings, self.bench.layout, load=self._load)

    def _load(self, *said: object) -> object:
        if self.bulky:
            raise product.TooMuchToEmbed
        return self.bench.model.load(*said)

    def _bulk(self) -> None:
        if self.failures:
            self.failures -= 1
            raise product.IndexFailure("no space; make some")
        self.bulk_runs += 1
        self.bulky = False
        self.bench.index()


TIMING = product.Timing(
    round=0.1, soon_retry=0.1, retry=0.1, quiet=0.1, lost=0.1, report_retry=0.1, settle_ms=20, poll_ms=50
)
"""A follower in a hurry."""


@pytest.fixture
def followed(bench: Bench) -> Iterator[Followed]:
    for number in range(12):
        bench.write(f"Notes/{number}.md", f"Words of note {number}. See [[tides]].")
    bench.write("tides.md", "# Tides\nDivers wait for neap tides.")
    bench.index()
    found = Followed(bench)
    found.start()
    yield found
    found.stop()


def test_edits_moves_and_deletions_are_taken_in(followed: Followed) -> None:
    bench = followed.bench
    bench.write("tides.md", "# Tides\nSurveyors wait for spring tides.")
    followed.until(lambda: followed.texts("tides.md") == ["# Tides\nSurveyors wait for spring tides."])
    (bench.vault / "Notes").rename(bench.vault / "Papers")
    followed.until(lambda: "Papers/3.md" in followed.paths())
    assert "Notes/3.md" not in followed.paths()
    (bench.vault / "tides.md").unlink()
    followed.until(lambda: "tides.md" not in followed.paths())
    assert bench.links("Papers/3.md")[0].status == "unresolved"
    moved = [said for said in followed.told if isinstance(said, product.Update) and said.moved == 12]
    assert moved
    assert moved[0].embedded == 0


def test_a_vault_that_goes_and_comes_back_loses_nothing(followed: Followed) -> None:
    bench = followed.bench
    away = bench.vault.with_name("away")
    bench.vault.rename(away)
    followed.until(lambda: any("there is no such folder" in said for said in followed.messages()))
    state = product.read_watch_state(bench.layout)
    assert state is not None
    assert state.state in ("waiting", "indexing")
    assert len(followed.paths()) == 13
    (away / "new.md").write_text("Written elsewhere.")
    away.rename(bench.vault)
    followed.until(lambda: "new.md" in followed.paths())
    assert len(followed.paths()) == 14
    followed.until(lambda: "following the vault again" in followed.messages())
    bench.write("later.md", "Still followed.")
    followed.until(lambda: "later.md" in followed.paths())


def test_an_empty_mount_point_is_no_deletion(followed: Followed) -> None:
    bench = followed.bench
    away = bench.vault.with_name("away")
    bench.vault.rename(away)
    bench.vault.mkdir()
    followed.until(lambda: any("--allow-mass-delete" in said for said in followed.messages()))
    followed.until(lambda: (s := product.read_watch_state(bench.layout)) and s.state == "held")
    assert len(followed.paths()) == 13
    bench.vault.rmdir()
    away.rename(bench.vault)
    followed.until(lambda: "following the vault again" in followed.messages())
    assert len(followed.paths()) == 13


def test_another_writer_is_waited_for(followed: Followed) -> None:
    bench = followed.bench
    with product.WriterLock(bench.layout, "notehop index"):
        bench.write("later.md", "Not yet.")
        followed.until(lambda: (s := product.read_watch_state(bench.layout)) and s.state == "waiting")
        assert "later.md" not in followed.paths()
    followed.until(lambda: "later.md" in followed.paths())
    assert followed.messages() == []


def test_much_work_goes_to_another_process(followed: Followed) -> None:
    followed.bulky = True
    followed.bench.write("long.md", "Much.")
    followed.until(lambda: "long.md" in followed.paths())
    assert followed.bulk_runs == 1
    followed.bench.write("short.md", "Little.")
    followed.until(lambda: "short.md" in followed.paths())
    assert followed.bulk_runs == 1


def test_settings_of_the_vault_are_taken_up(followed: Followed) -> None:
    bench = followed.bench
    bench.settings = bench.settings.with_overrides({"vault.exclude": ["Notes/**"]})
    bench.write("notehop.toml", '[vault]\nexclude = ["Notes/**"]\n')
    followed.until(lambda: bench.chunks("Notes/1.md") == [])


def test_a_disk_that_answers_with_errors_is_waited_for(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a network disk does that is gone: neither "not there" nor an answer."""
    bench, vault = followed.bench, str(followed.bench.vault)
    real = os.stat

    def broken(path: Any, *given: Any, **named: Any) -> os.stat_result:
        if not isinstance(path, int) and os.fspath(path).startswith(vault):
            raise OSError(errno.ENOTCONN, "Transport endpoint is not connected", path)
        return real(path, *given, **named)

    with monkeypatch.context() as gone:
        gone.setattr(os, "stat", broken)
        followed.until(lambda: any("Transport endpoint" in said for said in followed.messages()))
        followed.until(lambda: (s := product.read_watch_state(bench.layout)) and s.state == "waiting")
    bench.write("later.md", "Back.")
    followed.until(lambda: "later.md" in followed.paths())


def delete_while_written(folder: Path) -> None:
    """What is written meanwhile makes a folder "not empty": once more, then."""
    gone = False
    while not gone:
        with suppress(OSError):
            shutil.rmtree(folder)
            gone = True


def test_an_index_that_is_deleted_is_made_again_and_followed_by_one(followed: Followed) -> None:
    bench = followed.bench
    delete_while_written(bench.layout.root)
    followed.until(bench.layout.catalog_state.exists)
    followed.until(followed.is_following)
    assert len(followed.paths()) == 13
    with pytest.raises(product.IndexLocked, match="a test"):
        product.WatcherLock(bench.layout, "another").acquire(patience=0)


def test_an_index_that_is_away_for_a_while_is_waited_for(followed: Followed) -> None:
    bench, root = followed.bench, followed.bench.layout.root
    away = root.with_name("away")
    root.rename(away)
    root.symlink_to(root.with_name("not mounted"))
    followed.until(lambda: any("cannot be written" in said for said in followed.messages()))
    bench.write("later.md", "Words.")
    root.unlink()
    away.rename(root)
    followed.until(lambda: "later.md" in followed.paths())
    followed.until(followed.is_following)


def test_settings_that_no_event_tells_of_end_a_mismatch(followed: Followed) -> None:
    bench, before = followed.bench, followed.bench.settings
    bench.settings = before.with_overrides({"chunking.min_tokens": 5})
    bench.write("notehop.toml", "")
    followed.until(lambda: any("--rebuild" in said for said in followed.messages()))
    bench.settings = before
    followed.until(lambda: "following the vault again" in followed.messages())


def test_a_name_that_is_no_utf8_costs_no_change(followed: Followed) -> None:
    bench = followed.bench
    Path(os.fsdecode(os.fsencode(bench.vault) + b"/bad\xff.txt")).write_text("x")
    bench.write("later.md", "Words.")
    followed.until(lambda: "later.md" in followed.paths())
    assert followed.messages() == []


def test_where_the_system_reports_nothing_the_vault_is_looked_at(
    followed: Followed, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = followed.bench

    asked = []

    def refuse(*_: Any, **__: Any) -> Any:
        asked.append(1)
        raise OSError(f'no more watches about ["folder {len(asked)}"]')

    with monkeypatch.context() as full:
        full.setattr("notehop.indexing.watch.events.watch", refuse)
        # For which the watch begins anew.
        bench.write("New/1.md", "First.")
        followed.until(lambda: any("(no more watches)" in said for said in followed.messages()))
        bench.write("New/2.md", "Second.")
        followed.until(lambda: "New/2.md" in followed.paths() and len(asked) > 2)
    followed.until(lambda: "following the vault again" in followed.messages())
    bench.write("New/3.md", "Third.")
    followed.until(lambda: "New/3.md" in followed.paths())
    assert sum("does not report" in said for said in followed.messages()) == 1


def test_looks_at_a_vault_that_reports_nothing_cost_little(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, looks = [], []
    real = product.Indexer.update

    def refuse(*_: Any, **__: Any) -> Any:
        asked.append(1)
        raise OSError("no more watches")

    def slow(indexer: product.Indexer, paths: Any = None) -> product.Update:
        began = time.monotonic()
        time.sleep(0.1)
        done = real(indexer, paths)
        looks.append((began, time.monotonic()))
        return done

    bench.write("tides.md", "Divers wait for neap tides.")
    bench.index()
    monkeypatch.setattr("notehop.indexing.watch.events.watch", refuse)
    monkeypatch.setattr(product.Indexer, "update", slow)
    found = Followed(bench, lost=0.5, report_retry=60.0)
    found.start()
    found.until(lambda: len(looks) > 3)
    found.stop()
    assert all(then - end >= 0.5 for (_, end), (then, _) in pairwise(looks))
    assert len(asked) == 1
