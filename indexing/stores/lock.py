"""The lock that lets one process at a time write an index.

The lock is the operating system's, on an open file: it ends with its process, however that ends.
The JSON beside it only tells people who holds it.

Touches: index.
"""

from __future__ import annotations

import json
import os
import socket
from datetime import UTC, datetime
from typing import Any

from filelock import FileLock, Timeout

from config.errors import IndexLocked
from indexing.stores.layout import IndexLayout, unwritable


class WriterLock:
    """Holds an index for writing, from ``acquire`` (or ``with``) to ``release``.

    :param holder: the command that will write, as a person knows it (``notehop index``).
    """

    def __init__(self, layout: IndexLayout, holder: str) -> None:
        self._layout = layout
        self._holder = holder
        # thread_local off: the thread that releases need not be the one that acquired.
        self._lock = FileLock(layout.lock, timeout=0, thread_local=False)

    def acquire(self) -> None:
        """Take the lock, without waiting.

        :raises IndexLocked: if another writer holds it, naming who.
        :raises IndexUnwritable: if the folder cannot be written, or its disk knows no locks.
        """
        try:
            self._layout.root.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as exc:
            raise IndexLocked(
                f"{self._layout.root}: {self._who()} is writing this index; "
                "wait until it is done, or stop it"
            ) from exc
        except OSError as exc:
            raise unwritable(self._layout.root, exc) from exc
        except NotImplementedError as exc:
            raise unwritable(self._layout.root, OSError(str(exc))) from exc
        self._tell()

    def release(self) -> None:
        """Let go of the lock; a second time is nothing."""
        if self._lock.is_locked:
            self._layout.lock_holder.unlink(missing_ok=True)
            self._lock.release()

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._lock.is_locked

    def __enter__(self) -> WriterLock:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _tell(self) -> None:
        says = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "command": self._holder,
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        try:
            self._layout.lock_holder.write_text(json.dumps(says), encoding="utf-8")
        except OSError as exc:
            self._lock.release()
            raise unwritable(self._layout.root, exc) from exc

    def _who(self) -> str:
        try:
            says: Any = json.loads(self._layout.lock_holder.read_text(encoding="utf-8"))
            return (
                f"{says['command']} (process {says['pid']} on {says['host']}, "
                f"since {says['since']})"
            )
        except (OSError, ValueError, KeyError, TypeError):
            # Not written yet, or half: the lock stands all the same.
            return "another process"
