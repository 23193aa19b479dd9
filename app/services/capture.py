from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import ExitStack, suppress
from datetime import datetime

from notehop.app.models import Captured, CaptureQuery, Connection
from notehop.app.services.open_vault import Place
from notehop.config.errors import NotehopError, ReadOnly
from notehop.indexing.capture import Kept, keep
from notehop.indexing.changes import scan
from notehop.indexing.shown import counted, on_one_line

_log = logging.getLogger(__name__)

Find = Callable[[Kept], list[Connection]]
"""Finds the notes that a new one has to do with."""


def capture(
    place: Place,
    query: CaptureQuery,
    open_index: Callable[[], Find],
    *,
    now: datetime | None = None,
) -> Captured:
    """Write a new note, then look for related ones, as :meth:`VaultHandle.capture`.

    :param open_index: makes ready for the look-up, which may take its time.
    :param now: the time on the wall; None asks the clock.
    :raises ReadOnly: at a place that is read only.
    """
    if place.read_only:
        raise ReadOnly(
            "nothing was kept: this server only reads (--read-only); capture with notehop on a machine "
            "that writes to the vault"
        )
    settings = place.settings.capture
    kept = keep(
        place.vault,
        settings.folder,
        query.text,
        title=query.title,
        tags=query.tags,
        now=now or datetime.now(),
    )
    told = f"Captured as {on_one_line(kept.path)}"
    with suppress(NotehopError, OSError):
        for file in scan(place.vault, place.settings.vault, within=[kept.path]).files:
            if file.path == kept.path and file.excluded:
                told += f" (left out of the index, so no search finds it: {file.excluded})"
    try:
        found = _in_time(open_index(), kept, settings.timeout_s)
    except Exception as exc:  # noqa: BLE001 (whatever it is, the note is written)
        # An error of ours says what is wrong; of another its kind tells more.
        lines = str(exc).strip().splitlines()[:1]
        ours = isinstance(exc, NotehopError) and lines
        reason = ": ".join(lines if ours else [type(exc).__name__, *lines])
        # Names of notes are no part of a log.
        _log.warning("no related notes for a captured one: %s", reason)
        return Captured(
            filename=kept.path, message=f"{told}; related notes could not be looked up: {reason}"
        )
    related = f"; {counted(len(found), 'related note')}" if found else "; no related notes"
    return Captured(filename=kept.path, message=f"{told}{related}.", connections=found)


def capture_cold(place: Place, query: CaptureQuery) -> Captured:
    """Do as :func:`capture` in a process that has not opened the index: that is not timed."""
    with ExitStack() as opened:

        def open_index() -> Find:
            from notehop.app.services.open_vault import open_place

            vault = opened.enter_context(open_place(place))
            vault.warm()
            return vault.related

        return capture(place, query, open_index)


_LOOK_UPS = threading.BoundedSemaphore(4)
"""At once, those included that nobody waits for any more."""


def _in_time(find: Find, kept: Kept, seconds: float) -> list[Connection]:
    """What is found in time; what takes longer goes on, and nobody hears of it."""
    found: Future[list[Connection]] = Future()
    if not _LOOK_UPS.acquire(timeout=seconds):
        raise NotehopError("others are still being looked up")

    def run() -> None:
        try:
            found.set_result(find(kept))
        except BaseException as exc:  # noqa: BLE001 (raised where it is waited for)
            found.set_exception(exc)
        finally:
            _LOOK_UPS.release()

    # Not of a pool, whose threads the end of the process would wait for.
    threading.Thread(target=run, name="notehop-related", daemon=True).start()
    wait([found], seconds)
    if not found.done():
        raise NotehopError(f"it took longer than {seconds:g} s")
    return found.result()
