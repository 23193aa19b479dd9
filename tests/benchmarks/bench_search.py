"""Searching 10,000 notes in 30,000 chunks, against the stock assembly and the bare calls."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from app import open_vault
from tests.benchmarks.conftest import Large
from tests.benchmarks.pairs import in_turns, p50, p95, ratio, say
from tests.benchmarks.stock import bare_calls, stock_search

pytestmark = pytest.mark.bench


def test_warm_search(large: Large, tmp_path: Path) -> None:
    with open_vault(large.vault, index_dir=large.layout.root) as vault:
        vault.warm()
        samples = in_turns(
            {
                "notehop": lambda query: vault.search(query),
                "without connected": lambda query: vault.search(query, connected={"max": 0}),
                "bare": bare_calls(large.layout, large.settings),
                "stock": stock_search(large.layout, large.settings, tmp_path / "stock"),
            },
            large.queries,
        )
        stages = [vault.search(query).timings_ms for query in large.queries]
    print()
    for name, values in samples.items():
        say(f"search, {name}", f"p50 {p50(values):.1f}, p95 {p95(values):.1f} ms")
    say("search / stock assembly", f"{ratio(samples, 'notehop', 'stock'):.2f}", "budget 0.4")
    say("search / bare calls", f"{ratio(samples, 'notehop', 'bare'):.2f}", "budget 1.5")
    for stage in sorted({name for one in stages for name in one}):
        values = [one[stage] for one in stages if stage in one]
        budget = "budget p95 10 ms" if stage == "connected" else ""
        say(f"  stage {stage}", f"p50 {p50(values):.2f}, p95 {p95(values):.2f} ms", budget)


def test_memory_of_a_process_that_searches(large: Large) -> None:
    code = (
        "import sys; from pathlib import Path; from app import open_vault\n"
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


def test_cold_search(large: Large) -> None:
    command = [Path(sys.executable).with_name("notehop"), "search", large.queries[0]]
    command += ["--vault", large.vault, "--index-dir", large.layout.root]
    seconds = []
    for _ in range(4):
        started = perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        seconds.append(perf_counter() - started)
    say("cold notehop search, median of 3", f"{p50(seconds[1:]):.2f} s", "budget 3 s")
    started = perf_counter()
    subprocess.run([command[0], "--help"], capture_output=True, check=True)
    say("notehop --help", f"{perf_counter() - started:.2f} s", "budget 0.5 s")
