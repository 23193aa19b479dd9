"""What a change costs: one note, a folder of a thousand, and a first index whose memory counts.

Vectors are drawn, so that the model is not what is measured; all else is as it is for users.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import pytest

from tests.benchmarks.drawn import indexer, make_door, note_path, write_vault
from tests.benchmarks.pairs import p50, say
from tests.support.product import Indexer, IndexLayout, Reader, Update

pytestmark = pytest.mark.bench

EDITS = 12
MOVED = 1_000

T = TypeVar("T")


def test_changes(sizes: list[int], tmp_path: Path) -> None:
    one = {}
    for notes in sizes:
        vault, layout = tmp_path / f"vault{notes}", IndexLayout(tmp_path / f"index{notes}")
        write_vault(vault, notes)
        make_door(layout, vault)
        print()
        seconds, peak = _first(vault, layout)
        say(f"{notes:,} notes, first index without the model", f"{seconds:.0f} s")
        say("its memory", f"{peak / 1e3:.2f} GB", "budget 4 GB")
        writer = indexer(vault, layout)
        wall, cpu, looked = _timed(partial(writer.update, None))
        assert not looked.wrote
        say("nothing changed, all looked at", f"{wall:.2f} s, {cpu:.2f} s of processor")
        with Reader.open(layout) as reader:
            one[notes] = _edits(vault, writer, reader)
            _moves(vault, writer, reader)
    smallest, largest = min(one), max(one)
    say(
        f"one note changed, {largest:,} / {smallest:,} notes",
        f"{one[largest] / one[smallest]:.2f}",
        "budget 2",
    )


def _first(vault: Path, layout: IndexLayout) -> tuple[float, float]:
    """Seconds of a first index in a process of its own, and the megabytes that it took at most."""
    command = [sys.executable, "-m", "tests.benchmarks.drawn", vault, layout.root]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


def _edits(vault: Path, writer: Indexer, reader: Reader) -> float:
    """Change one note after the other; the median of the processor seconds until it is seen."""
    walls, cpus = [], []
    for turn in range(EDITS):
        path = note_path(turn)
        with (vault / path).open("a", encoding="utf-8") as stream:
            stream.write(f"\nOne more line, number {turn}.\n")

        def work(path: str = path) -> Update:
            done = writer.update([path])
            reader.refresh()
            return done

        wall, cpu, done = _timed(work)
        assert done.embedded
        walls.append(wall)
        cpus.append(cpu)
        writer.tidy()
    told = f"p50 {p50(walls):.2f} s, {p50(cpus):.2f} s of processor"
    say("one note changed, until a reader sees it", told, "budget 0.5 s with the model's 0.1")
    return p50(cpus)


def _moves(vault: Path, writer: Indexer, reader: Reader) -> None:
    """Move a folder of a thousand notes, or of as many as there are in one, and back."""
    folder = vault / "moved"
    folder.mkdir()
    held = min(MOVED, sum(1 for _ in vault.rglob("*.md")) // 2)
    names = [note_path(number) for number in range(held)]
    for name in names:
        (vault / name).rename(folder / Path(name).name)
    writer.update(None)
    folder.rename(vault / "moved on")

    def work() -> Update:
        done = writer.update(["moved", "moved on"])
        reader.refresh()
        return done

    wall, cpu, done = _timed(work)
    assert (done.moved, done.embedded) == (held, 0)
    say(f"a folder of {held:,} notes moved", f"{wall:.2f} s, {cpu:.2f} s of processor")


def _timed(work: Callable[[], T]) -> tuple[float, float, T]:
    started, before = perf_counter(), process_time()
    done = work()
    return perf_counter() - started, process_time() - before, done
