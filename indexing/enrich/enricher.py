"""The step after an index run: has written about notes what the settings ask for and is missing.

The index answers by then, and nothing here can make it worse: a summary only adds to it, and a note
that got headers is indexed with them in the order of every other write. What was written is kept at
once, under the hash of what was sent: a run that is killed loses the one text it was waiting for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from notehop.config import Settings
from notehop.config.errors import IndexMissing, NotehopError, ProviderError
from notehop.indexing import faults
from notehop.indexing.changes import is_unchanged
from notehop.indexing.enrich.planner import Agree, Cost, Item, Planner, affordable
from notehop.indexing.enrich.prompts import (
    KEPT_CHARS,
    OUTPUT_TOKENS,
    Request,
    cleaned,
    header_identity,
    model_identity,
)
from notehop.indexing.enrich.store import LOST, EnrichmentStore, Text, delete_orphans
from notehop.indexing.llm.tokens import count_tokens
from notehop.indexing.pipeline.models import TooMuchToEmbed
from notehop.indexing.report import EnrichReport
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_read import slices

if TYPE_CHECKING:
    from llama_index.core.llms import LLM

    from notehop.indexing.pipeline import Indexer


REDO_NOTES = 50
"""Notes with new headers that are indexed together: each such write costs a model and a
generation."""

_IN_A_ROW = {"timeout": 3, "server": 3}
"""Failures one after the other, by kind, that are the provider's and not the notes'."""

_WORDLESS = 10  # the same for all other kinds: some notes a model has nothing to say about
_HOPELESS = ("cancelled", "consent", "key", "model", "refused", "rate")
"""Kinds of failures that the next request would meet as well."""

SPENT = (
    "the budget of a run (enrich.max_calls, enrich.max_tokens) is used up; "
    "the next run goes on: notehop index"
)

SPENT_NOW = (
    "the requests of this hour (enrich.watch_calls) are used up; it goes on by itself, "
    "or at once with: notehop index"
)

_HOUR, _DAY = 3_600.0, 86_400.0

_FRAME_TOKENS = 12  # tokens that a chat takes around two messages


@dataclass(frozen=True, slots=True)
class TextWriter:
    """Asks one language model. ``host`` is who gets the notes; ``model`` its name, as shown."""

    llm: LLM
    model: str
    host: str

    def close(self) -> None:
        """Close the connections of the model, if it has any."""
        from notehop.indexing.llm.provider_llm import ProviderLLM

        if isinstance(self.llm, ProviderLLM):
            self.llm.close()

    def size(self, request: Request) -> int:
        """The tokens that a request sends."""
        said = count_tokens(request.system) + count_tokens(request.prompt)
        return said + _FRAME_TOKENS

    def cost(self, items: Sequence[Item], sizes: Sequence[int], within: int) -> Cost:
        """What the items are expected to cost; ``within`` of them the budget covers."""
        summaries = sum(item.request.kind == "summary" for item in items)
        return Cost(
            summaries=summaries,
            headers=len(items) - summaries,
            tokens_in=sum(sizes),
            tokens_out=OUTPUT_TOKENS * len(items),
            model=self.model,
            host=self.host,
            within=within,
        )

    def write(
        self, request: Request, path: str, cancelled: Callable[[], bool]
    ) -> tuple[str, int, Sequence[str]]:
        """Ask once.

        :param path: of the note whose text is sent.
        :returns: the text, the tokens that it cost, and notices for the owner of the notes.
        :raises NotehopError: if the model fails, or answers without words.
        """
        from llama_index.core.base.llms.types import ChatMessage, MessageRole

        from notehop.indexing.llm.egress import sending

        messages = [
            ChatMessage(role=MessageRole.SYSTEM, content=request.system),
            ChatMessage(role=MessageRole.USER, content=request.prompt),
        ]
        try:
            with sending([path], purpose=request.kind, cancelled=cancelled) as sent:
                reply = self.llm.chat(messages).message.content or ""
        except NotehopError:
            raise
        except Exception as exc:
            # A library says it in its own way; nothing a model does may end the run.
            raise ProviderError(f"the model {self.model} failed ({exc})") from exc
        text = cleaned(reply, KEPT_CHARS)
        if not text:
            raise ProviderError(f"the model {self.model} answered without words")
        return text, self.size(request) + count_tokens(reply), sent.notices


def load_writer(settings: Settings, log_dir: Path) -> TextWriter | None:
    """The model that the settings name; None if they name none.

    :param log_dir: of the log of what leaves the machine.
    :raises ProviderError: if it cannot be asked: no extra, key, name or file.
    """
    # Not above: most runs write nothing, and language models take a second to import.
    from notehop.indexing.llm.consent import is_loopback
    from notehop.indexing.llm.providers import load_llm, provider_of

    llm = load_llm(settings, log_dir=log_dir)
    if llm is None:
        return None
    host = provider_of(settings).host
    if not host or host == "localhost" or is_loopback(host):
        host = "this machine"
    return TextWriter(llm, Path(settings.llm.model).name, host)


@dataclass(frozen=True, slots=True)
class _Enricher:
    """Has written what one index lacks, within a budget; see :func:`enrich`."""

    indexer: Indexer
    store: EnrichmentStore
    done: EnrichReport
    agree: Agree
    load: Callable[[Settings, Path], TextWriter | None]
    cancelled: Callable[[], bool]
    most_calls: int
    spent: str

    def run(self) -> None:
        """Do it; what goes wrong with the model is in the report.

        :raises NotehopError: if the index or the store cannot be read or written.
        """
        layout, settings, done = self.indexer.layout, self.indexer.settings, self.done
        if self.store.made_anew:
            done.warn(f"{layout.enrichment}: {LOST}")
        provider = settings.llm.provider != "none"
        if not provider and "llm" in (settings.enrich.summaries, settings.enrich.headers):
            done.warn("enrich asks for a language model and llm.provider names none")
        self._reindex()
        model = model_identity(settings) if provider else None
        with Catalog.open(layout.catalog, read_only=True) as catalog:
            language = str((catalog.meta().get("fingerprint") or {}).get("language") or "en")
            with catalog.snapshot() as view:
                planner = Planner(self.store, settings.enrich, model, language)
                items, extracts = planner.plan(view)
                planned = view.generation
            if extracts:
                done.written["extract"] = extracts
            if items:
                self._write(catalog, items)
            if catalog.generation != planned:
                # A run that took notes out meanwhile did not see what was planned for them.
                done.warnings += delete_orphans(layout.enrichment, catalog, catalog.stamps())
        self._reindex()
        lacking = sum(lack for _, lack in self.store.tally().values())
        done.failed = len(self.store.failures())
        done.waiting = max(0, lacking - done.failed)
        self.store.set_meta("last", {"at": time.time(), "stopped": done.stopped})

    def _write(self, catalog: Catalog, items: Sequence[Item]) -> None:
        """Have the items written, as far as the owner agrees and the budget goes."""
        settings, done = self.indexer.settings, self.done
        most = settings.enrich.max_tokens
        try:
            writer = self.load(settings, self.indexer.layout.root)
        except NotehopError as exc:
            done.stopped = str(exc)
            return
        if writer is None:
            return
        with closing(writer):
            sizes = [writer.size(item.request) for item in items]
            within = affordable(sizes, self.most_calls, most)
            done.stopped = self.agree(writer.cost(items, sizes, within))
            if done.stopped is not None:
                return
            self.indexer.progress.stage("Writing about notes", within, "texts")
            in_a_row = 0
            for item, size in zip(items, sizes, strict=True):
                if self.cancelled():
                    done.stopped = "stopped"
                elif done.calls >= self.most_calls or done.tokens + size + OUTPUT_TOKENS > most:
                    done.stopped = self.spent
                if done.stopped is not None:
                    return
                self.indexer.progress.advance(1)
                place = self.indexer.vault, settings.vault, catalog
                if not is_unchanged(*place, item.path, item.content_hash):
                    continue
                try:
                    self._write_item(writer, item)
                    in_a_row = 0
                except ProviderError as exc:
                    if exc.kind in _HOPELESS:
                        done.stopped = str(exc)
                        return
                    self.store.fail(item.key, item.path, item.request.kind, str(exc))
                    in_a_row += 1
                    if in_a_row >= _IN_A_ROW.get(exc.kind, _WORDLESS):
                        done.stopped = f"{in_a_row} requests in a row failed: {exc}"
                        return

    def _write_item(self, writer: TextWriter, item: Item) -> None:
        self.done.calls += 1
        text, tokens, notices = writer.write(item.request, item.path, self.cancelled)
        self.done.tokens += tokens
        for notice in notices:
            self.done.warn(notice)
        kind = item.request.kind
        if self.store.put([Text(item.key, kind, text, writer.model, tokens)]):
            self.done.written[kind] = self.done.written.get(kind, 0) + 1

    def _reindex(self) -> None:
        """Index the notes that got headers; what cannot be now stays owed."""
        owed = self.store.pending_reindex()
        if header_identity(self.indexer.settings) is None:
            self.store.mark_reindexed(owed)
            return
        for part in slices(owed, REDO_NOTES):
            try:
                self.done.generation = self.indexer.update(part, again=True).generation
            except (NotehopError, TooMuchToEmbed) as exc:
                self.done.warn(f"headers are written and not in the index yet: {exc}")
                return
            faults.point("enrich-redone")
            self.store.mark_reindexed(part)


def enrich(
    indexer: Indexer,
    agree: Agree,
    *,
    load: Callable[[Settings, Path], TextWriter | None] = load_writer,
    cancelled: Callable[[], bool] = lambda: False,
    paced: bool = False,
) -> EnrichReport | None:
    """Have written what the settings ask for and the index lacks; None if that is nothing.

    It never fails: what went wrong is in the report.

    :param agree: told the cost before anything is sent.
    :param load: gives the language model.
    :param paced: it goes on all the time: no more than ``enrich.watch_calls`` requests an hour.
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
        try:
            lock.acquire()
        except (Timeout, OSError, NotImplementedError):
            done.stopped = "another process has texts written now"
            return done if wanted else None
        with EnrichmentStore.open(layout.enrichment) as store:
            if wanted:
                calls = settings.max_calls
                if paced:
                    left = settings.watch_calls - store.made_since(time.time() - _HOUR)
                    calls = min(calls, max(0, left))
                spent = SPENT_NOW if paced else SPENT
                _Enricher(indexer, store, done, agree, load, cancelled, calls, spent).run()
            else:
                store.retire_all()
            store.sweep(time.time() - settings.keep_days * _DAY)
            store.checkpoint()
    except (NotehopError, OSError) as exc:
        done.stopped = str(exc)
    finally:
        lock.release()
        indexer.progress.close()
    return done if wanted else None
