"""What an index holds, how old it is, and what it knows of a note; no model is loaded.

Touches: vault-read (names, sizes, times), index (reads).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from app.container.notes import find_note
from app.container.pending import pending_changes
from app.container.place import Place
from app.models import (
    IndexStatus,
    Kept,
    NoteStatusReport,
    PendingChanges,
    StatusChunk,
    StatusLink,
)
from config import user_config_file
from config.errors import IndexMismatch, IndexMissing, ModelError, NotehopError, UsageError
from indexing.graph.files import VaultFiles
from indexing.identity import wanted
from indexing.stores.catalog import Catalog, CatalogSnapshot
from indexing.stores.layout import IndexLayout
from indexing.stores.model import LinkRow, NoteRow, NoteStatus
from indexing.stores.reader_fingerprint import check_fingerprint, check_vault


def index_status(place: Place) -> IndexStatus:
    """Describe the index of a vault.

    :raises IndexMissing: if there is none yet, naming the command that makes it.
    :raises IndexMismatch: if another version of notehop made it.
    :raises IndexDamaged: if it cannot be read.
    """
    with _opened(place) as (catalog, view, made_with):
        counts = view.counts()
        told = view.meta().get("problems", [])
        return IndexStatus(
            vault=str(place.vault),
            name=place.name,
            index_dir=str(place.layout.root),
            settings_file=str(user_config_file()),
            problem=_problem(place, made_with),
            generation=view.generation,
            updated=_updated(place.layout),
            bytes=_size(place.layout),
            notes=dict(counts.notes),
            chunks=counts.chunks,
            links=dict(counts.links),
            skipped=_kept(view.notes(NoteStatus.SKIPPED)),
            failed=_kept(view.notes(NoteStatus.FAILED)),
            passed_over=[Kept(path=path, reason=reason) for path, reason in told],
            pending=_pending(place, catalog),
            made_with=dict(made_with),
            settings=place.settings.model_dump(mode="json"),
        )


def note_status(place: Place, note: str) -> NoteStatusReport:
    """Describe what the index knows of a note.

    :param note: its path or name; see :func:`app.container.notes.find_note`.
    :raises UsageError: if the index knows no such note, or several.
    :raises IndexFailure: as :func:`index_status`.
    """
    with _opened(place) as (_, view, _):
        known = {row.path: row.aliases for row in view.notes()}
        aliases = {path: names for path, names in known.items() if names}
        path = find_note(VaultFiles(known, (), aliases), place.vault, note)
        row = view.note(path)
        if row is None:
            raise UsageError(f"{path}: not in the index; run: notehop index")
        return NoteStatusReport(
            path=path,
            title=row.title,
            status=row.status.value,
            reason=row.reason,
            aliases=list(row.aliases),
            tags=list(row.tags),
            page_type=row.page_type,
            created=row.created,
            modified=row.modified,
            changed=_changed(place, row),
            warnings=list(row.warnings),
            chunks=[
                StatusChunk(
                    id=chunk.id,
                    heading=" > ".join(chunk.heading_path),
                    lines=(chunk.first_line, chunk.last_line),
                )
                for chunk in view.chunks_of(path)
            ],
            links=_links(view.links_from([path])),
            backlinks=_links(link for link in view.links_to([path]) if link.path != path),
        )


@contextmanager
def _opened(place: Place) -> Iterator[tuple[Catalog, CatalogSnapshot, Mapping[str, Any]]]:
    """The catalog, a view of it, and the fingerprint of what made it."""
    with Catalog.open(place.layout.catalog, read_only=True) as catalog, catalog.snapshot() as view:
        if view.fingerprint is None:
            # Its first run ended before anything was kept.
            raise IndexMissing(f"{place.layout.root}: nothing is indexed yet; run: notehop index")
        check_vault(view.meta(), place.vault, place.layout.root)
        yield catalog, view, view.fingerprint


def _problem(place: Place, made_with: Mapping[str, Any]) -> str | None:
    try:
        check_fingerprint(made_with, wanted(place.settings))
    except (IndexMismatch, ModelError) as exc:
        return str(exc)
    return None


def _pending(place: Place, catalog: Catalog) -> PendingChanges | None:
    try:
        changes = pending_changes(place, catalog)
    except NotehopError:
        # What the index holds can be said without the vault.
        return None
    return PendingChanges(read=len(changes.read), skip=len(changes.skip), gone=len(changes.gone))


def _changed(place: Place, row: NoteRow) -> bool | None:
    try:
        found = (place.vault / row.path).stat()
    except OSError:
        return None
    return (found.st_size, found.st_mtime_ns) != (row.size, row.mtime_ns)


def _updated(layout: IndexLayout) -> float:
    journal = layout.catalog.with_name(layout.catalog.name + "-wal")
    return max(path.stat().st_mtime for path in (layout.catalog, journal) if path.exists())


def _size(layout: IndexLayout) -> int:
    total = 0
    for path in layout.root.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            continue  # a writer has just taken it away
    return total


def _kept(rows: Iterable[NoteRow]) -> list[Kept]:
    return [Kept(path=row.path, reason=row.reason or "") for row in rows]


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
