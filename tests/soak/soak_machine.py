"""Vaults under edits of every kind, for hours: the index that follows one is as a new one is."""

from __future__ import annotations

import time
from itertools import count
from pathlib import Path

import pytest

from tests.indexing.pipeline.machine.running import Done, Kind, run_machine

TURNS = (Kind(), Kind(small=True), Kind(), Kind(small=True), Kind(chroma=True))
"""The store itself takes five times as long, and differs the least from run to run."""

TELL_EVERY = 60.0
"""Seconds between two lines on how it goes."""


def test_following_equals_starting_anew(tmp_path: Path, soak_minutes: float) -> None:
    end = time.monotonic() + 60 * soak_minutes
    told = time.monotonic()
    done = Done()
    for number in count(int(time.time())):
        kind = TURNS[number % len(TURNS)]
        with pytest.MonkeyPatch.context() as patch:
            kind.prepare(patch)
            done += run_machine(tmp_path, kind, vaults=4, steps=50, number=number)
        if time.monotonic() > told + TELL_EVERY:
            told += TELL_EVERY
            print(f"{done}, last number {number}", flush=True)
        if time.monotonic() > end:
            break
    print(done, flush=True)
    assert done.edits
