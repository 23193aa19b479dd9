"""The step after an index run: has written about notes what the settings ask for and is missing.

The index answers by then, and nothing here can make it worse: a summary only adds to it, and a note
that got headers is indexed with them in the order of every other write. What was written is kept at
once, under the hash of what was sent: a run that is killed loses the one text it was waiting for.

Touches: vault-read, index, model, network (through :mod:`notehop.indexing.llm`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from notehop.config import Settings
from notehop.config.errors import NotehopError, ProviderError
from notehop.indexing import faults
from notehop.indexing.enrich.freshness import LOST, delete_orphans, is_unchanged
from notehop.indexing.enrich.headers import headers_of, model_identity
from notehop.indexing.enrich.planner import Item, Plan, Planner
from notehop.indexing.enrich.prompts import OUTPUT_TOKENS
from notehop.indexing.enrich.report import Agree, EnrichReport, cost_of, sizes_of
from notehop.indexing.enrich.store import EnrichmentStore, Text
from notehop.indexing.report import Update
from notehop.indexing.stores.catalog import Catalog

if TYPE_CHECKING:
    from notehop.indexing.enrich.writer import TextWriter
    from notehop.indexing.pipeline import Indexer
    from notehop.indexing.report import Report


Redo = Callable[[Sequence[str]], Update]
"""Indexes notes anew; raises NotehopError if that cannot be now."""

LoadWriter = Callable[[Settings, Path], "TextWriter | None"]

REDO_NOTES = 50
"""Notes with new headers that are indexed together: each such write costs a model and a
generation."""

_IN_A_ROW = {"timeout": 3, "server": 3}
"""Failures one after the other, by kind, that are the provider's and not the notes'."""

_WORDLESS = 10
"""The same for all other kinds: some notes a model has nothing to say about."""

_HOPELESS = ("consent", "key", "model", "refused", "rate")
"""Kinds of failures that the next request would meet as well."""

SPENT = (
    "the budget of a run (enrich.max_calls, enrich.max_tokens) is used up; "
    "the next run goes on: notehop index"
)

SPENT_NOW = (
    "the requests of this hour (enrich.watch_calls) are used up; it goes on by itself, "
    "or at once with: notehop index"
)

_DAY = 86_400.0


class _Enricher:
    """Has written what one index lacks, within a budget; its parameters are those of
    :func:`enrich`."""

    def __init__(
        self,
        indexer: Indexer,
        agree: Agree,
        load: LoadWriter | None,
        cancelled: Callable[[], bool],
        most_calls: int | None,
        redo: Redo,
    ) -> None:
        """Touch nothing yet."""
        self._vault = indexer.vault
        self._settings = indexer.settings
        self._layout = indexer.layout
        self._progress = indexer.progress
        self._redo = redo
        self._agree = agree
        self._load = load
        self._cancelled = cancelled
        calls = self._settings.enrich.max_calls
        self._spent = SPENT if most_calls is None else SPENT_NOW
        self._max_calls = calls if most_calls is None else min(calls, most_calls)

    def run(self) -> EnrichReport | None:
        """Do it; None if the settings ask for nothing.

        What goes wrong with the model is in the report, and ends nothing but this step.

        :raises NotehopError: if the index or the store cannot be read or written.
        """
        settings = self._settings.enrich
        wanted = settings.summaries != "off" or settings.headers != "off"
        if not self._layout.marker.is_file():
            # The index was deleted: a file of ours would keep another from being made there.
            return EnrichReport(stopped="there is no index") if wanted else None
        lock = FileLock(
            self._layout.enriching_lock, timeout=0, thread_local=False, fallback_to_soft=False
        )
        try:
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):
            return EnrichReport(stopped="another process has texts written now") if wanted else None
        try:
            with EnrichmentStore.open(self._layout.enrichment) as store:
                if wanted:
                    return self._enrich(store)
                store.retire_all()
                self._sweep(store)
                return None
        finally:
            lock.release()
            self._progress.close()

    def _enrich(self, store: EnrichmentStore) -> EnrichReport:
        done = EnrichReport()
        if store.made_anew:
            done.warn(f"{self._layout.enrichment}: {LOST}")
        provider = self._settings.llm.provider != "none"
        enrich = self._settings.enrich
        if not provider and "llm" in (enrich.summaries, enrich.headers):
            done.warn("enrich asks for a language model and llm.provider names none")
        self._apply(store, done)
        model = model_identity(self._settings) if provider else None
        with Catalog.open(self._layout.catalog, read_only=True) as catalog:
            language = str((catalog.meta().get("fingerprint") or {}).get("language") or "en")
            with catalog.snapshot() as view:
                planner = Planner(store, self._settings.enrich, model, language)
                plan = planner.plan(view)
                planned = view.generation
            if plan.extracts:
                done.written["extract"] = plan.extracts
            if plan.items:
                self._write(store, catalog, plan, done)
            if catalog.generation != planned:
                # A run that took notes out meanwhile did not see what was planned for them.
                done.warnings += delete_orphans(self._layout.enrichment, catalog, None)
        self._apply(store, done)
        self._sweep(store)
        lacking = sum(lack for _, lack in store.tally().values())
        done.failed = len(store.failures())
        done.waiting = max(0, lacking - done.failed)
        store.set_meta("last", {"at": time.time(), "stopped": done.stopped})
        return done

    def _write(
        self, store: EnrichmentStore, catalog: Catalog, plan: Plan, done: EnrichReport
    ) -> None:
        """Have the items written, as far as the owner agrees and the budget goes."""
        # Imported here: most runs write nothing, and language models take a second to import.
        from notehop.indexing.enrich.writer import load_writer

        try:
            writer = (self._load or load_writer)(self._settings, self._layout.root)
        except NotehopError as exc:
            done.stopped = str(exc)
            return
        if writer is not None:
            with closing(writer):
                self._write_by(writer, store, catalog, plan, done)

    def _write_by(
        self,
        writer: TextWriter,
        store: EnrichmentStore,
        catalog: Catalog,
        plan: Plan,
        done: EnrichReport,
    ) -> None:
        max_tokens = self._settings.enrich.max_tokens
        sizes = sizes_of(plan.items, writer)
        cost = cost_of(plan.items, sizes, writer, self._max_calls, max_tokens)
        if (against := self._agree(cost)) is not None:
            done.stopped = against
            return
        if not cost.within:
            done.stopped = self._spent
            return
        self._progress.stage("Writing about notes", cost.within, "texts")
        in_a_row = 0
        began = {item.path for item in plan.items}
        for at, (item, size) in enumerate(zip(plan.items, sizes, strict=True)):
            if self._cancelled():
                done.stopped = "stopped"
                return
            if done.calls >= self._max_calls or (done.tokens + size + OUTPUT_TOKENS > max_tokens):
                done.stopped = self._spent
                return
            place = self._vault, self._settings.vault, catalog
            if not is_unchanged(*place, item.path, item.content_hash):
                self._progress.advance(1)
                continue
            try:
                done.calls += 1
                self._one(store, writer, item, done)
                in_a_row = 0
            except ProviderError as exc:
                if exc.kind == "cancelled" or exc.kind in _HOPELESS:
                    done.stopped = str(exc)
                    return
                store.fail(item.key, item.path, item.request.kind, str(exc))
                in_a_row += 1
                if in_a_row >= _IN_A_ROW.get(exc.kind, _WORDLESS):
                    done.stopped = f"{in_a_row} requests in a row failed: {exc}"
                    return
            self._progress.advance(1)
            last_of_note = at + 1 == len(plan.items) or plan.items[at + 1].path != item.path
            began.discard(item.path if last_of_note else "")
            if last_of_note and len(store.pending_reindex()) >= REDO_NOTES:
                self._apply(store, done, except_for=began)

    def _one(
        self, store: EnrichmentStore, writer: TextWriter, item: Item, done: EnrichReport
    ) -> None:
        written = writer.write(item.request, item.path, self._cancelled)
        done.tokens += written.tokens
        for notice in written.notices:
            done.warn(notice)
        kind = item.request.kind
        text = Text(item.key, kind, written.text, writer.model, written.tokens)
        if store.put([text]):
            done.written[kind] = done.written.get(kind, 0) + 1

    def _apply(
        self, store: EnrichmentStore, done: EnrichReport, except_for: set[str] | None = None
    ) -> None:
        """Index the notes that got headers; what cannot be now stays owed."""
        owed = [path for path in store.pending_reindex() if path not in (except_for or ())]
        if headers_of(self._settings, self._layout.enrichment) is None:
            store.mark_reindexed(owed)
            return
        for start in range(0, len(owed), REDO_NOTES):
            part = owed[start : start + REDO_NOTES]
            try:
                done.generation = self._redo(part).generation
            except NotehopError as exc:
                done.warn(f"headers are written and not in the index yet: {exc}")
                return
            faults.point("enrich-redone")
            store.mark_reindexed(part)

    def _sweep(self, store: EnrichmentStore) -> None:
        store.sweep(time.time() - self._settings.enrich.keep_days * _DAY)
        store.checkpoint()


def enrich(
    indexer: Indexer,
    agree: Agree,
    *,
    load: LoadWriter | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    most_calls: int | None = None,
    redo: Redo | None = None,
) -> EnrichReport | None:
    """Have written what the settings ask for and the index lacks; None if that is nothing.

    It never fails: what went wrong is in the report.

    :param agree: told the cost before anything is sent.
    :param load: gives the language model; None for that of the settings.
    :param most_calls: requests of this run, if fewer than ``enrich.max_calls``.
    :param redo: indexes notes anew that got headers; None for the indexer.
    """
    settings = indexer.settings.enrich
    wanted = settings.summaries != "off" or settings.headers != "off"
    if not wanted and not indexer.layout.enrichment.is_file():
        return None
    try:
        redo = redo or indexer.redo
        return _Enricher(indexer, agree, load, cancelled, most_calls, redo).run()
    except NotehopError as exc:
        return EnrichReport(stopped=str(exc))


def with_enrichment(report: Report, done: EnrichReport | None) -> Report:
    """The report of a run with what was written after it."""
    if done is None:
        return report
    warnings = [*report.warnings, *done.warnings]
    if done.stopped is not None:
        warnings.append(f"enrichment stopped: {done.stopped}")
    return replace(
        report,
        generation=done.generation or report.generation,
        warnings=tuple(warnings),
        enrichment=done,
    )
