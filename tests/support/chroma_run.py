"""A Chroma server in a process of its own, for the tests that are marked ``services``."""

import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.support.processes import free_port

PATIENCE = 60.0


def chroma_program() -> str:
    """The program of the server; a test that asks for it is skipped where there is none."""
    beside = Path(sys.executable).with_name("chroma")
    found = str(beside) if beside.exists() else shutil.which("chroma")
    if found is None:
        pytest.skip("there is no chroma to start: pip install chromadb")
    return found


class ChromaRun:
    """``chroma run`` over a folder, at one port through all its lives."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._program = chroma_program()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        where = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [self._program, "run", *where],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(f"{self.url}/api/v2/heartbeat", timeout=1):
                    return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    self.kill()
                    raise
                time.sleep(0.05)

    @property
    def is_up(self) -> bool:
        return self._process is not None

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def hold(self) -> None:
        """Have it answer no more, and keep its connections."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)
