"""Follows a vault: in this process, or in one of its own beside a server.

A server leaves it to another process: its queries do not wait for indexing, and the memory that
bulk work takes ends with it.

Touches: vault-read, index, model, processes.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from app.container.place import Place
from app.container.update import update_index
from config import Settings, load_settings
from config.errors import IndexMissing
from indexing.stores.catalog import Catalog
from indexing.stores.replacement import settle

if TYPE_CHECKING:
    from indexing.report import Progress, Update

FIRST_RETRY = 1.0
"""Seconds until a follower that ended is started again; doubled each time it ends at once."""

LAST_RETRY = 60.0
"""The longest such wait, and the life that makes a follower count as having worked."""

ENDING = 5.0
"""Seconds that a follower is given to finish what it writes."""


def follow_vault(
    place: Place,
    told: Callable[[Update | str], None],
    stop: threading.Event,
    *,
    config_file: Path | None = None,
) -> None:
    """Keep the index of a vault up to it, in this process, until ``stop`` is set.

    :param told: hears of each update and of what is in the way.
    :raises NotehopError: as :func:`indexing.watch.follow.follow`.
    """
    from indexing.watch.follow import Following, follow

    def settings() -> Settings:
        return load_settings(vault=place.vault, config_file=config_file)

    follow(
        Following(
            vault=place.vault,
            layout=place.layout,
            settings=settings,
            command="notehop index --watch",
            arguments=_arguments(place, config_file),
            told=told,
        ),
        stop,
    )


def first_index(place: Place, progress: Progress) -> None:
    """Make the index of a vault that has none; one that is there is left to the follower.

    :raises NotehopError: as :meth:`indexing.pipeline.Indexer.run`.
    """
    settle(place.layout)
    try:
        with Catalog.open(place.layout.catalog, read_only=True) as catalog:
            if "fingerprint" in catalog.meta():
                return
    except IndexMissing:
        pass
    update_index(place, progress=progress)


class FollowerProcess:
    """A process that follows a vault while this one lives; use it in a ``with``."""

    def __init__(
        self,
        place: Place,
        command: str,
        warn: Callable[[str], None],
        *,
        config_file: Path | None = None,
        program: Sequence[str] = (sys.executable, "-m", "indexing"),
    ) -> None:
        """Start nothing yet.

        :param command: what people know this process by.
        :param warn: hears when the follower ended and is started again.
        """
        self._command = [*program, *_arguments(place, config_file), "--supervised", command]
        self._warn = warn
        self._stop = threading.Event()
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, name="notehop-follower", daemon=True)

    def __enter__(self) -> Self:
        self._keeper.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the follower; it finishes what it writes."""
        with self._turn:
            self._stop.set()
            process = self._process
        if process is not None:
            _end(process)
        self._keeper.join(ENDING)

    def _keep(self) -> None:
        wait = FIRST_RETRY
        while not self._stop.is_set():
            with self._turn:
                if self._stop.is_set():
                    return
                # It ends when this pipe does, so also when this process is killed.
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
                )
            with self._process as process:
                try:
                    code = process.wait(LAST_RETRY)
                except subprocess.TimeoutExpired:
                    wait = FIRST_RETRY
                    code = process.wait()
            if self._stop.is_set():
                return
            self._warn(f"the index is not followed for {wait:.0f} s: its process ended ({code})")
            self._stop.wait(wait)
            wait = min(2 * wait, LAST_RETRY)


def _arguments(place: Place, config_file: Path | None) -> list[str]:
    found = [str(place.vault), "--index-dir", str(place.layout.root)]
    return [*found, "--config", str(config_file)] if config_file is not None else found


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(ENDING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
