from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from notehop.app.models import Captured, CaptureQuery, Connection
from notehop.app.services.open_vault import Place
from notehop.config.errors import NotehopError, ReadOnly
from notehop.indexing.capture import Kept, keep
from notehop.indexing.changes import scan
from notehop.indexing.shown import counted, on_one_line

_log = logging.getLogger(__name__)


def capture(
    place: Place,
    query: CaptureQuery,
    related: Callable[[Kept], list[Connection]],
    *,
    now: datetime | None = None,
) -> Captured:
    """Write a new note, then look for related ones, as :meth:`VaultHandle.capture`.

    :param related: finds the notes that a new one has to do with.
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
        found = related(kept)
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
    told += f"; {counted(len(found), 'related note')}" if found else "; no related notes"
    return Captured(filename=kept.path, message=f"{told}.", connections=found)


def capture_cold(place: Place, query: CaptureQuery) -> Captured:
    """Do as :func:`capture` in a process that has not opened the index."""

    def related(kept: Kept) -> list[Connection]:
        from notehop.app.services.open_vault import open_place

        with open_place(place) as vault:
            return vault.related(kept)

    return capture(place, query, related)
