"""Vectors on a Chroma server against those in memory: recall, milliseconds, memory.

``NOTEHOP_BENCH_CHUNKS`` says how many passages (100,000). Their vectors are drawn as those of texts lie:
most of their length in some sixty directions. In all 384 alike, no graph finds the nearest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.benchmarks.pairs import in_turns, p50, p95, ratio, say
from tests.support import product
from tests.support.chroma_run import ChromaRun
from tests.support.sample_index import name_of, record

pytestmark = [pytest.mark.bench, pytest.mark.timeout(0)]

DIMENSIONS = 384
SPREAD = 64
CHUNKS = int(os.environ.get("NOTEHOP_BENCH_CHUNKS", "100000"))
A_NOTE, AT_ONCE = 4, 2_000


def drawn(count: int, seed: int) -> NDArray[np.float32]:
    """Vectors of length 1, shape (count, DIMENSIONS)."""
    directions = np.random.default_rng(7).standard_normal((SPREAD, DIMENSIONS), dtype=np.float32)
    directions *= np.arange(1, SPREAD + 1, dtype=np.float32)[:, None] ** -0.3
    chance = np.random.default_rng(seed)
    rows = chance.standard_normal((count, SPREAD), dtype=np.float32) @ directions
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows += 0.25 * length / DIMENSIONS**0.5 * chance.standard_normal(rows.shape, dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def write_index(layout: product.IndexLayout, chunks: int) -> None:
    layout.create(layout.root.parent / "vault")
    with product.Catalog.open(layout.catalog, create=True) as catalog:
        for start in range(0, chunks // A_NOTE, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, chunks // A_NOTE))
            notes = tuple(
                record(f"{number}.md", *(f"passage {number} {at} " * 40 for at in range(A_NOTE)))
                for number in numbers
            )
            ids = [one.id for note in notes for one in note.chunks]
            meta = {"fingerprint": {"model": "drawn", "dimensions": DIMENSIONS}}
            vectors = {"chunks": (ids, drawn(len(ids), start + 1))}
            catalog.commit(product.Batch(upsert=notes, meta=meta, vectors=vectors))
        product.bring_up_to_date(layout, catalog)


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaRun]:
    running = ChromaRun(tmp_path / "chroma")
    yield running
    running.kill()


MEMORY = """
import sys
from pathlib import Path
from tests.benchmarks.bench_served import opened, drawn, DIMENSIONS
def mb():
    return int(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0]) / 1e3
before = mb()
with opened(Path(sys.argv[1]), sys.argv[2]) as reader:
    for query in drawn(20, 5):
        with reader.snapshot() as view:
            view.chunk_vectors.top(query, 100)
    print(mb() - before)
"""


def opened(root: Path, url: str) -> product.Reader:
    """A reader of an index that asks the server at an address; of all in memory for none."""
    if not url:
        return product.Reader(product.IndexLayout(root))
    settings = product.load_settings(overrides={"chroma.url": url})
    server = product.ChromaServer(settings, root, 5.0)
    return product.Reader(product.IndexLayout(root), server=server)


def test_a_served_index(tmp_path: Path, chroma: ChromaRun) -> None:
    layout = product.IndexLayout(tmp_path / "index")
    started = perf_counter()
    write_index(layout, CHUNKS)
    print()
    say("passages", f"{CHUNKS:,}, written in {perf_counter() - started:.0f} s")
    settings = product.load_settings(overrides={"chroma.url": chroma.url, "vectors.engine": "chroma"})
    started = perf_counter()
    assert product.update_served_mirror(layout, settings, progress=product.Silent()) == (True, ())
    took = perf_counter() - started
    say("server filled, with its recall", f"{took:.0f} s, {CHUNKS / took:.0f} passages/s")
    started = perf_counter()
    assert product.update_served_mirror(layout, settings, progress=product.Silent()) == (True, ())
    say("looked at again, nothing changed", f"{1000 * (perf_counter() - started):.0f} ms")
    queries = {name_of(str(at)): row for at, row in enumerate(drawn(50, 3))}
    near: dict[str, list[list[str]]] = {"memory": [], "served": []}
    with opened(layout.root, "") as memory, opened(layout.root, chroma.url) as served:

        def asks(name: str, reader: product.Reader) -> object:
            def ask(query: str) -> None:
                with reader.snapshot() as view:
                    hits = view.chunk_vectors.top(queries[query], 100)
                    assert view.warnings == ()
                near[name].append(hits)

            return ask

        samples = in_turns(
            {"memory": asks("memory", memory), "served": asks("served", served)}, list(queries)
        )
        with served.snapshot() as view:
            stamp = view.catalog.stamp
            started = perf_counter()
            for query in list(queries.values())[:5]:
                view.chunk_vectors._compared(query, 100, view.catalog.all_vectors("chunks"))
            scanned = (perf_counter() - started) / 5
    with closing(product.ChromaServer(settings, layout.root, 60.0)) as asked:
        state = product.ServedState.read(asked.known_collection(product.collection_name(stamp)))
    for name, values in samples.items():
        say(f"the nearest 100, {name}", f"p50 {p50(values):.1f}, p95 {p95(values):.1f} ms")
    say("served / memory", f"{ratio(samples, 'served', 'memory'):.1f}")
    say("every vector from the catalog, without the server", f"{1000 * scanned:.0f} ms")
    share = np.mean(
        [len({*one} & {*other}) / len(one) for one, other in zip(near["memory"], near["served"], strict=True)]
    )
    firsts = np.mean(
        [one[:10] == other[:10] for one, other in zip(near["memory"], near["served"], strict=True)]
    )
    say("recall@100, questions drawn beside", f"{share:.4f}", "budget 0.99")
    say("the first ten are the same, with their scores", f"{firsts:.4f}")
    say("recall@100 as status shows it", f"{state.recall:.4f}", "budget 0.99")
    for name, url in (("in memory", ""), ("served", chroma.url)):
        told = subprocess.run(
            [sys.executable, "-c", MEMORY, str(layout.root), url], capture_output=True, check=True, text=True
        )
        say(f"memory of a reader, vectors {name}", f"{float(told.stdout):.0f} MB")
    assert share >= 0.99
