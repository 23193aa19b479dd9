"""What the system reports of changes in a vault, gathered until somebody asks.

Touches: vault-read (names), a thread.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from watchfiles import watch

EVERYTHING = ""
"""The path that stands for the whole vault."""

APP_SETTINGS = ".obsidian/app.json"
"""The file of the app that says which files are left out."""

OWN_SETTINGS = "notehop.toml"
"""The vault's settings."""

MANY = 500
"""Paths above which looking at the whole vault takes no longer than looking at each."""

_GROUP_MS = 1_000
"""Changes that do not end are handed over this often."""

_POLL_MS = 2_000
"""How often a disk that tells nothing is looked at."""

_ROUND_MS = 500
"""How often the thread sees whether it shall end."""


@dataclass(frozen=True, slots=True)
class Reported:
    """Paths at or below which something changed; ``settings`` if the vault's own are among them."""

    paths: frozenset[str]
    settings: bool = False


class VaultEvents:
    """The changes of one folder, from :meth:`start` to :meth:`close`."""

    def __init__(self, vault: Path, *, settle_ms: int, polling: bool) -> None:
        """Watch nothing yet.

        :param settle_ms: time without a further change after which changes are handed over.
        :param polling: look at the files again and again instead of waiting to be told.
        """
        self._vault = vault
        self._settle_ms = settle_ms
        self._polling = polling
        self._turn = threading.Condition()
        self._stop = threading.Event()
        self._paths: set[str] = set()
        self._settings = False
        self._begun = False
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._watch, name="notehop-events", daemon=True)
        self._root = _identity(vault)

    def start(self) -> None:
        """Begin; when this returns, whatever changes from now on will be reported."""
        self._thread.start()
        with self._turn:
            self._turn.wait_for(lambda: self._begun or self._failure is not None)

    @property
    def failure(self) -> str | None:
        """Why nothing is reported any more; None while all is well."""
        if self._failure is None and (self._root is None or _identity(self._vault) != self._root):
            return "the folder is not there, or not the one it was"
        return self._failure

    def take(self, timeout: float) -> Reported:
        """What was reported since the last call; waits for something, up to ``timeout`` seconds."""
        with self._turn:
            self._turn.wait_for(lambda: self._paths or self._settings or self._failure, timeout)
            found = Reported(frozenset(self._paths), self._settings)
            self._paths.clear()
            self._settings = False
        return found

    def close(self) -> None:
        """End the watch; a second time is nothing."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(4 * _ROUND_MS / 1000)

    def _watch(self) -> None:
        try:
            for changes in watch(
                self._vault,
                watch_filter=None,
                debounce=max(_GROUP_MS, self._settle_ms),
                step=self._settle_ms,
                stop_event=self._stop,
                rust_timeout=_ROUND_MS,
                yield_on_timeout=True,
                raise_interrupt=False,
                force_polling=self._polling or None,
                poll_delay_ms=_POLL_MS,
                ignore_permission_denied=True,
            ):
                self._report({path for _, path in changes})
        except (OSError, RuntimeError) as exc:
            # Its errors are OSErrors (too many folders for the system's limit, a folder that went)
            # and one class of its own, a RuntimeError.
            with self._turn:
                self._failure = str(exc) or type(exc).__name__
                self._turn.notify_all()

    def _report(self, changed: set[str]) -> None:
        with self._turn:
            self._begun = True
            for path in changed:
                relative = _relative(self._vault, path)
                if relative == OWN_SETTINGS:
                    self._settings = True
                if relative in (APP_SETTINGS, OWN_SETTINGS):
                    relative = EVERYTHING
                if relative is not None and not _hidden(relative):
                    self._paths.add(relative)
            if len(self._paths) > MANY:
                self._paths = {EVERYTHING}
            self._turn.notify_all()


def _relative(vault: Path, path: str) -> str | None:
    try:
        relative = Path(path).relative_to(vault).as_posix()
    except ValueError:
        return None
    return EVERYTHING if relative == "." else relative


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
