"""Numbers about a server in the text format of Prometheus: requests, stages, queues, its loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle

MEDIA_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)

PAUSE = 0.02
"""Seconds between two looks at how late the event loop is."""


class Metrics:
    """What is counted of one server."""

    def __init__(self, vault: VaultHandle, workers: Workers) -> None:
        # When each number began is one more series of each, and no one asks.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = own = CollectorRegistry()
        # Memory, processor time and open files of this process, where the system tells them.
        ProcessCollector(registry=own)
        self._requests = Counter(
            "notehop_requests", "Requests.", ("route", "method", "status"), registry=own
        )
        times = partial(Histogram, registry=own, buckets=_SECONDS)
        self._seconds = times("notehop_request_seconds", "Time of a request.", ("route",))
        self._stages = times("notehop_stage_seconds", "Time of a stage of a query.", ("stage",))
        self._late = times("notehop_loop_lag_seconds", "How late the event loop is.")
        taken = Gauge(
            "notehop_taken", "Requests that run or wait for their turn.", ("pool",), registry=own
        )
        taken.labels("answers").set_function(lambda: workers.answers.taken)
        taken.labels("lookups").set_function(lambda: workers.lookups.taken)
        generation = Gauge("notehop_generation", "Generation of the index.", registry=own)
        generation.set_function(lambda: vault.generation)
        ready = Gauge("notehop_ready", "Whether all that queries need is loaded.", registry=own)
        ready.set_function(lambda: vault.ready)

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, method, status).inc()
        self._seconds.labels(route).observe(seconds)

    def stages(self, timings_ms: Mapping[str, float]) -> None:
        """Count the stages of a reply."""
        for stage, milliseconds in timings_ms.items():
            self._stages.labels(stage).observe(milliseconds / 1000)

    async def watch_loop(self) -> None:
        """Measure how late the event loop is, until cancelled."""
        while True:
            before = time.perf_counter()
            await asyncio.sleep(PAUSE)
            self._late.observe(max(0.0, time.perf_counter() - before - PAUSE))

    def text(self) -> bytes:
        """All of it in the text format."""
        return generate_latest(self._registry)
