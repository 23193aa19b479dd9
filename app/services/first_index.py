"""Makes the index of a vault that has none, in a process of its own.

Touches: vault-read, index, model, processes.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from notehop.app.services.following import index_arguments
from notehop.app.services.place import Place
from notehop.config.errors import IndexMissing
from notehop.indexing.program import PROGRAM
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.replacement import settle


def has_index(place: Place) -> bool:
    """Whether the vault was ever indexed; one that cannot be read counts, and is damaged."""
    settle(place.layout)
    try:
        with Catalog.open(place.layout.catalog, read_only=True) as catalog:
            return "fingerprint" in catalog.meta()
    except IndexMissing:
        return False


class FirstIndex:
    """Makes the index of a vault in a process of its own, and knows how far it is."""

    def __init__(
        self,
        place: Place,
        *,
        command: str = "notehop index",
        config_file: Path | None = None,
        program: Sequence[str] = PROGRAM,
        told: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Start nothing yet.

        :param command: what people know the one by that it is made for.
        :param told: hears each line that the process says.
        """
        self._told = told
        self._command = [*program, *index_arguments(place, config_file), "--part-of", command]
        self._stop = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self.running = True
        self.said = "just begun"
        self.failure: str | None = None

    def run(self) -> None:
        """Make it; ``said`` is what the process said last, ``failure`` that if it failed."""
        try:
            with subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            ) as process:
                self._process = process
                if self._stop.is_set():
                    process.terminate()
                assert process.stderr is not None
                for line in process.stderr:
                    if line.strip():
                        self.said = line.strip()
                        self._told(self.said)
            if process.returncode:
                self.failure = self.said.removeprefix("error: ")
        except OSError as exc:
            self.failure = f"no process could be started ({exc.strerror or exc})"
        finally:
            self.running = False

    def stop(self) -> None:
        """End the process; the next run goes on where it was."""
        self._stop.set()
        process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
