"""Follows a vault: takes in what changes, as it changes, for as long as it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from math import inf

from notehop.config.errors import IndexLocked, MassDeletion, NotehopError, VaultError
from notehop.config.small_files import is_folder
from notehop.indexing.pipeline import Indexer
from notehop.indexing.pipeline.models import TooMuchToEmbed
from notehop.indexing.report import Update
from notehop.indexing.watch.events import EVERYTHING, OWN_SETTINGS, VaultEvents
from notehop.indexing.watch.state import TIMING, Phase, Timing, WatcherLock


class Follower:
    """Keeps one index up to its vault.

    It takes in what is reported, and scans the whole vault at the start, when the folder came back,
    when reports were lost, and now and then.
    """

    def __init__(
        self,
        indexer: Indexer,
        lock: WatcherLock,
        run_bulk: Callable[[], None],
        notify: Callable[[Update | str], None],
        reload: Callable[[], Indexer],
        timing: Timing = TIMING,
    ) -> None:
        """Touch nothing yet.

        :param indexer: raises :class:`TooMuchToEmbed` where it would load the model for bulk work.
        :param run_bulk: runs an indexer in a process of its own; raises NotehopError if that fails.
        :param notify: takes each update that wrote something, and what is in the way.
        :param reload: an indexer with the settings as they are now.
        """
        self._indexer, self._lock, self._timing = indexer, lock, timing
        self._run_bulk, self._notify, self._reload = run_bulk, notify, reload
        # What is to be taken in, when that is tried again, and when everything is.
        self._due = {EVERYTHING}
        self._retry_at, self._scan_at, self._mirror_at = 0.0, inf, inf
        self._events: VaultEvents | None = None
        # Why changes are not reported, and when the system is asked again.
        self._unreported: str | None = None
        self._ask_at = 0.0
        self._trouble: str | None = None  # what people were told is in the way

    def run(self, stop: threading.Event) -> None:
        """Follow until ``stop`` is set; IndexLocked if the index was deleted and others follow it."""
        try:
            while not stop.is_set():
                self._listen()
                self._wait(stop)
                now = time.monotonic()
                if self._due and now >= self._retry_at:
                    self._take_in()
                elif not self._due and now >= self._mirror_at:
                    self._update_mirror(stop)
        finally:
            self._end_events()

    def _wait(self, stop: threading.Event) -> None:
        """Wait a round, or for a report; then see what is due."""
        now, seconds = time.monotonic(), self._timing.round
        if self._due:
            seconds = min(seconds, max(0.0, self._retry_at - now))
        if self._events is None:
            stop.wait(seconds)
        else:
            paths, lost = self._events.take(seconds)
            if OWN_SETTINGS in paths:
                self._load_settings()
            self._due |= paths
            if lost:
                self._scan_at = min(self._scan_at, now + self._timing.lost)
        if time.monotonic() >= self._scan_at or not self._lock.held:
            self._due.add(EVERYTHING)

    def _listen(self) -> None:
        """See that changes are reported, where they can be; what happened while they were not is due."""
        vault, now = self._indexer.vault, time.monotonic()
        # A disk that answers with an error is not there.
        if self._events is None and now >= self._ask_at and is_folder(str(vault)):
            self._events = VaultEvents(vault, self._timing)
            self._events.start()
            if self._events.failure is None:
                self._unreported = None
                self._due.add(EVERYTHING)
        if self._events is not None and (why := self._events.failure) is not None:
            if self._events.refused:
                # To ask takes, for a moment, all the watches that other programs could have.
                self._ask_at = now + self._timing.report_retry
            self._end_events()
            if self._unreported is None:
                self._due.add(EVERYTHING)
            self._unreported = why

    def _end_events(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None

    def _load_settings(self) -> None:
        """Go on with the settings as they are now."""
        try:
            found = self._reload()
        except NotehopError as exc:
            self._notify(f"the settings stay as they were: {exc}")
            return
        if found.settings != self._indexer.settings:
            self._indexer = found
            self._retry_at = 0.0
            self._due.add(EVERYTHING)

    def _take_in(self) -> None:
        """Bring the index up to what is due; what cannot be done stays due."""
        if self._trouble is not None and is_folder(str(self._indexer.vault)):
            self._load_settings()  # which may help; perhaps no event told of them
        paths, self._due = self._due, set()
        everything, wrote = EVERYTHING in paths, True
        try:
            if not self._lock.held:  # the folder of the index went
                self._lock.release()
                self._lock.acquire()
            self._lock.write_state("indexing")
            try:
                update = self._indexer.update(None if everything else paths)
            except TooMuchToEmbed:
                self._run_bulk()
                self._notify("many changes were indexed by a process of their own")
            else:
                if wrote := update.wrote:
                    self._notify(update)
        except (NotehopError, OSError) as exc:
            if isinstance(exc, IndexLocked) and not self._lock.held:
                raise
            self._due |= paths
            self._failed(exc)
            return
        now, watch = time.monotonic(), self._indexer.settings.watch
        if everything:
            self._scan_at = now + (self._timing.lost if self._events is None else watch.rescan_s)
        # A Chroma server may have lost what it had: look now and then.
        if wrote or (everything and self._indexer.settings.vectors.engine == "chroma"):
            self._mirror_at = now + self._timing.quiet
        self._all_well()

    def _failed(self, exc: NotehopError | OSError) -> None:
        timing, soon = self._timing, isinstance(exc, IndexLocked | VaultError)  # only a look tells
        self._retry_at = time.monotonic() + (timing.soon_retry if soon else timing.retry)
        if isinstance(exc, IndexLocked):
            self._lock.write_state("waiting", str(exc))
            return
        # What else changed meanwhile was not taken in either: scan everything then.
        self._due = {EVERYTHING}
        self._report_trouble("held" if isinstance(exc, MassDeletion) else "waiting", str(exc))

    def _update_mirror(self, stop: threading.Event) -> None:
        """Bring the copy in Chroma up to the index, while nobody waits for that."""

        def interrupted() -> bool:
            return stop.is_set() or (self._events is not None and self._events.pending)

        self._mirror_at = time.monotonic() + self._timing.quiet
        try:
            if self._indexer.tidy(interrupted):
                self._mirror_at = inf
            self._all_well()
        except IndexLocked:
            pass
        except (NotehopError, OSError) as exc:
            self._mirror_at = time.monotonic() + self._timing.retry
            self._report_trouble("waiting", str(exc))

    def _all_well(self) -> None:
        """Nothing is in the way, but perhaps that changes are not reported."""
        detail = None
        if self._unreported is not None:
            detail = (
                f"the system does not report changes of the vault ({self._unreported}), "
                f"so all of it is looked at every {self._timing.lost:.0f} seconds"
            )
        self._report_trouble("following", detail)

    def _report_trouble(self, phase: Phase, detail: str | None) -> None:
        """Tell other processes what is in the way, and people if they do not know yet."""
        self._lock.write_state(phase, detail)
        if detail != self._trouble:
            self._trouble = detail
            self._notify(detail or "following the vault again")
