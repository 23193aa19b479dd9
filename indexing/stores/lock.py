"""The lock that lets one process at a time write an index.

The lock is the operating system's, on an open file: it ends with its process, however that ends. The JSON
beside it only tells people who holds it. A catalog on a server has a lock there too, for all machines.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from notehop.config.errors import IndexFailure, IndexLocked, IndexUnwritable
from notehop.indexing import crash_points
from notehop.indexing.stores.layout import IndexLayout, read_json, write_private
from notehop.indexing.stores.rows import Holder

if TYPE_CHECKING:
    from notehop.indexing.stores.served.postgres_database import LockSession


class WriterLock:
    """Holds an index for writing, from ``acquire`` (or ``with``) to ``release``.

    :param holder: the command that will write, as a person knows it (``notehop index``).
    :param patience: seconds to wait for another holder; some hold it for a moment only.
    """

    def __init__(self, layout: IndexLayout, holder: str, *, patience: float = 0.0) -> None:
        self._layout = layout
        self._holder = holder
        # thread_local off: the thread that releases need not be the one that acquired.
        # A soft lock would outlive its process: better none, and to say so.
        self._lock = FileLock(
            layout.lock, patience, thread_local=False, fallback_to_soft=False, poll_interval=0.02
        )
        self._patience = patience
        self._session: LockSession | None = None

    def acquire(self) -> None:
        """Take the lock.

        :raises IndexLocked: if another writer holds it, naming who.
        :raises IndexUnwritable: if the folder cannot be written, or its disk knows no locks.
        :raises IndexFailure: if the server of the catalog cannot be reached.
        """
        layout = self._layout
        try:
            with locking(layout.root):
                layout.make_folder()
                self._lock.acquire()
                crash_points.point("lock-taken")
                if layout.database is not None:
                    from notehop.indexing.stores.served.postgres_database import LockSession

                    self._session = LockSession(layout.database, self._holder)
                    self._session.take(self._patience)
                since = datetime.now(UTC).isoformat(timespec="seconds")
                holder = Holder(os.getpid(), socket.gethostname(), self._holder, since)
                write_private(layout.lock_holder, json.dumps(asdict(holder)))
                crash_points.point("lock-holder-told")
        except Timeout as exc:
            who = read_json(Holder, layout.lock_holder) or "another process"
            raise IndexLocked(
                f"{layout.root}: {who} is writing this index; wait until it is done, or stop it"
            ) from exc
        except BaseException:
            self._let_go()
            raise

    def release(self) -> None:
        """Let go of the lock; a second time is nothing."""
        if self.held:
            # A disk that went read-only must not keep the lock as well.
            with suppress(OSError):
                self._layout.lock_holder.unlink(missing_ok=True)
            crash_points.point("lock-holder-removed")
            self._let_go()

    @property
    def held(self) -> bool:
        return self._lock.is_locked

    def __enter__(self) -> WriterLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _let_go(self) -> None:
        if self._session is not None:
            self._session.end()
            self._session = None
        self._lock.release()


@contextmanager
def locking(folder: Path) -> Iterator[None]:
    """A block that takes a lock: IndexUnwritable if none can be made, as the folder cannot be written or
    its disk knows none; Timeout if another process holds it."""
    try:
        yield
    except Timeout:
        raise
    except (OSError, NotImplementedError) as exc:
        says = getattr(exc, "strerror", None) or exc
        raise IndexUnwritable(
            f"{folder}: the index cannot be written or locked ({says}); free space or mend the "
            "permissions; if the disk knows no locks, name a folder on another one with --index-dir"
        ) from exc


def read_holder(layout: IndexLayout) -> Holder | None:
    """The process that holds the writer lock; None if none does."""
    # Without a note of a writer the lock is left alone: taking it, even for a moment, would turn away
    # a writer that starts just then. With one, only the lock tells whether its writer still lives.
    said = read_json(Holder, layout.lock_holder)
    if said is None:
        if layout.database is None:
            return None
        from notehop.indexing.stores.served.postgres_database import holder_of

        return holder_of(layout.database)
    try:
        with WriterLock(layout, "notehop status"):
            return None
    except IndexFailure:
        # Where the lock cannot be tried, the note is all there is to go by.
        return said
