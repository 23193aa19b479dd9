"""The product in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

ROOT = Path(__file__).parents[2]
NOTEHOP = (sys.executable, "-m", "notehop")
PATIENCE = 60.0


def environment(**more: str) -> dict[str, str]:
    """The environment of a child: this checkout, one thread, and more variables."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def interruptible() -> Iterator[None]:
    """Start children that an interrupt ends, though who runs the tests ignores it (``nohup``)."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def notehop_serve(
    vault: Path, index: Path, *more: str, watch: bool = False, ends: int = signal.SIGTERM, **variables: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """``notehop serve`` on a free port: its address once it listens, and the process.

    Its standard error was read up to the line that says so. When the block ends the process is told
    to end, and must.

    :param more: further words of the command.
    :param ends: the signal that tells it to.
    :param variables: of its environment.
    """
    words = [] if watch else ["--no-watch"]
    where = ["--vault", str(vault), "--index-dir", str(index)]
    with notehop_serve_all(*words, *where, *more, ends=ends, **variables) as found:
        yield found


@contextmanager
def notehop_serve_all(
    *words: str, ends: int = signal.SIGTERM, **variables: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The same of whatever vaults the words of the command name."""
    with subprocess.Popen(
        [*NOTEHOP, "serve", "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**variables),
    ) as process:
        try:
            said: list[str] = []
            while not said or "notehop answers for" not in said[-1]:
                said.append(process.stderr.readline())
                assert said[-1], "".join(said)
            yield said[-1].split(" at ")[1].split(" ")[0], process
            process.send_signal(ends)
            assert process.wait(PATIENCE) == (-ends if ends == signal.SIGKILL else 0)
        finally:
            process.kill()


@contextmanager
def running(words: list[str], **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command whose standard input and output are ours."""
    with subprocess.Popen(
        [*NOTEHOP, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(**variables)
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(happens: Callable[[], T], patience: float = PATIENCE) -> T:
    """Wait for what is true in the end, and return it."""
    end = time.monotonic() + patience
    while not (found := happens()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found
