"""Timing in pairs: what is compared runs in turns, so that a drifting machine drifts for all."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter

Samples = dict[str, list[float]]
"""Name -> milliseconds, an entry a round."""


def in_turns(runs: Mapping[str, Callable[[str], object]], queries: Sequence[str], rounds: int = 2) -> Samples:
    """Time every run on every query, in turns; the first query is a warm-up of each.

    Who begins moves on with each query: what runs after a heavy neighbour finds cold caches.
    """
    for run in runs.values():
        run(queries[0])
    samples: Samples = {name: [] for name in runs}
    for _ in range(rounds):
        for number, query in enumerate(queries):
            names = list(runs)
            first = number % len(names)
            for name in (*names[first:], *names[:first]):
                run = runs[name]
                started = perf_counter()
                run(query)
                samples[name].append((perf_counter() - started) * 1000)
    return samples


def p50(values: Sequence[float]) -> float:
    return statistics.median(values)


def p95(values: Sequence[float]) -> float:
    return sorted(values)[int(0.95 * (len(values) - 1))]


def ratio(samples: Samples, name: str, to: str) -> float:
    return p50([a / b for a, b in zip(samples[name], samples[to], strict=True)])


def say(what: str, measured: str, budget: str = "") -> None:
    print(f"{what:58s} {measured:>26s}   {budget}")
