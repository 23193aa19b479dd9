"""Follows a vault: takes in what changes, as it changes, for as long as it runs.

Touches: vault-read, index, model.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from notehop.config.errors import (
    IndexDamaged,
    IndexLocked,
    IndexMismatch,
    MassDeletion,
    NotehopError,
    VaultError,
)
from notehop.indexing.pipeline import Indexer
from notehop.indexing.report import Update
from notehop.indexing.stores.run_record import read_run_record
from notehop.indexing.watch.events import EVERYTHING, Reported
from notehop.indexing.watch.listening import Listening
from notehop.indexing.watch.looks import HALF_WRITTEN, Marks, half_written, marks
from notehop.indexing.watch.losses import Losses
from notehop.indexing.watch.pace import LAST_WAIT, TIMING, Pace, Retry, Timing
from notehop.indexing.watch.state import Phase, Watching


class Bulky(Exception):
    """More has to be embedded than the follower does itself: a process of its own shall do it."""


class Follower:
    """Keeps one index up to its vault.

    It takes in what it is told of, and looks at the whole vault at the start, after a sleep of the
    machine, when the folder came back, and now and then.
    """

    def __init__(
        self,
        indexer: Indexer,
        watching: Watching,
        bulk: Callable[[], None],
        told: Callable[[Update | str], None],
        reload: Callable[[], Indexer],
        timing: Timing = TIMING,
    ) -> None:
        """Touch nothing yet.

        :param indexer: with a door that raises :class:`Bulky` where it is asked for too much.
        :param bulk: runs an indexer in a process of its own; raises NotehopError if that fails.
        :param told: hears of each update that wrote something, and of what is in the way.
        :param reload: an indexer with the settings as they are now.
        :param timing: when it does what.
        """
        self._indexer = indexer
        self._watching = watching
        self._bulk = bulk
        self._told = told
        self._reload = reload
        self._timing = timing
        self._listening = Listening(indexer.vault, timing)
        self._pace = Pace(indexer.settings.watch.rescan_s, timing)
        self._losses = Losses()
        self._due: set[str] = set()
        self._upkeep = False
        self._upkeep_retry = Retry()
        self._trouble: str | None = None
        self._failed_at: Marks | None = None
        self._blocked = False

    def run(self, stop: threading.Event) -> None:
        """Follow until ``stop`` is set.

        :raises IndexLocked: if the index was deleted, and another process follows the new one.
        """
        try:
            self._due = {EVERYTHING}
            while not stop.is_set():
                self._keep_right()
                if self._listening.check():
                    self._lost_reports()
                self._note(self._listening.take(self._patience(), stop))
                if self._ready():
                    self._listen()
                    self._take_in()
                elif not self._due and self._upkeep and self._may_tidy():
                    self._tidy()
        finally:
            self._listening.end()

    def _keep_right(self) -> None:
        """See that no other process may follow; an index that was deleted is made again."""
        if self._pace.run.left:
            return
        try:
            if self._watching.renew():
                self._due.add(EVERYTHING)
                self._pace.run.over()
        except IndexLocked:
            raise
        except NotehopError as exc:
            self._failed(exc, {EVERYTHING})

    def _note(self, reported: Reported) -> None:
        """What is due now, and whether it may help against what is in the way."""
        if reported.settings:
            self._adopt()
        if reported.paths:
            self._pace.run.hurry()
        self._due |= reported.paths
        if reported.lost:
            self._pace.lost()
        if self._pace.overslept() or self._pace.rescan_due():
            self._due.add(EVERYTHING)
        if self._failed_at is not None and marks(self._indexer.layout) != self._failed_at:
            self._failed_at, self._blocked = None, False
            self._pace.run.over()
        if self._blocked and not self._pace.run.left:
            self._pace.run.again(self._timing.failed_retry, self._timing.failed_retry)
            self._adopt(asked=False)

    def _ready(self) -> bool:
        return bool(self._due) and not self._blocked and not self._pace.run.left

    def _patience(self) -> float:
        """Seconds to wait for reports."""
        if not self._due or self._blocked:
            return self._timing.round
        return min(self._timing.round, self._pace.run.left)

    def _listen(self) -> None:
        """See that changes are reported; whatever happened before they were is due."""
        if self._listening.begin(self._indexer.settings.watch):
            self._due.add(EVERYTHING)
            if not self._listening.hears:
                self._lost_reports()

    def _lost_reports(self) -> None:
        """Go on without: the vault is looked at again and again until there are some."""
        self._due.add(EVERYTHING)
        if self._listening.deaf is not None:
            self._say("following", self._listening.deaf)

    def _adopt(self, *, asked: bool = True) -> None:
        """Go on with the settings as they are now; wrong ones change nothing.

        :param asked: they are known to have changed; else they are looked at.
        """
        try:
            found = self._reload()
        except NotehopError as exc:
            if asked:
                self._told(f"the settings stay as they were: {exc}")
            return
        before = self._indexer.settings
        if not asked and found.settings == before:
            return
        self._indexer = found
        self._pace.rescan_s = found.settings.watch.rescan_s
        self._losses.forget()
        self._blocked = False
        self._pace.run.over()
        self._due.add(EVERYTHING)
        if found.settings.watch != before.watch:
            self._listening.end()

    def _take_in(self) -> None:
        """Bring the index up to what is due; what cannot be done stays due."""
        paths, self._due = self._due, set()
        half = half_written(self._indexer.vault, paths)
        if half:
            self._due |= half
            self._pace.run.again(HALF_WRITTEN / 2, HALF_WRITTEN / 2)
            paths = paths - half
            if not paths:
                return
        everything = EVERYTHING in paths
        began = time.monotonic()
        try:
            self._watching.tell("indexing")
            wrote = self._update(None if everything else paths)
        except (NotehopError, OSError) as exc:
            self._failed(exc, paths)
            return
        if everything:
            self._pace.rescanned(time.monotonic() - began)
        if not half:
            self._rest_after(wrote)
        # Work that took long is no sleep.
        self._pace.overslept()
        self._failed_at = None
        self._well(checked=everything)

    def _rest_after(self, wrote: bool) -> None:
        """Wait for nothing; or, where nothing is reported, until the vault is looked at again."""
        if wrote or self._listening.hears:
            self._pace.run.over()
        if not self._listening.hears:
            self._due.add(EVERYTHING)
            self._pace.run.again(
                max(self._timing.vault_retry, self._pace.rest), self._timing.deaf_most
            )

    def _update(self, paths: set[str] | None) -> bool:
        """Whether it wrote something."""
        try:
            update = self._indexer.update(paths, lately=self._losses.count())
        except Bulky:
            self._bulk()
            self._told("many changes were indexed by a process of their own")
            if (record := read_run_record(self._indexer.layout)) is not None:
                self._losses.add(record.deleted, record.added)
            self._upkeep = True
            return True
        self._losses.add(update.deleted, update.added)
        if update.wrote:
            self._upkeep = True
            self._pace.worked()
            self._told(update)
        return update.wrote

    def _failed(self, exc: NotehopError | OSError, paths: set[str]) -> None:
        self._due |= paths
        if isinstance(exc, IndexLocked):
            self._pace.run.again(self._timing.locked_retry, self._timing.locked_retry)
            self._watching.tell("waiting", str(exc))
            return
        # What else changed meanwhile was not taken in either: look at everything then.
        self._due = {EVERYTHING}
        if isinstance(exc, VaultError):
            # Where nothing is reported, only a look tells that the vault is back.
            most = LAST_WAIT if self._listening.hears else self._timing.vault_retry
            self._pace.run.again(self._timing.vault_retry, most)
        else:
            self._pace.run.again(self._timing.failed_retry)
        if isinstance(exc, MassDeletion):
            self._losses.hold()
        # To find that again takes a look at the whole index.
        self._blocked = isinstance(exc, IndexDamaged | IndexMismatch)
        self._failed_at = marks(self._indexer.layout)
        self._say("held" if isinstance(exc, MassDeletion) else "waiting", _said(exc))

    def _may_tidy(self) -> bool:
        return self._pace.quiet() and not self._upkeep_retry.left

    def _tidy(self) -> None:
        """Do what keeps the index small and quick to open, while nobody waits for it."""
        try:
            self._indexer.tidy()
        except IndexLocked:
            self._upkeep_retry.again(self._timing.quiet, self._timing.quiet)
            return
        except (NotehopError, OSError) as exc:
            self._upkeep_retry.again(self._timing.failed_retry)
            self._say("waiting", _said(exc))
            return
        self._upkeep = False
        self._upkeep_retry.over()
        self._well()

    def _well(self, *, checked: bool = False) -> None:
        """Nothing is in the way, but perhaps that changes are not reported."""
        self._watching.tell("following", self._listening.deaf, checked=checked)
        if self._trouble is not None and self._listening.hears:
            self._trouble = None
            self._told("following the vault again")

    def _say(self, state: Phase, detail: str) -> None:
        """Tell other processes what is in the way, and people if they do not know yet."""
        self._watching.tell(state, detail)
        if detail != self._trouble:
            self._trouble = detail
            self._told(detail)


def _said(exc: NotehopError | OSError) -> str:
    if isinstance(exc, OSError):
        return ": ".join(str(part) for part in (exc.filename, exc.strerror or exc) if part)
    return str(exc)
