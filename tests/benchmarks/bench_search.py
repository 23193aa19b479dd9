"""Searching 10,000 notes in 30,000 chunks, against the stock assembly and the bare calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from notehop import open_vault
from tests.benchmarks.conftest import Large
from tests.benchmarks.pairs import in_turns, p50, p95, ratio, say
from tests.benchmarks.stock import bare_calls, make_stock, stock_search

pytestmark = pytest.mark.bench

EVERY_SIGNAL = {
    "retrieval.weights.recent": 1.0,
    "retrieval.weights.graph": 0.25,
    "retrieval.weights.recency": 0.25,
}
"""The signals that are off by default, switched on."""


@pytest.fixture(scope="session")
def stock(large: Large, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stock")
    make_stock(large.layout, folder)
    return folder


def test_warm_search(large: Large, stock: Path) -> None:
    every = large.settings.with_overrides(EVERY_SIGNAL)
    with (
        open_vault(large.vault, index_dir=large.layout.root) as vault,
        open_vault(large.vault, index_dir=large.layout.root, settings=every) as full,
    ):
        vault.warm()
        full.warm()
        samples = in_turns(
            {
                "notehop": lambda query: vault.search(query),
                "without connected": lambda query: vault.search(query, connected={"max": 0}),
                "every signal": lambda query: full.search(query),
                "bare": bare_calls(large.layout, large.settings),
                "stock": stock_search(stock),
            },
            large.queries,
        )
        stages = [vault.search(query).timings_ms for query in large.queries]
    print()
    for name, values in samples.items():
        say(f"search, {name}", f"p50 {p50(values):.1f}, p95 {p95(values):.1f} ms")
    for name, called in (("notehop", "search"), ("every signal", "search with every signal")):
        say(f"{called} / stock assembly", f"{ratio(samples, name, 'stock'):.2f}", "budget 0.45")
        say(f"{called} / bare calls", f"{ratio(samples, name, 'bare'):.2f}", "budget 1.7")
    for stage in sorted({name for one in stages for name in one}):
        values = [one[stage] for one in stages if stage in one]
        budget = "budget p95 10 ms" if stage == "connected" else ""
        say(f"  stage {stage}", f"p50 {p50(values):.2f}, p95 {p95(values):.2f} ms", budget)


def test_second_look(large: Large) -> None:
    with open_vault(large.vault, index_dir=large.layout.root) as vault:
        vault.warm()
        for asked in (vault.search, vault.ask):
            name = asked.__name__
            samples = in_turns(
                {
                    "once": lambda query, asked=asked: asked(query, second_look=False),
                    "twice": lambda query, asked=asked: asked(query, second_look=True),
                },
                large.queries,
            )
            more = [b - a for a, b in zip(samples["once"], samples["twice"], strict=True)]
            say(f"{name} with a second look / without", f"{ratio(samples, 'twice', 'once'):.2f}")
            say(f"a second look adds to {name}", f"p50 {p50(more):.1f} ms", "budget 25 ms")
        replies = [vault.search(query, second_look=True) for query in large.queries]
    values = [reply.timings_ms["second_look"] for reply in replies]
    say("  stage second_look", f"p50 {p50(values):.2f}, p95 {p95(values):.2f} ms")


def test_memory_of_a_process_that_searches(large: Large) -> None:
    code = (
        "import sys; from pathlib import Path; from notehop.app import open_vault\n"
        "with open_vault(sys.argv[1], index_dir=sys.argv[2]) as vault:\n"
        "    for query in sys.argv[3:]: vault.search(query)\n"
        # Not ru_maxrss, which begins with the size of the process that forked this one.
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, large.vault, large.layout.root, *large.queries],
        capture_output=True,
        text=True,
        check=True,
    )
    say("memory of a process that searches", f"{int(done.stdout) / 1e6:.2f} GB", "budget 1.5 GB")


def test_cold_search(large: Large, stock: Path) -> None:
    """Processes of their own, in turns: start, load, answer, end."""
    query = large.queries[0]
    notehop = Path(sys.executable).with_name("notehop")
    module = [sys.executable, "-m", "tests.benchmarks.stock"]
    commands = {
        "notehop": [*(notehop, "search", query), *("--vault", large.vault, "--index-dir", large.layout.root)],
        "bare": [*module, "bare", large.layout.root, query],
        "stock": [*module, "stock", stock, query],
    }
    # The first round reads files that the next find in memory, and compiles modules.
    rounds = [{name: _seconds(command) for name, command in commands.items()} for _ in range(4)]
    print()
    for name in commands:
        budget = "budget 3 s" if name == "notehop" else ""
        say(f"cold search, {name}", f"{p50([one[name] for one in rounds[1:]]):.2f} s", budget)
    for name in ("stock", "bare"):
        told = p50([one["notehop"] / one[name] for one in rounds[1:]])
        say(f"cold search / {name}", f"{told:.2f}")
    say("notehop --help", f"{_seconds([notehop, '--help']):.2f} s", "budget 0.5 s")


def _seconds(command: list[Any]) -> float:
    # Users' Python keeps what it compiled.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    started = perf_counter()
    subprocess.run(command, capture_output=True, check=True, env=kept)
    return perf_counter() - started
