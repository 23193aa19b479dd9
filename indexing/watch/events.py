"""What the system reports of changes in a vault, gathered until somebody asks.

Touches: vault-read (names), a thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from notehop.indexing.watch.folders import APP_SETTINGS, is_hidden
from notehop.indexing.watch.notices import ROUND_MS, Heard, Notices
from notehop.indexing.watch.pace import TIMING, Timing

EVERYTHING = ""
"""The path that stands for the whole vault."""

OWN_SETTINGS = "notehop.toml"
"""The vault's settings."""


@dataclass(frozen=True, slots=True)
class Reported:
    """Paths at or below which something changed; ``settings`` if the vault's own are among them.

    ``lost`` if there may be others, of which nothing is known.
    """

    paths: frozenset[str]
    settings: bool = False
    lost: bool = False


class VaultEvents:
    """The changes of one folder, from :meth:`start` to :meth:`close`."""

    def __init__(
        self, vault: Path, *, settle_ms: int, polling: bool, timing: Timing = TIMING
    ) -> None:
        """Watch nothing yet.

        :param settle_ms: time without a further change after which changes are handed over.
        :param polling: look at the files again and again instead of waiting to be told.
        """
        self._vault = vault
        self._timing = timing
        self._notices = Notices(vault, settle_ms=settle_ms, polling=polling, poll_ms=timing.poll_ms)
        self._turn = threading.Condition()
        self._stop = threading.Event()
        self._paths: set[str] = set()
        self._settings = False
        self._lost = False
        self._begun = False
        self._late = False
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._watch, name="notehop-events", daemon=True)
        self._root = _identity(vault)

    def start(self) -> None:
        """Begin; when this returns, whatever changes from now on will be reported.

        Where the system takes its time, it returns before that: then the whole vault is reported
        as soon as changes are.
        """
        self._thread.start()
        with self._turn:
            self._turn.wait_for(
                lambda: self._begun or self._failure is not None, self._timing.start
            )
            self._late = not self._begun

    @property
    def failure(self) -> str | None:
        """Why nothing is reported any more; None while all is well."""
        if self._failure is None and (self._root is None or _identity(self._vault) != self._root):
            return "the folder is not there, or not the one it was"
        return self._failure

    def take(self, timeout: float) -> Reported:
        """What was reported since the last call; waits for something, up to ``timeout`` seconds."""
        with self._turn:
            self._turn.wait_for(self._has_news, timeout)
            found = Reported(frozenset(self._paths), self._settings, self._lost)
            self._paths.clear()
            self._settings = self._lost = False
        return found

    def close(self) -> None:
        """End the watch; a second time is nothing."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(4 * ROUND_MS / 1000)

    def _has_news(self) -> bool:
        return bool(self._paths or self._settings or self._lost or self._failure)

    def _watch(self) -> None:
        try:
            self._notices.open()
            with self._turn:
                self._begun = True
                if self._late:
                    self._paths.add(EVERYTHING)
                self._turn.notify_all()
            while not self._stop.is_set():
                self._report(self._notices.wait(self._stop))
        except (OSError, RuntimeError, ValueError) as exc:
            # Its errors are OSErrors (too many folders for the system's limit, a folder that went),
            # one class of its own, a RuntimeError, and that of a path that is no UTF-8.
            with self._turn:
                self._failure = str(exc) or type(exc).__name__
                self._turn.notify_all()
        finally:
            self._notices.close()

    def _report(self, heard: Heard) -> None:
        if not (heard.paths or heard.lost):
            return
        with self._turn:
            self._lost |= heard.lost
            for path in heard.paths:
                if path == OWN_SETTINGS:
                    self._settings = True
                if path in (APP_SETTINGS, OWN_SETTINGS):
                    self._paths.add(EVERYTHING)
                elif not is_hidden(path):
                    self._paths.add(path)
            if len(self._paths) > self._timing.many:
                self._paths = {EVERYTHING}
            self._turn.notify_all()


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
