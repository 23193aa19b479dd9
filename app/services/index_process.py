"""Brings an index up to its vault in a process of its own, whose memory ends with it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from notehop.app.services.open_vault import Place
from notehop.config.errors import BeingIndexed, IndexFailure, IndexMissing, NotehopError
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.watch.process import index_program, run_program
from notehop.indexing.watch.state import read_watch_state


def remedy(layout: IndexLayout) -> str:
    """Say who indexes what changed, or how to have it done."""
    watcher = read_watch_state(layout)
    if watcher is None:
        return "run: notehop index"
    under_way = watcher.state in ("indexing", "following")
    return "indexing is under way" if under_way else "notehop status says why not"


FIRST_RETRY = 1.0
"""Seconds until a follower that ended is started again; doubled each time it ends at once."""

LAST_RETRY = 60.0
"""The longest such wait, and the life that makes a follower count as having worked."""

JUST_BEGUN = "just begun"  # how far a run is that has not said so yet

ENDING = 5.0  # seconds that a process is given to finish what it writes


class FollowerProcess:
    """A process that follows a vault while this one lives.

    :param command: what people know this process by.
    :param warn: hears when the follower ended and is started again.
    :ivar trouble: why it ended last, while none runs.
    """

    def __init__(
        self, place: Place, command: str, warn: Callable[[str], None], config_file: Path | None
    ) -> None:
        program = index_program(place.vault, place.layout, config_file)
        self._command = [*program, "--supervised", command]
        self._warn = warn
        self.trouble: str | None = None
        self._stop = threading.Event()
        self._keeper = threading.Thread(target=self._keep, name="notehop-follower", daemon=True)

    def start(self) -> None:
        """Start it, and again whenever it ends."""
        self._keeper.start()

    def stop(self) -> None:
        """End the follower; it finishes what it writes."""
        self._stop.set()
        self._keeper.join(2 * ENDING)

    def _keep(self) -> None:
        wait = FIRST_RETRY / 2
        while not self._stop.is_set():
            began = time.monotonic()
            self.trouble = None
            self.trouble = self._run()
            if self._stop.is_set():
                return
            worked = time.monotonic() - began >= LAST_RETRY
            wait = FIRST_RETRY if worked else min(2 * wait, LAST_RETRY)
            with suppress(OSError, ValueError):
                self._warn(f"the index is not followed for {wait:.0f} s: {self.trouble}")
            self._stop.wait(wait)

    def _run(self) -> str:
        """Run the process until it ends, or is to; why it ended."""

        def pass_on(line: str) -> None:
            # Standard error may be closed by now: that is no reason to hear no more.
            with suppress(OSError, ValueError):
                sys.stderr.write(f"{line}\n")

        try:
            run_program(self._command, self._stop, pass_on, ENDING)
        except IndexFailure as exc:
            return str(exc)
        return "its process ended"


def has_index(place: Place) -> bool:
    """Whether a run over the index ever came to its end; an index that cannot be read counts."""
    # Here and not above: every search imports this module, and few need the database.
    from notehop.indexing.stores.catalog import Catalog

    try:
        with Catalog.of(place.layout) as catalog:
            meta = catalog.meta()
            ended = not meta.get("under_way") or place.layout.catalog_state.is_file()
            return "fingerprint" in meta and ended
    except IndexMissing:
        return False
    except NotehopError:
        # It is damaged, or its server is away: who opens it says so, and who follows it waits.
        return True


def check_first_index(place: Place) -> None:
    """Open nothing of a vault whose first index a follower makes: there is none, or a part.

    :raises BeingIndexed: saying how far it is.
    """
    state = read_watch_state(place.layout)
    if state is not None and state.state == "indexing" and not has_index(place):
        raise being_indexed(place, state.detail or JUST_BEGUN)


def being_indexed(place: Place, progress: str) -> BeingIndexed:
    return BeingIndexed(
        f"{place.name} is being indexed for the first time ({progress}); ask again in a minute"
    )
