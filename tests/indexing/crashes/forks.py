"""Jobs in processes of their own, from a test."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Told = dict[str, Any]

ROOT = Path(__file__).parents[3]


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
    """Gives jobs to the process that forks (:mod:`tests.indexing.crashes.zygote`)."""

    def __init__(self) -> None:
        self._zygote = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "tests.indexing.crashes.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )

    def close(self) -> None:
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        self._zygote.stdin.close()
        self._zygote.wait()
        self._zygote.stdout.close()

    def run(
        self, job: str, *, kill_after: float | None = None, signal: int = 9, **arguments: Any
    ) -> Ended:
        """Do a job of :data:`tests.indexing.crashes.jobs.JOBS` and wait for its end.

        :param kill_after: seconds after which the process is sent ``signal``.
        """
        said: Told = {"job": job, "arguments": arguments}
        if kill_after is not None:
            said |= {"kill_after": kill_after, "signal": signal}
        assert self._zygote.stdin is not None
        assert self._zygote.stdout is not None
        self._zygote.stdin.write(json.dumps(said) + "\n")
        self._zygote.stdin.flush()
        line = self._zygote.stdout.readline()
        assert line, "the process that forks has ended; what it said stands above"
        told = json.loads(line)
        return Ended(told["code"], told["seconds"], told["told"] or {})

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
