"""The catalog on a server beside the one in a file: first index, one change, warm search, that one
with the vectors on a Chroma server too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import pytest

from notehop import open_vault
from tests.benchmarks.drawn import DrawnVectors, make_door, note_path, prose, write_vault
from tests.benchmarks.pairs import in_turns, p50, p95, ratio, say
from tests.support import product
from tests.support.chroma_run import ChromaRun
from tests.support.postgres import ABSENT, PostgresServer, programs

pytestmark = pytest.mark.bench

NOTES = 2_000
CHANGES = 12


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if programs() is None:
        pytest.skip(ABSENT)
    made = PostgresServer("fsync=on", "autovacuum=on", "shared_buffers=256MB")
    yield made
    made.close()


@pytest.fixture
def chroma(tmp_path: Path) -> Iterator[ChromaRun]:
    running = ChromaRun(tmp_path / "chroma")
    yield running
    running.kill()


def test_servers_beside_a_file(server: PostgresServer, chroma: ChromaRun, tmp_path: Path) -> None:
    vault, url = tmp_path / "vault", server.new_database()
    write_vault(vault, NOTES)
    layouts = {
        "file": product.IndexLayout(tmp_path / "file"),
        "server": product.IndexLayout(tmp_path / "server", product.ServerCatalog(url, "bench")),
    }
    plain = product.load_settings()
    settings = {
        "file": plain,
        "server": plain.with_overrides({"catalog.url": url, "catalog.schema_name": "bench"}),
    }
    for layout in layouts.values():
        # Without, the one would ask torch and the other the exported model.
        make_door(layout, vault)
    model = DrawnVectors(product.load_query(layouts["file"].model, plain.embedding))
    writers = {
        name: product.Indexer(vault, settings[name], layout, load=lambda *_: model)  # type: ignore[arg-type]
        for name, layout in layouts.items()
    }
    first: dict[str, float] = {}
    for name, writer in writers.items():
        started = perf_counter()
        writer.run()
        first[name] = perf_counter() - started
        say(f"{NOTES:,} notes, first index without the model, {name}", f"{first[name]:.1f} s")
    say("server / file", f"{first['server'] / first['file']:.2f}")
    changes = {name: [] for name in writers}
    for number in range(CHANGES):
        for name, writer in writers.items():
            path = note_path(number)
            with product.Reader(layouts[name]) as reader:
                (vault / path).write_text(f"Changed {number} for the {name}. [[Note 7]]")
                started = perf_counter()
                writer.update([path])
                reader.snapshot().close()
                changes[name].append(perf_counter() - started)
    for name, took in changes.items():
        say(f"one change until readers see it, {name}", f"p50 {1e3 * p50(took):.0f} ms")
    both = settings["server"].with_overrides({"vectors.engine": "chroma", "chroma.url": chroma.url})
    assert product.update_served_mirror(layouts["server"], both, progress=product.Silent()) == (True, ())
    queries = [prose(seed)(6) for seed in range(30)]
    with (
        open_vault(vault, index_dir=layouts["file"].root, settings=settings["file"]) as near,
        open_vault(vault, index_dir=layouts["server"].root, settings=settings["server"]) as far,
        open_vault(vault, index_dir=layouts["server"].root, settings=both) as served,
    ):
        runs = {"file": near, "PostgreSQL": far, "PostgreSQL and Chroma": served}
        for opened in runs.values():
            opened.warm()
            assert not opened.search(queries[0]).warnings
        samples = in_turns({name: opened.search for name, opened in runs.items()}, queries)
    for name, values in samples.items():
        say(f"warm search, {name}", f"p50 {p50(values):.1f}, p95 {p95(values):.1f} ms")
    for name in list(samples)[1:]:
        say(f"{name} / file", f"{ratio(samples, name, 'file'):.2f}", "budget 3")
