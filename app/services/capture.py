"""Keeps a text as a new note, and names the notes that it has to do with, with the link to write to each."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from notehop.app.models import Captured, CaptureQuery, Connection
from notehop.app.problems import reason_of
from notehop.app.retrieval.chain import RetrievalRequest
from notehop.app.retrieval.components import TracedQuery
from notehop.app.retrieval.filters import MAX_QUERY_CHARS
from notehop.app.services.notes.find_note import called_alike, link_to
from notehop.app.services.open_vault import Place, open_place
from notehop.config.errors import NotehopError, ReadOnly
from notehop.indexing.capture import keep
from notehop.indexing.changes import scan
from notehop.indexing.display import counted, on_one_line
from notehop.indexing.graph.resolve import resolve_path
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.plain import plain_text

if TYPE_CHECKING:
    from notehop.app.services.engine import Engine
    from notehop.app.services.notes.current_notes import CurrentNotes

_log = logging.getLogger(__name__)

MOST = 5  # related notes that are named for a captured one

Find = Callable[[Note], list[Connection]]


def capture(place: Place, query: CaptureQuery, related: Find, *, now: datetime | None = None) -> Captured:
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
        reason = reason_of(exc)
        # Names of notes are no part of a log.
        _log.warning("no related notes for a captured one: %s", reason)
        return Captured(filename=kept.path, message=f"{told}; related notes could not be looked up: {reason}")
    told += f"; {counted(len(found), 'related note')}" if found else "; no related notes"
    return Captured(filename=kept.path, message=f"{told}.", connections=found)


def capture_cold(place: Place, query: CaptureQuery) -> Captured:
    """Do as :func:`capture` in a process that has not opened the index."""

    def related(kept: Note) -> list[Connection]:
        with open_place(place) as vault:
            return vault.related(kept)

    return capture(place, query, related)


def find_related(engine: Engine, now: CurrentNotes, kept: Note) -> list[Connection]:
    """Related notes, best first: none that the new one links to, and not itself."""
    targets = [link.target for link in kept.links if link.target]
    meant = called_alike(now.catalog, targets)
    linked = {resolve_path(meant, kept.path, target).path for target in targets}
    request = RetrievalRequest.best_notes(min(100, MOST + len(linked) + 1), literal=True)
    title = kept.title if "title" in kept.front_matter else ""
    body = " ".join(plain_text(kept, kept.body_start, len(kept.text)).split())
    text = f"{title} {body}".strip()[:MAX_QUERY_CHARS]
    # As far as the model reads.
    tokens = engine.embedder.tokens
    ends = [end for _, end in tokens(text)[: tokens.room(engine.embedder.max_tokens)]]
    query = TracedQuery(text[: ends[-1]] if ends else text)
    by_path = {str(hit.node.metadata["path"]): hit for hit in engine.retrieve(query, request)}
    paths = [path for path in by_path if path not in {*linked, kept.path}][:MOST]
    rows = now.notes_at(paths)
    said = now.in_a_line(rows, {path: by_path[path].node.get_content() for path in rows})
    files = called_alike(now.catalog, paths)
    found: list[Connection] = []
    for path, row in rows.items():
        headings = list(by_path[path].node.metadata.get("heading_path") or ())
        found.append(
            Connection(
                **now.place_of(row, headings),
                heading=" > ".join(headings),
                snippet=said[path].text,
                score=round(float(by_path[path].score or 0.0), 4),
                link=link_to(files, kept.path, path),
                written_by=said[path].model,
            )
        )
    return found
