"""Writers that are killed: at random times, while others read, again and again; nothing is lost."""

import signal
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.indexing.crashes.blind import Blind
from tests.indexing.crashes.forks import Forks
from tests.indexing.crashes.homes import EDITS, FIRST, Home, differing, write
from tests.indexing.crashes.jobs import Told
from tests.support.postgres import PostgresServer
from tests.support.product import Reader

NOTES = 24
BATCH = 4


def _large(folder: Path) -> Home:
    home = Home(folder)
    write(
        home.vault,
        {
            f"{number % 5}/Note {number}.md": f"Words of note {number}.\n\n## More\n\n"
            f"The wall of {number} is near [[Note {(number * 7) % NOTES}]] and [[Later {number}]]."
            for number in range(NOTES)
        },
    )
    return home


def _committed(seen: Told) -> int:
    """How many chunks and sentences readers have: each of them has a vector of its own here."""
    chunks = sum(len(held) for held in seen.get("chunks", {}).values())
    return chunks + len(seen.get("chunks", {}))


@pytest.mark.parametrize(
    ("point", "batches", "how"),
    [
        pytest.param("catalog-before-commit", 2, signal.SIGKILL, id="before a commit"),
        pytest.param("catalog-inside-commit", 3, signal.SIGINT, id="interrupted inside a commit"),
        pytest.param("catalog-committed", 5, signal.SIGINT, id="interrupted after a commit"),
        pytest.param("postings-drafted", 6, signal.SIGKILL, id="at the end"),
    ],
)
def test_what_was_committed_is_not_embedded_again(
    forks: Forks, folder: Path, point: str, batches: int, how: signal.Signals
) -> None:
    home, log = _large(folder), folder / "points"
    every = forks.index(home.path, at="anew", batch=BATCH, log=str(log)).told["asked"]
    assert len(every) == 3 * NOTES
    passed = [at for at, name in enumerate(log.read_text().split()) if name == point]
    at = passed[batches] if len(passed) > batches else passed[-1]
    cut = forks.run("index", home=str(home.path), batch=BATCH, log=str(log), kill_at=at, signal_no=int(how))
    assert cut.killed == (how is signal.SIGKILL)
    assert cut.killed or cut.told["error"] == "interrupted"
    done_before = _committed(forks.read(home.path))
    assert done_before >= 2 * 3 * BATCH
    told = forks.index(home.path, batch=BATCH).told
    assert told["error"] is None
    assert len(told["asked"]) == len(every) - done_before
    assert not differing(forks.content(home.path), forks.content(home.path, "anew"))
    assert forks.index(home.path).told["loaded"] == 0


def test_what_a_run_saw_that_was_cut_off_and_is_gone_is_no_target(forks: Forks, folder: Path) -> None:
    home = _large(folder)
    cut = forks.run("index", home=str(home.path), batch=BATCH, kill_at="catalog-committed")
    assert cut.killed
    # Note 10 links to it and is in the index by now; it is not.
    (home.vault / "2" / "Note 22.md").unlink()
    forks.index(home.path, batch=BATCH)
    forks.index(home.path, at="anew")
    assert not differing(forks.content(home.path), forks.content(home.path, "anew"))


ROUNDS = 4


def test_a_generation_is_one_content_whoever_reads_it(forks: Forks, folder: Path) -> None:
    home = Home(folder)
    write(home.vault, FIRST)
    forks.index(home.path)
    seen: list[list[tuple[int, dict[str, Any]]]] = [[], []]
    failed: list[BaseException] = []
    enough = threading.Event()

    def look(told: list[tuple[int, dict[str, Any]]]) -> None:
        try:
            with Reader(home.layout) as reader:
                while not enough.wait(0.05):
                    with reader.snapshot() as view:
                        chunks = {path: [one.text for one in view.chunks_of(path)] for path in view.paths()}
                        told.append((view.generation, chunks))
        except BaseException as exc:  # noqa: BLE001 (told below)
            failed.append(exc)

    threads = [threading.Thread(target=look, args=(told,)) for told in seen]
    for thread in threads:
        thread.start()
    killed = 0
    try:
        for number in range(ROUNDS):
            write(home.vault, EDITS if number % 2 == 0 else FIRST)
            log = home.path / f"points-{number}"
            at = 3 + 4 * number
            killed += forks.run("index", home=str(home.path), log=str(log), kill_at=at).killed
            forks.index(home.path)
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    assert failed == []
    assert killed >= ROUNDS - 1
    first: dict[int, dict[str, Any]] = {}
    for told in seen:
        generations = [generation for generation, _ in told]
        assert generations == sorted(generations)
        assert len(set(generations)) > 2
        for generation, chunks in told:
            assert first.setdefault(generation, chunks) == chunks


KILLS = 15


@pytest.mark.slow
def test_kills_at_random_times_lose_nothing(forks: Forks, folder: Path) -> None:
    blind = Blind(forks, folder, seed=7)
    while blind.did["killed"] < KILLS:
        blind.round()
        assert blind.did["rounds"] < 20 * KILLS, f"hardly a run was killed: {blind.did}"


@pytest.mark.services
@pytest.mark.slow
def test_kills_of_writers_and_of_their_server_lose_nothing(
    forks: Forks, folder: Path, postgres: PostgresServer
) -> None:
    blind = Blind(forks, folder, seed=11, server=postgres)
    while blind.did["server killed"] < 5 or blind.did["killed"] < 5:
        blind.round()
        assert blind.did["rounds"] < 60, f"hardly a run was killed: {blind.did}"
