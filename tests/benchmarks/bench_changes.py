"""What grows with the vault: a first index, following one note, moving a thousand, opening, memory.

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

SEARCHING = """
import sys
from pathlib import Path
from time import process_time
import numpy as np
from tests.benchmarks.drawn import peak_mb, prose
from tests.support.product import IndexLayout, Reader, Tokenizer
words, said = Tokenizer("en"), prose(1)
vectors = np.random.default_rng(1).standard_normal((30, 384)).astype("float32")
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
started = process_time()
with Reader(IndexLayout(Path(sys.argv[1]))) as reader:
    opened = process_time() - started
    for vector in vectors:
        with reader.snapshot() as view:
            near = [one for one, _ in view.chunk_vectors.top(vector, 100)]
            found = [one for one, _ in view.lexical.top(words.query(said(5)), 100)]
            paths = [str(view.path_of(one)) for one in (*near[:5], *found[:5])]
            view.chunks([*near[:5], *found[:5]])
            links = [str(link.sentence_id) for link in view.links_from(paths)]
            view.sentence_similarities(vector, links)
    searching = peak_mb()
    with reader.snapshot() as view:
        started = process_time()
        view.pagerank
        ranked = process_time() - started
print(opened, searching, ranked)
"""

T = TypeVar("T")


def test_changes(sizes: list[int], tmp_path: Path) -> None:
    one = {}
    for notes in sizes:
        vault, layout = tmp_path / f"vault{notes}", IndexLayout(tmp_path / f"index{notes}")
        write_vault(vault, notes)
        make_door(layout, vault)
        print()
        seconds, peak = _printed("-m", "tests.benchmarks.drawn", vault, layout.root)
        say(f"{notes:,} notes, first index without the model", f"{seconds:.0f} s")
        say("its memory", f"{peak / 1e3:.2f} GB", "budget 4 GB")
        opened, searching, ranked = _printed("-c", SEARCHING, layout.root)
        say("opening", f"{opened:.2f} s")
        say("memory, searching, without the model", f"{searching / 1e3:.2f} GB", "budget 4 GB")
        say("first PageRank", f"{ranked:.2f} s")
        writer = indexer(vault, layout)
        wall, cpu, looked = _timed(partial(writer.update, None))
        assert not looked.wrote
        say("nothing changed, all looked at", f"{wall:.2f} s, {cpu:.2f} s of processor")
        with Reader(layout) as reader:
            one[notes] = _edits(vault, writer, reader)
            _moves(vault, writer, reader)
    smallest, largest = min(one), max(one)
    say(
        f"one note changed, {largest:,} / {smallest:,} notes",
        f"{one[largest] / one[smallest]:.2f}",
        "budget 2",
    )


def _printed(*program: object) -> list[float]:
    command = [sys.executable, *map(str, program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def _edits(vault: Path, writer: Indexer, reader: Reader) -> float:
    """Change one note after the other; the median of the processor seconds until it is seen."""
    walls, cpus = [], []
    for turn in range(EDITS):
        path = note_path(turn)
        with (vault / path).open("a", encoding="utf-8") as stream:
            stream.write(f"\nOne more line, number {turn}.\n")

        def work(path: str = path) -> Update:
            done = writer.update([path])
            reader.snapshot().close()
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
        reader.snapshot().close()
        return done

    wall, cpu, done = _timed(work)
    assert (done.moved, done.embedded) == (held, 0)
    say(f"a folder of {held:,} notes moved", f"{wall:.2f} s, {cpu:.2f} s of processor")


def _timed(work: Callable[[], T]) -> tuple[float, float, T]:
    started, before = perf_counter(), process_time()
    done = work()
    return perf_counter() - started, process_time() - before, done
