"""What an index holds, how old it is, who works on it, and what went to which host."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from notehop.app import models
from notehop.app.services.open_vault import Place, being_indexed, vector_server
from notehop.app.services.running_server import read_running
from notehop.config import Settings, errors, user_config_file
from notehop.config.errors import NotehopError
from notehop.indexing.changes import Changes, compare, scan, unread_pdfs
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.llm.egress import EgressLog, Hosts, names_this_machine, refusal
from notehop.indexing.llm.providers import address, host_of, provider_of
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot, check_fingerprint, check_vault
from notehop.indexing.stores.chroma import read_mirror
from notehop.indexing.stores.lock import read_holder
from notehop.indexing.stores.rows import NoteStatus
from notehop.indexing.watch.state import read_watch_state

_log = logging.getLogger(__name__)


def enrichment_now(place: Place) -> models.EnrichmentNow | None:
    """Describe the enrichment; None where the settings ask for none."""
    asked = place.settings.enrich
    if asked.summaries == "off" and asked.headers == "off":
        return None
    found: dict[str, Any] = {"texts": [], "failed": [], "stopped": None, "at": None}
    try:
        with EnrichmentStore(place.layout.enrichment, read_only=True) as store:
            found |= store.last_run()
            found["texts"] = [
                {"kind": kind, "have": have, "lack": lack}
                for kind, (have, lack) in sorted(store.tally().items())
            ]
    except errors.IndexMissing:
        pass
    except errors.IndexFailure as exc:
        found["stopped"] = str(exc)
    return models.EnrichmentNow.model_validate(found)


def egress_report(place: Place) -> models.EgressReport:
    log = EgressLog(place.log_dir)
    calls = _calls(log)
    return models.EgressReport(log=str(log.file), hosts=_hosts(calls), calls=calls[::-1])


def language_model_now(settings: Settings) -> models.LanguageModelNow | None:
    """The language model of the settings; None if they name none. Nothing of it is loaded."""
    llm = settings.llm
    if llm.provider == "none":
        return None
    url = address(llm)
    host = host_of(url) if url else None
    local = host is None or names_this_machine(host)
    allowed = local or Hosts(settings.privacy.allow_hosts).allows(str(host))
    problem = None
    try:
        provider_of(settings)
        if not allowed:
            raise refusal(str(host), "your questions with passages of your notes")
    except errors.ProviderError as exc:
        problem = str(exc)
    named = {"provider": llm.provider, "model": llm.model, "host": host}
    return models.LanguageModelNow(**named, local=local, allowed=allowed, problem=problem)


def vector_server_now(place: Place, stamp: str) -> models.VectorServerNow | None:
    """Ask the Chroma server what it holds of an index; None where no search asks one."""
    if place.settings.vectors.engine != "chroma":
        return None
    # Here and not above: most have none.
    from notehop.indexing.stores.served.chroma_vectors import ServedState, collection_name

    now = models.VectorServerNow(url=place.settings.chroma.url, collection=collection_name(stamp))
    try:
        server = vector_server(place)
        assert server is not None
        with closing(server):
            state = ServedState.read(server.known_collection(now.collection))
    except (errors.VectorServerError, errors.SettingsError) as exc:
        now.problem = str(exc)
        return now
    now.recall = state.recall
    if state.generation:
        now.generation, now.chunks = state.generation, state.chunks
    if state.toward != state.generation:
        now.toward = state.toward
    return now


def _calls(log: EgressLog) -> list[models.EgressCall]:
    """The calls of a log, oldest first; each stands there when it begins and when it ends."""
    found: dict[str, dict[str, Any]] = {}
    for line in log.lines():
        name = line["id"]
        if "host" in line:
            found[name] = line
        elif name in found:
            found[name] |= {**line, "over": True}
    calls: list[models.EgressCall] = []
    for line in found.values():
        # A line that somebody else wrote is passed over, as one that is no JSON.
        with suppress(ValidationError):
            calls.append(models.EgressCall.model_validate(line))
    return calls


def _hosts(calls: Iterable[models.EgressCall]) -> list[models.EgressHost]:
    by_host: dict[tuple[str, bool], list[models.EgressCall]] = {}
    for call in calls:
        by_host.setdefault((call.host, call.local), []).append(call)
    hosts = [
        models.EgressHost(
            host=host,
            local=local,
            calls=len(made),
            failed=sum(call.error is not None for call in made),
            bytes_out=sum(call.bytes_out for call in made),
            bytes_in=sum(call.bytes_in for call in made),
            first=min(call.time for call in made),
            last=max(call.time for call in made),
        )
        for (host, local), made in by_host.items()
    ]
    # What left the machine comes first.
    return sorted(hosts, key=lambda one: (one.local, -one.bytes_out, one.host))


def pending_changes(place: Place, catalog: Catalog) -> Changes:
    """What the next index run would do: see :class:`notehop.indexing.changes.Changes`."""
    settings = place.settings.vault
    known = catalog.stamps(), catalog.attachments()
    return compare(scan(place.vault, settings), *known, settings.max_note_bytes)


def index_status(place: Place) -> models.IndexStatus:
    """Describe the index of a vault.

    :raises BeingIndexed: while the first is being made, naming who makes it.
    :raises IndexMissing: if there is none yet, naming the command that makes it.
    :raises IndexMismatch: if another version of notehop made it.
    :raises IndexDamaged: if it cannot be read.
    """
    layout, settings = place.layout, place.settings
    with _opened(place) as (catalog, view):
        counts = view.counts()
        passed_over = list(view.meta().get("problems", []))
        if unread := unread_pdfs(catalog.attachments(), settings.vault):
            passed_over.append(("*.pdf", unread))
        made_with = view.fingerprint or {}
        problem = None
        try:
            check_fingerprint(made_with, expected_fingerprint(settings))
        except (errors.IndexMismatch, errors.ModelError) as exc:
            problem = str(exc)
        updated = float(view.meta().get("written", 0.0))
        mirror = read_mirror(layout)
        served = 0 if layout.database is None else catalog.database.size
        pending = failure = None
        with suppress(OSError):
            failure = layout.failure.read_text("utf-8", "replace")
        # What the index holds can be said without the vault.
        with suppress(errors.NotehopError):
            changes = pending_changes(place, catalog)
            pending = {name: len(getattr(changes, name)) for name in ("read", "skip", "gone")}
        found = {
            "vault": str(place.vault),
            "name": place.name,
            "index_dir": str(layout.root),
            "catalog": catalog.label,
            "settings_file": str(user_config_file()),
            "problem": problem,
            "failure": failure,
            "generation": view.generation,
            "updated": updated,
            "age": max(0.0, round(time.time() - updated, 3)),
            "bytes": _size(layout.root) + served,
            "notes": dict(counts.notes),
            "chunks": counts.chunks,
            "links": dict(counts.links),
            "skipped": view.notes(NoteStatus.SKIPPED),
            "failed": view.notes(NoteStatus.FAILED),
            "passed_over": [models.Kept(path=path, reason=reason) for path, reason in passed_over],
            "pending": pending,
            "chroma_generation": None if mirror is None else mirror.generation,
            "vector_server": vector_server_now(place, view.stamp),
            "watcher": read_watch_state(layout),
            "writer": read_holder(layout),
            "server": read_running(layout),
            "made_with": dict(made_with),
            "settings": settings.model_dump(mode="json"),
            "llm": language_model_now(settings),
            "egress": _hosts(_calls(EgressLog(place.log_dir))),
            "enrichment": enrichment_now(place),
        }
        return models.IndexStatus.model_validate(found, from_attributes=True)


@contextmanager
def _opened(place: Place) -> Iterator[tuple[Catalog, CatalogSnapshot]]:
    """The catalog of a place, and a view of its newest generation; told of one that is not there yet is
    who makes it, where somebody does."""
    root = place.layout.root
    try:
        with Catalog.of(place.layout) as catalog, catalog.snapshot() as view:
            if view.fingerprint is None:
                # Its first run ended before anything was kept.
                raise place.missing
            check_vault(view.meta(), place.vault, root)
            yield catalog, view
    except errors.IndexMissing as exc:
        if (writer := read_holder(place.layout)) is None:
            raise place.missing from exc
        raise being_indexed(place, f"by {writer}") from exc


def _size(root: Path) -> int:
    """The bytes of the files in a folder."""
    size = 0
    for folder, _, names in os.walk(root):
        for name in names:
            # A writer may just have taken it away.
            with suppress(OSError):
                size += Path(folder, name).stat().st_size
    return size


FRESH = 5.0  # seconds for which a count is taken as it is
WAIT = 0.3  # seconds that the first query waits for its count
BRIEFLY = 0.02  # seconds that later ones wait before they take the last: the walk of a small vault


class PendingCount:
    """Counts in the background, so that a query on a large vault does not wait for the walk.

    :param count: may take its time, and may fail.
    :param state: says which state of the index it is now; a count of another one is dropped.
    :param wait: seconds that the first query waits for its count.
    """

    def __init__(
        self, count: Callable[[], int], state: Callable[[], object] = lambda: None, wait: float = WAIT
    ) -> None:
        self._count, self._state, self._wait = count, state, wait
        self._turn = threading.Lock()
        self._counted: object = None
        self._last: Future[int | None] | None = None
        self._running: Future[int | None] | None = None
        self._ended = 0.0

    def begin(self) -> None:
        """Begin to count, unless the last count is fresh or one is under way."""
        state = self._state()
        with self._turn:
            if state != self._counted:
                # A count that is still under way is of the old state: it ends unheard.
                self._counted, self._last, self._running = state, None, None
            running = self._running
            if running is None or (running.done() and time.monotonic() - self._ended >= FRESH):
                self._last, self._running = running, Future()
                run = partial(self._run, self._running)
                threading.Thread(target=run, name="notehop-scan", daemon=True).start()

    def value(self, seen: int = 0) -> int | None:
        """The last count of the index as it is now; None if the first is not ready in time, or it failed.

        :param seen: changes that the query itself came upon, which a count of seconds ago may lack.
        """
        self.begin()
        with self._turn:
            running, last = self._running, self._last
        assert running is not None
        try:
            counted = running.result(self._wait if last is None else BRIEFLY)
        except TimeoutError:
            counted = None if last is None else last.result()
        return max(counted or 0, seen) if seen else counted

    def _run(self, running: Future[int | None]) -> None:
        value: int | None = None
        try:
            value = self._count()
        except (NotehopError, OSError) as exc:
            # An answer does not fail because the vault could not be looked at: it says None.
            _log.debug("the changes are not counted: %s", exc)
        finally:
            self._ended = time.monotonic()
            running.set_result(value)
