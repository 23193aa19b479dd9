"""What an index holds, how old it is, and who works on it; no model is loaded.

Touches: vault-read (names, sizes, times), index (reads; see :mod:`notehop.indexing.stores.lock_holder`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from notehop.app.models import (
    IndexStatus,
    Kept,
    LastRun,
    PendingChanges,
    ServerNow,
    WatcherNow,
    WriterNow,
)
from notehop.app.services.egress import egress_hosts, language_model_now
from notehop.app.services.enriched import enrichment_now
from notehop.app.services.pending import pending_changes
from notehop.app.services.place import Place
from notehop.app.services.running import read_running
from notehop.config import user_config_file
from notehop.config.errors import IndexMismatch, IndexMissing, ModelError, NotehopError
from notehop.indexing.embed.shared_export import shared_export
from notehop.indexing.identity import wanted
from notehop.indexing.shown import shown_time
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.lag import read_lag
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.lock_holder import read_holder
from notehop.indexing.stores.model import NoteRow, NoteStatus
from notehop.indexing.stores.reader_fingerprint import check_fingerprint, check_vault
from notehop.indexing.stores.replacement import settle
from notehop.indexing.stores.run_record import read_run_record
from notehop.indexing.watch.state import read_watch_state

PARTS = ("catalog", "vectors", "chroma", "lexical", "model", "other")
"""The parts of an index folder by which its size is told."""


def index_status(place: Place) -> IndexStatus:
    """Describe the index of a vault.

    :raises IndexMissing: if there is none yet, naming the command that makes it, or who does.
    :raises IndexMismatch: if another version of notehop made it.
    :raises IndexDamaged: if it cannot be read.
    """
    with opened(place) as (catalog, view):
        counts = view.counts()
        told = view.meta().get("problems", [])
        made_with = view.fingerprint or {}
        updated = float(view.meta().get("written", place.layout.catalog.stat().st_mtime))
        sizes = _sizes(place.layout)
        return IndexStatus(
            vault=str(place.vault),
            name=place.name,
            index_dir=str(place.layout.root),
            settings_file=str(user_config_file()),
            problem=_problem(place, made_with),
            generation=view.generation,
            updated=updated,
            age=max(0.0, round(time.time() - updated, 3)),
            bytes=sum(sizes.values()),
            sizes=sizes,
            notes=dict(counts.notes),
            chunks=counts.chunks,
            links=dict(counts.links),
            skipped=_kept(view.notes(NoteStatus.SKIPPED)),
            failed=_kept(view.notes(NoteStatus.FAILED)),
            passed_over=[Kept(path=path, reason=reason) for path, reason in told],
            pending=_pending(place, catalog),
            chroma_lag=len(read_lag(place.layout)),
            last_run=_last_run(place.layout),
            watcher=_watcher(place.layout),
            writer=_writer(place.layout),
            server=_server(place.layout),
            made_with=dict(made_with),
            settings=place.settings.model_dump(mode="json"),
            llm=language_model_now(place.settings),
            egress=egress_hosts(place.layout),
            enrichment=enrichment_now(place),
            shared_model=_shared_model(place),
        )


@contextmanager
def opened(place: Place) -> Iterator[tuple[Catalog, CatalogSnapshot]]:
    """The catalog of a place, and a view of its newest generation.

    :raises IndexFailure: as :func:`index_status`.
    """
    settle(place.layout)
    try:
        catalog = Catalog.open(place.layout.catalog, read_only=True)
    except IndexMissing as exc:
        raise IndexMissing(f"{exc}{_under_way(place.layout)}") from exc
    with catalog, catalog.snapshot() as view:
        if view.fingerprint is None:
            # Its first run ended before anything was kept.
            raise IndexMissing(
                f"{place.layout.root}: nothing is indexed yet; run: notehop index"
                f"{_under_way(place.layout)}"
            )
        check_vault(view.meta(), place.vault, place.layout.root)
        yield catalog, view


def _under_way(layout: IndexLayout) -> str:
    """Who makes the index that is not there, or why the last run did not."""
    if (writer := read_holder(layout)) is not None:
        return f" (process {writer.pid} does so now: {writer.command})"
    last = read_run_record(layout)
    if last is not None and last.error is not None:
        return f" (the run of {shown_time(last.ended)} failed: {last.error})"
    return ""


def _problem(place: Place, made_with: Mapping[str, Any]) -> str | None:
    try:
        check_fingerprint(made_with, wanted(place.settings))
    except (IndexMismatch, ModelError) as exc:
        return str(exc)
    return None


def _shared_model(place: Place) -> str | None:
    try:
        folder = shared_export(place.settings.embedding)
    except ModelError:
        return None
    return str(folder) if folder.is_dir() else None


def _pending(place: Place, catalog: Catalog) -> PendingChanges | None:
    try:
        changes = pending_changes(place, catalog)
    except NotehopError:
        # What the index holds can be said without the vault.
        return None
    return PendingChanges(read=len(changes.read), skip=len(changes.skip), gone=len(changes.gone))


def _last_run(layout: IndexLayout) -> LastRun | None:
    record = read_run_record(layout)
    if record is None:
        return None
    told = asdict(record)
    # What the next run reads; nobody else.
    del told["losses"]
    return LastRun(**told)


def _watcher(layout: IndexLayout) -> WatcherNow | None:
    state = read_watch_state(layout)
    return WatcherNow(**asdict(state)) if state else None


def _writer(layout: IndexLayout) -> WriterNow | None:
    holder = read_holder(layout)
    return WriterNow(**asdict(holder)) if holder else None


def _server(layout: IndexLayout) -> ServerNow | None:
    running = read_running(layout)
    if running is None:
        return None
    return ServerNow(url=running.url, pid=running.pid, started=running.started)


def _sizes(layout: IndexLayout) -> dict[str, int]:
    part_of = dict.fromkeys(layout.catalog_files, "catalog")
    part_of |= {getattr(layout, name): name for name in PARTS[1:-1]}
    sizes = dict.fromkeys(PARTS, 0)
    for folder, _, names in os.walk(layout.root):
        for name in names:
            path = Path(folder, name)
            top = layout.root / path.relative_to(layout.root).parts[0]
            # A writer may just have taken it away.
            with suppress(OSError):
                sizes[part_of.get(top, "other")] += path.stat().st_size
    return sizes


def _kept(rows: Iterable[NoteRow]) -> list[Kept]:
    return [Kept(path=row.path, reason=row.reason or "") for row in rows]
