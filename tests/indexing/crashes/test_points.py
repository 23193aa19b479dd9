"""A process that is killed between any two writes leaves an index that is whole, and mends itself.

At once, a reader sees the old or the new generation; after the next run, the index is what one
built from nothing is.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.indexing.crashes import harm
from tests.indexing.crashes.forks import Forks
from tests.indexing.crashes.homes import EDITS, FIRST, Home, check_reader, differing, write
from tests.indexing.crashes.jobs import Told
from tests.support.postgres import PostgresServer

pytestmark = pytest.mark.timeout(300)

Choose = Callable[[Sequence[str]], list[int]]


def each(names: Sequence[str]) -> list[int]:
    return [at for at, name in enumerate(names) if name not in names[:at]]


def but(known: Sequence[str]) -> Choose:
    """The first pass of each point that is not known from elsewhere, and a few of the others."""

    def chosen(names: Sequence[str]) -> list[int]:
        first = each(names)
        return [at for at in first if names[at] not in known or first.index(at) % 5 == 0]

    return chosen


def some(names: Sequence[str]) -> list[int]:
    return list(range(2, len(names), max(1, len(names) // 9)))


def starting(*beginnings: str) -> Choose:
    """The first pass of each point whose name begins so."""
    return lambda names: [at for at in each(names) if names[at].startswith(beginnings)]


def edited(forks: Forks, folder: Path, server: PostgresServer | None = None) -> Home:
    """A home whose index is behind its edits."""
    home = Home(folder, server)
    write(home.vault, FIRST)
    forks.index(home.path)
    write(home.vault, EDITS)
    return home


def test_a_first_index(forks: Forks, folder: Path) -> None:
    home = Home(folder)
    write(home.vault, FIRST)
    kill_at_points(forks, home, some)


@pytest.fixture(scope="module")
def known(forks: Forks, shared_folder: Path) -> list[str]:
    """The points of a run over edits, each of which has its kill in a test of its own."""
    home = edited(forks, shared_folder)
    forks.index(home.path, log=str(shared_folder / "points"), batch=1_000)
    return (shared_folder / "points").read_text().split()


def test_a_run_over_edits(forks: Forks, folder: Path) -> None:
    home = edited(forks, folder)
    kill_at_points(forks, home, each, batch=1_000)


@pytest.mark.slow
def test_small_changes_that_are_followed(forks: Forks, folder: Path, known: list[str]) -> None:
    home = edited(forks, folder)
    kill_at_points(forks, home, but(known), batch=1_000, paths=[""], tidies=True)


@pytest.mark.slow
def test_a_mirror_that_takes_in_edits(forks: Forks, folder: Path) -> None:
    home = Home(folder)
    write(home.vault, {path: text for path, text in FIRST.items() if path != "Secret.md"})
    forks.index(home.path, mirror=True)
    write(home.vault, {path: text for path, text in EDITS.items() if text is not None})
    (home.vault / "Secret.md").unlink()
    kill_at_points(forks, home, starting("mirror-"), batch=1_000, mirror=True)


@pytest.mark.services
@pytest.mark.slow
def test_a_run_over_edits_on_a_server(forks: Forks, folder: Path, postgres: PostgresServer) -> None:
    home = edited(forks, folder, postgres)
    kill_at_points(forks, home, starting("catalog-", "lock-", "purge-"), batch=1_000)


@pytest.mark.services
@pytest.mark.slow
def test_a_rebuild_on_a_server(forks: Forks, folder: Path, postgres: PostgresServer) -> None:
    home = edited(forks, folder, postgres)
    # Those that a server has a part in, and the one before.
    there = starting("catalog-committed", "rebuild-catalog-in-force", "current-replaced")
    kill_at_points(forks, home, there, rebuild=True)


@pytest.mark.slow
def test_a_rebuild(forks: Forks, folder: Path) -> None:
    home = edited(forks, folder)
    kill_at_points(forks, home, starting("rebuild-", "current-"), rebuild=True)


def test_a_run_that_mends(forks: Forks, folder: Path) -> None:
    home = Home(folder)
    write(home.vault, FIRST)
    forks.index(home.path)
    harm.garbage()(home.layout.postings)
    kill_at_points(forks, home, some)


def kill_at_points(forks: Forks, home: Home, choose: Choose, **how: Any) -> None:
    """Kill a run over this home at the points chosen, and check what is left each time."""
    home.keep()
    log = home.path.with_name("points")
    forks.index(home.path, log=str(log), **how)
    names = log.read_text().split()
    home.restore()
    before = forks.read(home.path)
    if home.layout.root.exists():
        home.forget_index()
    forks.index(home.path)
    after, expected = forks.read(home.path), forks.content(home.path)
    points = choose(names)
    assert points
    whole = before["error"] is None and ("batch" in how or "rebuild" in how)
    for point in points:
        home.restore()
        ended = forks.run("index", home=str(home.path), log=str(log), kill_at=point, **how)
        where = f"killed at {point}, {names[point]}"
        assert ended.killed, where
        check_reader(forks.read(home.path), before, after, where, whole=whole)
        found: Told = forks.mended(home.path, where, mirror=how.get("mirror", False))
        assert not differing(found, expected), f"{where}: {differing(found, expected)}"
        secret = home.vault / "Secret.md"
        if secret.exists() and "private: true" in secret.read_text():
            assert holding(home, b"zanzibarquux") == [], where


def holding(home: Home, word: bytes) -> list[str]:
    """The files of the index that hold a word, in any form that could be read."""
    files = [file for file in home.layout.root.rglob("*") if file.is_file()]
    return [file.name for file in files if word in file.read_bytes()]
