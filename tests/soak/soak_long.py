"""For as long as they are told to: edits of every kind, writers that are killed, twenty clients."""

import shutil
import time
from collections import Counter
from itertools import count
from pathlib import Path

import pytest

from tests.indexing.crashes.blind import Blind
from tests.indexing.crashes.forks import Forks
from tests.indexing.pipeline.machine.running import Done, Kind, run_machine
from tests.soak.fleet import Fleet
from tests.support.postgres import PostgresServer

TURNS = (Kind(), Kind(small=True), Kind(), Kind(small=True), Kind(chroma=True))
"""With Chroma it takes five times as long."""

TELL_EVERY = 60.0
"""Seconds between two lines on how it goes."""


def test_following_equals_starting_anew(tmp_path: Path, soak_minutes: float) -> None:
    end = time.monotonic() + 60 * soak_minutes
    told = time.monotonic()
    done = Done()
    for number in count(int(time.time())):
        kind = TURNS[number % len(TURNS)]
        done += run_machine(tmp_path, kind, vaults=4, steps=50, number=number)
        if time.monotonic() > told + TELL_EVERY:
            told += TELL_EVERY
            print(f"{done}, last number {number}", flush=True)
        if time.monotonic() > end:
            break
    print(done, flush=True)
    assert done.edits


ROUNDS = 60
"""Rounds in one vault; then another begins."""

MANY = 520
"""Notes of two chunks: from a thousand vectors on, Chroma writes its graph to files."""


@pytest.mark.parametrize(("notes", "share"), [(0, 0.75), (MANY, 0.25)])
def test_kills_at_random_times_lose_nothing(
    forks: Forks, folder: Path, soak_minutes: float, notes: int, share: float
) -> None:
    soak_minutes *= share
    end = time.monotonic() + 60 * soak_minutes
    told = time.monotonic()
    did: Counter[str] = Counter()
    for seed in count(int(time.time())):
        blind = Blind(forks, folder / str(seed), seed, notes)
        for _ in range(ROUNDS):
            blind.round()
            if time.monotonic() > told + TELL_EVERY:
                told += TELL_EVERY
                print(_line(did + blind.did), flush=True)
            if time.monotonic() > end:
                break
        did += blind.did
        did["vaults"] += 1
        shutil.rmtree(folder / str(seed))
        if time.monotonic() > end:
            break
    print(_line(did), flush=True)
    assert did["killed"]


def _line(did: Counter[str]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(did.items()))


ROUNDS_OF_SERVERS = 200


@pytest.mark.services
@pytest.mark.model
def test_whoever_is_killed_comes_back(tmp_path: Path, postgres: PostgresServer, soak_minutes: float) -> None:
    end, seed = time.monotonic() + 60 * soak_minutes, int(time.time())
    with Fleet(tmp_path, postgres, seed, patience=120) as fleet:
        for _ in range(ROUNDS_OF_SERVERS):
            fleet.round()
            print(fleet.told(), flush=True)
            if time.monotonic() > end:
                break
        fleet.finish()
