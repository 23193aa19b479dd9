"""What the index knows of one note, or why it knows nothing of it; no model is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from notehop.app.models import NextRun, NoteStatusReport, StatusChunk, StatusLink
from notehop.app.services.notes.find_note import find_note, paths_meant
from notehop.app.services.open_vault import Place
from notehop.app.services.status import opened
from notehop.config.errors import UsageError, VaultError
from notehop.indexing.changes import compare, scan
from notehop.indexing.graph.files import VaultFiles, is_readable
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_read import FileStamp
from notehop.indexing.stores.model import LinkRow, NoteRow, NoteStatus
from notehop.indexing.vault.parse import read_note
from notehop.indexing.vault.walk import FileEntry, Walk


def note_status(place: Place, note: str) -> NoteStatusReport:
    """Describe what the index knows of a note, and why it does not know it.

    :param note: its path or name; see :func:`notehop.app.services.notes.find_note.find_note`.
    :raises UsageError: if neither vault nor index has such a file, or several.
    :raises IndexFailure: as :func:`notehop.app.services.status.index_status`.
    """
    with opened(place) as (_, view):
        # What the index holds can be said without the vault.
        found = Walk((), (), ("",))
        with suppress(VaultError):
            found = scan(place.vault, place.settings.vault)
        stamps = view.stamps()
        files = VaultFiles({*stamps, *(file.path for file in found.files)}, (), view.aliases())
        try:
            path = find_note(files, place.vault, note)
        except UsageError:
            reported = _no_note(place, found, note)
            if reported is None:
                raise
            return reported
        file = next((file for file in found.files if file.path == path), None)
        row = view.note(path)
        if row is None and file is not None and file.kind != "note" and not file.excluded:
            return _without(path, _no_note_but(path))
        coming = _next_run(place, found, path, file, stamps.get(path), row)
        if row is not None:
            return _known(view, row, coming)
        reason = coming and coming.reason
        return _without(path, reason or "new since the last run", coming)


def _no_note_but(path: str) -> str:
    if is_readable(path):
        return "not read here: docs/other-files.md says when files of this kind are"
    return "not a note: notes are the files that end in .md"


def _known(view: CatalogSnapshot, row: NoteRow, coming: NextRun | None) -> NoteStatusReport:
    report = NoteStatusReport.model_validate(row, from_attributes=True)
    report.next_run = coming
    report.modified = row.modified or None  # 0 for a note that was never read
    report.chunks = [
        StatusChunk(
            id=chunk.id,
            heading=" > ".join(chunk.heading_path),
            lines=(chunk.first_line, chunk.last_line),
        )
        for chunk in sorted(view.chunks_of(row.path), key=lambda one: one.first_line)
    ]
    report.links = _links(view.links_from([row.path]))
    backlinks = view.links_to([row.path])
    report.backlinks = _links(link for link in backlinks if link.path != row.path)
    return report


def _without(path: str, reason: str, coming: NextRun | None = None) -> NoteStatusReport:
    name = path.rpartition("/")[2].removesuffix(".md")
    return NoteStatusReport(path=path, title=name, status="absent", reason=reason, next_run=coming)


def _next_run(
    place: Place,
    found: Walk,
    path: str,
    file: FileEntry | None,
    stamp: FileStamp | None,
    row: NoteRow | None,
) -> NextRun | None:
    """What the next run does with a note, by the rules of the run itself."""
    if found.unlisted == ("",):
        return None
    settings = place.settings.vault
    known: Mapping[str, FileStamp] = {} if stamp is None else {path: stamp}
    reasons = {path: row.reason or ""} if row and row.status is NoteStatus.SKIPPED else {}
    only = Walk(() if file is None else (file,), (), found.unlisted)
    changes = compare(only, known, reasons, {}, settings.max_note_bytes)
    if changes.gone:
        return NextRun(does="forget")
    for _, reason in changes.skip:
        return NextRun(does="leave_out", reason=reason)
    for entry in (*changes.read, *changes.retry):
        readable = stamp is not None and stamp.status is not NoteStatus.FAILED
        read = read_note(
            place.vault,
            entry,
            stamp.content_hash if stamp and readable else "",
            comment_links=settings.comment_links,
        )
        coming = NextRun(does="read")
        if read.problem is not None:
            coming = NextRun(does="fail", reason=read.problem)
        elif read.note is None:
            return None  # saved again as it was
        elif read.note.excluded is not None:
            coming = NextRun(does="leave_out", reason=read.note.excluded)
        same = row is not None and coming.reason is not None and coming.reason == row.reason
        return None if same else coming
    return None


def _no_note(place: Place, found: Walk, said: str) -> NoteStatusReport | None:
    """What is there under a name that is no note's; None if nothing is."""
    there = {file.path: _no_note_but(file.path) for file in found.files}
    there.update(found.problems)
    for path in paths_meant(place.vault, said):
        if reason := there.get(path) or _out_of_sight(place, found, path):
            return _without(path, reason)
    return None


def _out_of_sight(place: Place, found: Walk, path: str) -> str | None:
    """Why a walk of the vault did not find what is there; None if nothing is."""
    if not os.path.exists(place.vault / path):  # noqa: PTH110 - a name that no disk takes is none
        return None
    parts = path.split("/")
    for depth, part in enumerate(parts, start=1):
        if part.startswith(".") and part != ".":
            return f"{part}: names that begin with a dot are no part of a vault"
        above = "/".join(parts[:depth])
        for problem, reason in found.problems:
            if problem == above:
                return f"below {above}: {reason}"
    return "a folder, not a note" if (place.vault / path).is_dir() else None


def _links(rows: Iterable[LinkRow]) -> list[StatusLink]:
    return [
        StatusLink(
            source=row.path,
            line=row.line,
            raw=row.raw,
            kind=row.kind,
            status=row.status,
            target=row.target_path,
        )
        for row in rows
    ]
