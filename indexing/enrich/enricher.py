"""The step after an index run: has written about notes what the settings ask for and is missing.

The index answers by then, and nothing here can make it worse: a summary only adds to it, and a note
that got headers is indexed with them in the order of every other write. What was written is kept at
once, under the hash of what was sent: a run that is killed loses the one text it was waiting for.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from filelock import FileLock, Timeout

from notehop.config import Settings
from notehop.config.errors import IndexMissing, NotehopError, ProviderError
from notehop.config.settings import EnrichSettings
from notehop.indexing import crash_points
from notehop.indexing.changes import is_unchanged
from notehop.indexing.display import counted, printable
from notehop.indexing.enrich.prompts import (
    KEPT_CHARS,
    OUTPUT_TOKENS,
    Passage,
    Request,
    cleaned,
    header_identity,
    header_requests,
    model_identity,
    own_summary,
    summary_request,
)
from notehop.indexing.enrich.store import LOST, EnrichmentStore, Kind, delete_orphans
from notehop.indexing.llm.egress import names_this_machine, sending
from notehop.indexing.llm.providers import address, host_of
from notehop.indexing.llm.text import count_tokens
from notehop.indexing.report import EnrichReport, numbered
from notehop.indexing.stores.catalog import Catalog, CatalogSnapshot
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.lock import locking
from notehop.indexing.stores.rows import NoteRow

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage

    from notehop.indexing.llm.provider_llm import ProviderLLM
    from notehop.indexing.pipeline import Indexer


_SHORT = 200  # characters of a note that is its own summary: a model would say it again
_NOTES = 200  # notes that are looked at at a time

REDO_NOTES = 50
"""Notes with new headers that are indexed together: each such write costs a model and a
generation."""

_IN_A_ROW = 3  # failures one after the other that are the provider's and not the notes'
_HOPELESS = ("cancelled", "consent", "key", "model", "refused", "rate")
"""Kinds of failures that the next request would meet as well."""

SPENT = "the budget of a run (enrich.max_calls) is used up; the next run goes on: notehop index"


Agree = Callable[[Sequence[str], bool], str | None]
"""Gets, before anything is sent, what it costs, in lines, and whether the budget of a run covers all of
it; says why not to go on, or None to go on."""


def agreement(*, yes: bool, read: TextIO | None = None, write: TextIO | None = None) -> Agree:
    """Show what it costs and ask, where somebody is there to answer; else as :func:`within_budget`.

    :param yes: it was agreed to beforehand, as far as the budget goes.
    """

    def agree(costs: Sequence[str], covered: bool) -> str | None:
        stdin, stderr = read or sys.stdin, write or sys.stderr
        stderr.writelines(f"{printable(line)}\n" for line in costs)
        stderr.flush()
        if yes:
            return None
        if stdin is not None and stdin.isatty() and stderr.isatty():
            stderr.write("Go on? [y/N] ")
            stderr.flush()
            reply = stdin.readline().strip().casefold()
            return None if reply in ("y", "yes") else "not agreed to; the index is complete without"
        return within_budget(costs, covered)

    return agree


def within_budget(_costs: Sequence[str], covered: bool) -> str | None:
    """Agree where nobody is there to ask, if the budget of a run covers all of it."""
    if covered:
        return None
    return (
        "what is to be written is more than the budget of a run (enrich.max_calls) covers, and nobody "
        "is here to agree; run: notehop index --yes, which goes as far as the budget"
    )


def connected(settings: Settings, log_dir: Path) -> ProviderLLM:
    """The model that the settings name. Raises ProviderError if it cannot be asked."""
    # Not above: most runs write nothing, and language models take a second to import.
    from notehop.indexing.llm.provider_llm import ProviderLLM

    llm = ProviderLLM(settings, log_dir)
    llm.connect()
    return llm


def enrich(
    indexer: Indexer, agree: Agree, load: Callable[[Settings, Path], ProviderLLM] = connected
) -> EnrichReport | None:
    """Have written what the settings ask for and the index lacks; None if that is nothing.

    It never fails: what went wrong is in the report.

    :param agree: told the cost before anything is sent.
    :param load: gives the language model.
    """
    layout, settings = indexer.layout, indexer.settings.enrich
    wanted = settings.summaries != "off" or settings.headers != "off"
    if not wanted and not layout.enrichment.is_file():
        return None
    done = EnrichReport()
    lock = FileLock(layout.enriching_lock, timeout=0, thread_local=False, fallback_to_soft=False)
    try:
        if not layout.marker.is_file():
            # The index was deleted: a file of ours would keep another from being made there.
            raise IndexMissing("there is no index")
        with locking(layout.root):
            lock.acquire()
        with EnrichmentStore.open(layout.enrichment) as store:
            if wanted and indexer.settings.llm.provider == "none":
                done.warn("enrich asks for a language model and llm.provider names none")
            else:
                _Enricher(indexer, store, done, agree, load).run()
            store.checkpoint()
    except Timeout:
        done.stopped = "another process has texts written now"
    except (NotehopError, OSError) as exc:
        done.stopped = str(exc)
    finally:
        lock.release()
        indexer.progress.close()
    return done if wanted else None


@dataclass(frozen=True, slots=True)
class _Enricher:
    """Has written what one index lacks, within a budget; see :func:`enrich`."""

    indexer: Indexer
    store: EnrichmentStore
    done: EnrichReport
    agree: Agree
    load: Callable[[Settings, Path], ProviderLLM]
    failed: dict[str, str] = field(default_factory=dict)
    """Key -> why it was not written when last asked for, in this run or one before; the last one
    last."""

    def run(self) -> None:
        """Do it; what goes wrong with the model is in the report. Raises NotehopError if the index or
        the store cannot be read or written."""
        layout, settings, done = self.indexer.layout, self.indexer.settings, self.done
        if self.store.made_anew:
            done.warn(f"{layout.enrichment}: {LOST}")
        self._reindex()
        with Catalog.open(layout.catalog, read_only=True) as catalog:
            with catalog.snapshot() as view:
                items = plan(self.store, settings.enrich, model_identity(settings), view)
                planned = view.generation
            lacks = {item.key for item in items}
            self.failed.update({k: v for k, v in self.store.failures().items() if k in lacks})
            if items:
                try:
                    self._write(catalog, items)
                except NotehopError as exc:
                    done.stopped = str(exc)
            if catalog.generation != planned:
                # A run that took notes out meanwhile did not see what was planned for them.
                done.warnings += delete_orphans(layout.enrichment, catalog, catalog.stamps())
        self._reindex()
        if done.stopped is None:
            # Not before: who tries another model and does not agree to its cost keeps what is there.
            self.store.delete_unused()
        lacking = sum(lack for _, lack in self.store.tally().values())
        self.store.set_last_run(done.stopped, self.failed)
        done.failed = len(self.store.last_run()["failed"])
        done.waiting = max(0, lacking - done.failed)

    def _write(self, catalog: Catalog, items: Sequence[Item]) -> None:
        """Have the items written; raises NotehopError, saying why not all of them were."""
        settings, done = self.indexer.settings, self.done
        host, model = host_of(address(settings.llm)), Path(settings.llm.model).name
        if not host or names_this_machine(host):
            host = "this machine"
        sizes = [count_tokens(item.request.system + item.request.prompt) for item in items]
        within = min(settings.enrich.max_calls, len(items))
        kinds = Counter(item.request.kind for item in items)
        what = [numbered(kinds[kind], kind) for kind in ("summary", "header") if kinds[kind]]
        costs = [
            f"To be written: {' and '.join(what)}, by {model}.",
            f"The text of the notes goes to {host}.",
            f"That takes {counted(len(items), 'request')}: up to {sum(sizes):,} tokens sent, "
            f"about {OUTPUT_TOKENS * len(items):,} received.",
        ]
        if within < len(items):
            costs.append(
                f"The budget of a run (enrich.max_calls) covers {within:,} of them; the next run goes on."
            )
        with closing(self.load(settings, self.indexer.layout.root)) as llm:
            if (against := self.agree(costs, within == len(items))) is not None:
                raise NotehopError(against)
            self.indexer.progress.stage("Writing about notes", within, "texts")
            in_a_row = 0
            for item, size in zip(items, sizes, strict=True):
                if done.calls >= settings.enrich.max_calls:
                    raise NotehopError(SPENT)
                self.indexer.progress.advance(1)
                place = self.indexer.vault, settings.vault, catalog
                if not is_unchanged(*place, item.note.path, item.note.content_hash):
                    continue
                kind = item.request.kind
                done.calls += 1
                try:
                    with sending([item.note.path], purpose=kind) as sent:
                        reply = llm.chat(_messages(item.request)).message.content or ""
                    for notice in sent.notices:
                        done.warn(notice)
                    text = cleaned(reply, KEPT_CHARS)
                    if not text:
                        raise ProviderError(f"the model {model} answered without words")
                except ProviderError as exc:
                    if exc.kind in _HOPELESS:
                        raise
                    failed_before = self.failed.pop(item.key, None) is not None
                    self.failed[item.key] = str(exc)
                    in_a_row += 1
                    if in_a_row >= _IN_A_ROW:
                        if failed_before:
                            return  # all that are left failed before; the next run begins with others
                        raise NotehopError(f"{in_a_row} requests in a row failed: {exc}") from exc
                    continue
                in_a_row = 0
                self.failed.pop(item.key, None)
                done.tokens += size + count_tokens(reply)
                if self.store.put(item.key, text, model):
                    done.written[kind] = done.written.get(kind, 0) + 1

    def _reindex(self) -> None:
        """Index the notes that got headers; what cannot be now stays owed."""
        owed = self.store.pending_reindex()
        if header_identity(self.indexer.settings) is None:
            self.store.mark_reindexed(owed)
            return
        for part in slices(owed, REDO_NOTES):
            try:
                self.done.generation = self.indexer.update(part, again=True).generation
            except NotehopError as exc:
                self.done.warn(f"headers are written and not in the index yet: {exc}")
                return
            crash_points.point("enrich-redone")
            self.store.mark_reindexed(part)


def _messages(request: Request) -> list[ChatMessage]:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole

    return [
        ChatMessage(role=MessageRole.SYSTEM, content=request.system),
        ChatMessage(role=MessageRole.USER, content=request.prompt),
    ]


@dataclass(frozen=True, slots=True)
class Item:
    """One text that a model is to write about a note."""

    note: NoteRow
    key: str
    request: Request


def plan(
    store: EnrichmentStore, settings: EnrichSettings, model: Mapping[str, Any], catalog: CatalogSnapshot
) -> list[Item]:
    """Find what is missing: notes changed last first, then what failed when last asked for, so that
    what always fails and ends a run keeps nothing else.

    The store is told what every note needs.

    :param model: what tells the language model apart.
    """
    # What two notes would have said alike is asked once.
    items: dict[str, Item] = {}
    for part in slices(catalog.indexed_paths(), _NOTES):
        rows = catalog.notes_at(part)
        requests: list[Item] = []
        needed: dict[str, dict[str, Kind]] = {}
        for note in rows.values():
            chunks = [one for one in catalog.chunks_of(note.path) if one.kind != "properties"]
            own = _items(note, [Passage(one.heading_path, one.text) for one in chunks], settings, model)
            requests += own
            needed[note.path] = {item.key: item.request.kind for item in own}
        store.set_requirements(needed, {path: row.content_hash for path, row in rows.items()})
        there = store.texts(key for keys in needed.values() for key in keys)
        for item in requests:
            if item.key not in there:
                items.setdefault(item.key, item)
    failed = {key: at for at, key in enumerate(store.failures())}
    return sorted(
        items.values(),
        key=lambda item: (
            failed.get(item.key, -1),
            -item.note.modified,
            item.note.path,
            item.request.kind != "summary",
        ),
    )


def _items(
    note: NoteRow, passages: Sequence[Passage], settings: EnrichSettings, model: Mapping[str, Any]
) -> list[Item]:
    """All that a model is to write about a note."""
    requests: list[Request] = []
    long = sum(len(passage.text.strip()) for passage in passages) > _SHORT
    if settings.summaries == "llm" and long and own_summary(note.front_matter) is None:
        requests.append(summary_request(note.title, passages))
    if settings.headers == "llm":
        requests += header_requests(note.title, passages)
    return [Item(note, one.key(model), one) for one in requests]
