"""One reader and two of them, over one catalog in PostgreSQL: how many searches a second they answer.

Each reader has the same share of a core and no more, as if on a machine of its own: a second one then adds
what it can, though the database and who asks take the same cores. What they take is told.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle
from pathlib import Path

import psutil
import pytest

from tests.benchmarks.bench_server import Client, Tally
from tests.benchmarks.drawn import DrawnVectors, make_door, prose, write_vault
from tests.benchmarks.pairs import p50, say
from tests.support.postgres import ABSENT, PostgresServer, programs
from tests.support.processes import notehop_serve, until
from tests.support.product import Indexer, IndexLayout, ServerCatalog, load_query, load_settings

pytestmark = pytest.mark.bench

NOTES = 2_000
SECONDS = 15.0
CLIENTS = 4
ROUNDS = 3
SHARE = 0.25  # of a core, for each reader
PERIOD = 20_000  # microseconds in which it has that
GROUPS = Path("/sys/fs/cgroup")


def cpu_seconds(processes: list[psutil.Process]) -> float:
    """Of the processes and their children, those that have ended included."""
    found = {one for process in processes for one in (process, *process.children(recursive=True))}
    return sum(sum(one.cpu_times()[:4]) for one in found)


@contextmanager
def limited(pid: int) -> Iterator[None]:
    """Have a process run its share of the time, by a control group."""
    old = (GROUPS / "cpu").is_dir()
    group = (GROUPS / "cpu" if old else GROUPS) / f"notehop-bench-{pid}"
    try:
        group.mkdir()
        said = ("cpu.cfs_period_us", f"{PERIOD}"), ("cpu.cfs_quota_us", f"{SHARE * PERIOD:.0f}")
        for name, value in said if old else (("cpu.max", f"{SHARE * PERIOD:.0f} {PERIOD}"),):
            (group / name).write_text(value)
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as exc:
        pytest.skip(f"a share of a core needs control groups and root: {exc}")
    try:
        yield
    finally:
        (group.parent / "cgroup.procs").write_text(str(pid))
        group.rmdir()


def answered(urls: list[str], queries: list[str]) -> tuple[int, float]:
    """How many searches were answered, and the milliseconds that half of them took at most."""
    tally, end = Tally(), time.monotonic() + SECONDS

    def run(number: int, url: str) -> None:
        client, chance = Client(url), random.Random(number)
        while time.monotonic() < end:
            client.ask("/search", chance.choice(queries), tally)
        client.close()

    asks = zip(range(CLIENTS), cycle(urls), strict=False)
    threads = [threading.Thread(target=run, args=one) for one in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not tally.wrong
    return len(tally.milliseconds["/search"]), p50(tally.milliseconds["/search"])


@pytest.mark.skipif(programs() is None, reason=ABSENT)
def test_two_readers_beside_one(tmp_path: Path) -> None:
    server = PostgresServer("shared_buffers=256MB")
    try:
        vault, url = tmp_path / "vault", server.new_database()
        write_vault(vault, NOTES)
        layout = IndexLayout(tmp_path / "index", ServerCatalog(url, "bench"))
        make_door(layout, vault)
        asked = {"catalog.url": url, "catalog.schema_name": "bench"}
        settings = load_settings().with_overrides(asked)
        model = DrawnVectors(load_query(layout.model, settings.embedding))
        Indexer(vault, settings, layout, load=lambda *_: model).run()  # type: ignore[arg-type]
        said = prose(1)
        queries = [said(6) for _ in range(60)]
        variables = {f"NOTEHOP_{key.replace('.', '__').upper()}": to for key, to in asked.items()}
        with ExitStack() as running:
            readers = [
                running.enter_context(
                    notehop_serve(vault, layout.root, "--read-only", watch=True, **variables)
                )
                for _ in range(2)
            ]
            for url, process in readers:
                client = Client(url)
                until(lambda client=client: '"ready":true' in client.get("/health/ready"))
                for query in queries:
                    client.ask("/search", query, Tally())
                client.close()
                running.enter_context(limited(process.pid))
            compare([url for url, _ in readers], [one.pid for _, one in readers], server, queries)
    finally:
        server.close()


def compare(urls: list[str], pids: list[int], server: PostgresServer, queries: list[str]) -> None:
    watched = {
        "readers": [psutil.Process(pid) for pid in pids],
        "PostgreSQL": [psutil.Process(server.pid)],
        "who asks": [psutil.Process()],
    }
    print()
    rates: dict[int, list[float]] = {1: [], 2: []}
    # Where others use the cores too, this is what can be told.
    by_processor: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for count in rates:
            # The readers and the database are children of who asks.
            before = {name: cpu_seconds(some) for name, some in watched.items()}
            took = sum(os.times()[:2])
            found, half = answered(urls[:count], queries)
            spent = {name: cpu_seconds(some) - before[name] for name, some in watched.items()}
            spent["who asks"] = sum(os.times()[:2]) - took
            rates[count].append(found / SECONDS)
            by_processor[count].append(found / spent["readers"])
            cores = ", ".join(f"{name} {one / SECONDS:.2f}" for name, one in spent.items())
            say(f"{count} of the readers", f"{found / SECONDS:.0f} a second, p50 {half:.0f} ms", cores)
    for name, some in (("", rates), (", by processor time of the readers", by_processor)):
        ratios = [two / one for one, two in zip(some[1], some[2], strict=True)]
        say(f"two / one{name}", f"{p50(ratios):.2f}", "" if name else "budget 1.8")
