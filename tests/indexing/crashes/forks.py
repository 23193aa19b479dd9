"""Jobs in processes of their own, from a test.

A server that has imported everything and opened nothing forks one for each job: starting Python and
importing the product takes seconds, a fork milliseconds. The vector store must not be opened before
a fork: its threads would be missing in the child.
"""

import multiprocessing
import os
import signal
import time
import traceback
import warnings
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.indexing.crashes.jobs import JOBS, Told

PRELOADED = [
    "tests.indexing.crashes.warm",
    "notehop.indexing.stores.served.postgres_database",
    "chromadb.api.rust",
    "chromadb.errors",
    "psycopg",
]
"""What jobs import, or would import each for itself."""

UNFORESEEN = 70
"""The exit code of a job that raised what it should not."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a process: its exit code, negative for a signal, and what it told."""

    code: int
    seconds: float
    told: Told

    @property
    def killed(self) -> bool:
        return self.code < 0


class Forks:
    def __init__(self) -> None:
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload(PRELOADED)

    def run(
        self, job: str, *, kill_after: float | None = None, signal: int = signal.SIGKILL, **arguments: Any
    ) -> Ended:
        """Do a job of :data:`tests.indexing.crashes.jobs.JOBS` and wait for its end.

        :param kill_after: seconds after which the process is sent ``signal``.
        """
        started = time.monotonic()
        # No file: the disk may be full.
        ours, theirs = self._processes.Pipe(duplex=False)
        process = self._processes.Process(target=_child, args=(job, arguments, theirs))
        process.start()
        theirs.close()
        if kill_after is not None:
            process.join(kill_after)
            # One that has ended was quicker; its number may be another's by now.
            if process.is_alive():
                with suppress(ProcessLookupError):
                    os.kill(int(process.pid or 0), signal)
        try:
            told: Told = ours.recv()
        except EOFError:
            told = {}
        process.join()
        code = process.exitcode
        assert code is not None
        return Ended(code, time.monotonic() - started, told if code == 0 else {})

    def index(self, home: Path, **arguments: Any) -> Ended:
        ended = self.run("index", home=str(home), **arguments)
        assert ended.code == 0, f"the run ended with {ended.code}"
        return ended

    def read(self, home: Path, at: str = "index") -> Told:
        ended = self.run("read", home=str(home), at=at)
        assert ended.code == 0, f"the reader ended with {ended.code}"
        return ended.told

    def mended(self, home: Path, where: str, *, mirror: bool = False) -> Told:
        """All that an index says after another run over it, which must succeed."""
        ended = self.run("mended", home=str(home), mirror=mirror)
        assert ended.code == 0, f"{where}: the run ended with {ended.code}"
        assert ended.told["error"] is None, f"{where}: {ended.told}"
        return ended.told

    def content(self, home: Path, at: str = "index") -> Told:
        ended = self.run("content", home=str(home), at=at)
        assert ended.code == 0, f"the reader ended with {ended.code}"
        assert ended.told["error"] is None, ended.told
        return ended.told


def _child(job: str, arguments: dict[str, Any], answer: Connection) -> None:
    warnings.simplefilter("error")
    try:
        answer.send(JOBS[job](**arguments))
        # No tidying up at the end: the parent's.
        os._exit(0)
    except BaseException:  # noqa: BLE001 (it ends here, and the parent tells)
        traceback.print_exc()
        os._exit(UNFORESEEN)
