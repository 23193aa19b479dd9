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
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from notehop.config import Settings
from notehop.config.errors import NotehopError, ProviderError
from notehop.indexing import faults
from notehop.indexing.enrich.cost import Cost, cost_of, sizes_of
from notehop.indexing.enrich.headers import headers_of, model_identity
from notehop.indexing.enrich.leaving import LOST, let_go
from notehop.indexing.enrich.plan import Item, Plan, Planner
from notehop.indexing.enrich.prompts import OUTPUT_TOKENS
from notehop.indexing.enrich.report import EnrichReport
from notehop.indexing.enrich.rows import Text
from notehop.indexing.enrich.scribe import Scribe, load_scribe
from notehop.indexing.enrich.still import still_there
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.report import Progress, Update
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.layout import IndexLayout

Agree = Callable[[Cost], str | None]
"""Told the cost before anything is sent; says why not to go on, or None to go on."""

Redo = Callable[[Sequence[str]], Update]
"""Indexes notes anew; raises NotehopError if that cannot be now."""

LoadScribe = Callable[[Settings, Path], Scribe | None]

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


@dataclass(slots=True)
class _Done:
    written: dict[str, int] = field(default_factory=dict)
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    stopped: str | None = None
    generation: int | None = None
    warnings: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


class Enricher:
    """Has written what one index lacks, within a budget."""

    def __init__(
        self,
        vault: Path,
        settings: Settings,
        layout: IndexLayout,
        progress: Progress,
        redo: Redo,
        agree: Agree,
        *,
        load: LoadScribe = load_scribe,
        cancelled: Callable[[], bool] = lambda: False,
        most_calls: int | None = None,
    ) -> None:
        """Touch nothing yet.

        :param redo: indexes notes anew that got headers.
        :param agree: told the cost before anything is sent.
        :param load: gives the language model; called when it is to write something.
        :param most_calls: requests of this run, if fewer than ``enrich.max_calls``.
        """
        self._vault = vault
        self._settings = settings
        self._layout = layout
        self._progress = progress
        self._redo = redo
        self._agree = agree
        self._load = load
        self._cancelled = cancelled
        calls = settings.enrich.max_calls
        self._spent = SPENT if most_calls is None else SPENT_NOW
        self._max_calls = calls if most_calls is None else min(calls, most_calls)

    def run(self) -> EnrichReport | None:
        """Do it; None if the settings ask for nothing.

        What goes wrong with the model is in the report, and ends nothing but this step.

        :raises NotehopError: if the index or the store cannot be read or written.
        """
        asked = self._settings.enrich
        wanted = asked.summaries != "off" or asked.headers != "off"
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
                store.retire()
                self._sweep(store)
                return None
        finally:
            lock.release()
            self._progress.close()

    def _enrich(self, store: EnrichmentStore) -> EnrichReport:
        done = _Done()
        if store.made_anew:
            done.warn(f"{self._layout.enrichment}: {LOST}")
        provider = self._settings.llm.provider != "none"
        if not provider and "llm" in (
            self._settings.enrich.summaries,
            self._settings.enrich.headers,
        ):
            done.warn("enrich asks for a language model and llm.provider names none")
        self._apply(store, done)
        model = model_identity(self._settings) if provider else None
        with Catalog.open(self._layout.catalog, read_only=True) as catalog:
            language = str((catalog.meta().get("fingerprint") or {}).get("language") or "en")
            with catalog.snapshot() as view:
                planner = Planner(store, self._settings.enrich, model, language)
                plan = planner.plan(view)
                planned = view.generation
            faults.point("enrich-planned")
            if plan.extracts:
                done.written["extract"] = plan.extracts
            if plan.items:
                self._write(store, catalog, plan, done)
            if catalog.generation != planned:
                # A run that took notes out meanwhile did not see what was planned for them.
                done.warnings += let_go(self._layout.enrichment, catalog, None)
        self._apply(store, done)
        self._sweep(store)
        lacking = sum(lack for _, lack in store.tally().values())
        failed = len(store.failures())
        report = EnrichReport(
            written=done.written,
            waiting=max(0, lacking - failed),
            failed=failed,
            calls=done.calls,
            tokens=done.tokens,
            stopped=done.stopped,
            generation=done.generation,
            warnings=tuple(done.warnings),
        )
        store.tell("last", {"at": time.time(), "stopped": done.stopped})
        return report

    def _write(self, store: EnrichmentStore, catalog: Catalog, plan: Plan, done: _Done) -> None:
        """Have the items written, as far as the owner agrees and the budget goes."""
        try:
            scribe = self._load(self._settings, self._layout.root)
        except NotehopError as exc:
            done.stopped = str(exc)
            return
        if scribe is not None:
            with closing(scribe):
                self._write_by(scribe, store, catalog, plan, done)

    def _write_by(
        self,
        scribe: Scribe,
        store: EnrichmentStore,
        catalog: Catalog,
        plan: Plan,
        done: _Done,
    ) -> None:
        asked = self._settings.enrich
        cost = cost_of(plan.items, scribe, self._max_calls, asked.max_tokens)
        if (against := self._agree(cost)) is not None:
            done.stopped = against
            return
        if not cost.within:
            done.stopped = self._spent
            return
        self._progress.stage("Writing about notes", cost.within, "texts")
        sizes = sizes_of(plan.items, scribe)
        in_a_row = 0
        began = {item.path for item in plan.items}
        for at, (item, size) in enumerate(zip(plan.items, sizes, strict=True)):
            if self._cancelled():
                done.stopped = "stopped"
                return
            if done.calls >= self._max_calls or (
                done.tokens + size + OUTPUT_TOKENS > asked.max_tokens
            ):
                done.stopped = self._spent
                return
            place = self._vault, self._settings.vault, catalog
            if not still_there(*place, item.path, item.content_hash):
                self._progress.advance(1)
                continue
            try:
                done.calls += 1
                self._one(store, scribe, item, done)
                in_a_row = 0
            except ProviderError as exc:
                if exc.kind == "cancelled" or exc.kind in _HOPELESS:
                    done.stopped = str(exc)
                    return
                store.fail(item.key, item.path, item.request.kind, str(exc))
                done.failed += 1
                in_a_row += 1
                if in_a_row >= _IN_A_ROW.get(exc.kind, _WORDLESS):
                    done.stopped = f"{in_a_row} requests in a row failed: {exc}"
                    return
            self._progress.advance(1)
            last_of_note = at + 1 == len(plan.items) or plan.items[at + 1].path != item.path
            began.discard(item.path if last_of_note else "")
            if last_of_note and len(store.owed()) >= REDO_NOTES:
                self._apply(store, done, except_for=began)

    def _one(self, store: EnrichmentStore, scribe: Scribe, item: Item, done: _Done) -> None:
        written = scribe.write(item.request, item.path, self._cancelled)
        faults.point("enrich-written")
        done.tokens += written.tokens
        for notice in written.notices:
            done.warn(notice)
        kind = item.request.kind
        text = Text(item.key, kind, written.text, scribe.model, written.tokens)
        if store.put([text]):
            done.written[kind] = done.written.get(kind, 0) + 1

    def _apply(
        self, store: EnrichmentStore, done: _Done, except_for: set[str] | None = None
    ) -> None:
        """Index the notes that got headers; what cannot be now stays owed."""
        owed = [path for path in store.owed() if path not in (except_for or ())]
        if headers_of(self._settings, self._layout.enrichment) is None:
            store.settle(owed)
            return
        for start in range(0, len(owed), REDO_NOTES):
            part = owed[start : start + REDO_NOTES]
            try:
                done.generation = self._redo(part).generation
            except NotehopError as exc:
                done.warn(f"headers are written and not in the index yet: {exc}")
                return
            faults.point("enrich-redone")
            store.settle(part)

    def _sweep(self, store: EnrichmentStore) -> None:
        if store.sweep(time.time() - self._settings.enrich.keep_days * _DAY) or store.unfolded:
            store.fold()
