"""Numbers about a server in the text format of Prometheus: requests, stages, queues, its loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from notehop.app.api.workers import Workers
from notehop.app.services.vaults import LazyVault, Vaults

MEDIA_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
PAUSE = 0.02  # seconds between two looks at how late the event loop is


class Metrics:
    """What is counted of one server."""

    def __init__(self, vaults: Vaults, workers: Workers) -> None:
        # When each number began is one more series of each, and no one asks.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._default = vaults.default
        self._registry = own = CollectorRegistry()
        # Memory, processor time and open files of this process, where the system tells them.
        ProcessCollector(registry=own)
        self._requests = Counter(
            "notehop_requests", "Requests.", ("vault", "route", "method", "status"), registry=own
        )
        times = partial(Histogram, registry=own, buckets=_SECONDS)
        self._seconds = times("notehop_request_seconds", "Time of a request.", ("vault", "route"))
        self._stages = times(
            "notehop_stage_seconds", "Time of a stage of a query.", ("vault", "stage")
        )
        self._late = times("notehop_loop_lag_seconds", "How late the event loop is.")
        taken = Gauge(
            "notehop_taken", "Requests that run or wait for their turn.", ("pool",), registry=own
        )
        taken.labels("answers").set_function(lambda: workers.taken(slow=True))
        taken.labels("lookups").set_function(lambda: workers.taken(slow=False))
        of_each = partial(Gauge, labelnames=("vault",), registry=own)
        generation = of_each("notehop_generation", "Generation of the index; 0 if it is not open.")
        ready = of_each("notehop_ready", "Whether all that queries need is loaded.")
        for name, vault in vaults.items():
            generation.labels(name).set_function(partial(_generation, vault))
            ready.labels(name).set_function(partial(getattr, vault, "ready"))

    def request(
        self, vault: str | None, route: str, method: str, status: int, seconds: float
    ) -> None:
        """Count a request to a vault of this name, None for the default."""
        name = vault or self._default
        self._requests.labels(name, route, method, status).inc()
        self._seconds.labels(name, route).observe(seconds)

    def stages(self, vault: str | None, timings_ms: Mapping[str, float]) -> None:
        """Count the stages of a reply."""
        for stage, milliseconds in timings_ms.items():
            labelled = self._stages.labels(vault or self._default, stage)
            labelled.observe(milliseconds / 1000)

    async def watch_loop(self) -> None:
        """Measure how late the event loop is, until cancelled."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(PAUSE)
            self._late.observe(max(0.0, time.perf_counter() - before - PAUSE))

    def text(self) -> bytes:
        """All of it in the text format."""
        return generate_latest(self._registry)


def _generation(vault: LazyVault) -> float:
    return vault.generation or 0
