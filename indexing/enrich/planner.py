"""What is to be written about the notes of an index, what that will cost, and whether the owner of the
notes agrees."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from notehop.config.settings import EnrichSettings
from notehop.indexing.enrich import extract
from notehop.indexing.enrich.prompts import (
    OUTPUT_TOKENS,
    VERSION,
    Passage,
    Request,
    header_requests,
    own_summary,
    summary_request,
)
from notehop.indexing.enrich.store import EnrichmentStore, Kind, Text
from notehop.indexing.report import numbered
from notehop.indexing.shown import counted, printable
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_read import slices
from notehop.indexing.stores.model import ChunkRow, NoteRow, NoteStatus
from notehop.indexing.tokens import Tokenizer

if TYPE_CHECKING:
    from notehop.indexing.enrich.enricher import TextWriter

TRIES = 3
"""Runs in which a text that a model did not write is asked for; then once a day, until the note
changes."""

_DAY = 86_400.0

_SHORT = 200  # characters of a note that is its own summary: a model would say it again
_NOTES = 200  # notes that are looked at at a time


@dataclass(frozen=True, slots=True)
class Item:
    """One text that a model is to write. ``content_hash`` is that of the note it is about."""

    path: str
    content_hash: str
    key: str
    request: Request


@dataclass(slots=True)
class Plan:
    """The texts that are missing and worth asking for, notes changed last first; ``extracts`` were
    made on the way."""

    items: list[Item] = field(default_factory=list)
    extracts: int = 0


class Planner:
    """Looks at those notes of an index that are not known to have all they should."""

    def __init__(
        self,
        store: EnrichmentStore,
        settings: EnrichSettings,
        model: Mapping[str, Any] | None,
        language: str,
    ) -> None:
        """
        :param model: what tells the language model apart; None where there is none.
        :param language: of the index.
        """
        self._store = store
        self._summaries = settings.summaries != "off"
        self._written = settings.summaries == "llm" and model is not None
        self._headers = settings.headers == "llm" and model is not None
        self._model = model or {}
        self._tokenizer = Tokenizer(language)
        what = [self._summaries, self._written, self._headers, self._model]
        self._wanted = [*what, VERSION, extract.RULES, language]

    def plan(self, catalog: CatalogSnapshot) -> Plan:
        """Find what is missing, and make the extracts that are.

        The store is told what every note needs.
        """
        plan = Plan()
        seen = self._store.checked()
        # What decides all that is written about a note: its passages follow from its content.
        wanted = _hash([*self._wanted, catalog.stamp])
        shapes = {
            path: f"{wanted} {stamp.content_hash}"
            for path, stamp in catalog.stamps().items()
            if stamp.status is NoteStatus.INDEXED
        }
        due = sorted(path for path, shape in shapes.items() if seen.get(path) != shape)
        since = time.time() - _DAY
        failures = self._store.failures()
        vain = {one.key for one in failures if one.tries >= TRIES and one.last > since}
        changed: dict[str, float] = {}
        for part in slices(due, _NOTES):
            rows = catalog.notes_at(part)
            changed |= {path: row.modified for path, row in rows.items()}
            texts = {
                path: [chunk for chunk in catalog.chunks_of(path) if chunk.kind == "text"]
                for path in rows
            }
            done = self._look(rows, texts, vain, plan)
            self._store.mark_checked({path: shapes[path] for path in done})
        plan.items.sort(
            key=lambda item: (-changed[item.path], item.path, item.request.kind != "summary")
        )
        return plan

    def _look(
        self,
        notes: Mapping[str, NoteRow],
        texts: Mapping[str, Sequence[ChunkRow]],
        vain: Collection[str],
        plan: Plan,
    ) -> list[str]:
        """Add what notes lack to the plan; the notes that lack nothing."""
        items: dict[str, list[Item]] = {}
        extracts: dict[str, str] = {}
        needed: dict[str, dict[str, Kind]] = {}
        for path, note in notes.items():
            items[path] = list(self._requests(note, texts[path]))
            needed[path] = {item.key: item.request.kind for item in items[path]}
            if self._summaries and own_summary(note.front_matter) is None:
                passages = [chunk.text for chunk in texts[path]]
                key = _hash([extract.RULES, self._tokenizer.fingerprint, note.title, passages])
                extracts[key] = path
                needed[path][key] = "extract"
        hashes = {path: note.content_hash for path, note in notes.items()}
        self._store.set_requirements(needed, hashes)
        there = self._store.texts(key for keys in needed.values() for key in keys)
        missing = {key: path for key, path in extracts.items() if key not in there}
        self._store.put(
            self._extract(key, notes[path].title, texts[path]) for key, path in missing.items()
        )
        plan.extracts += len(missing)
        requested = {item.key for item in plan.items}
        done = []
        for path, wanted in items.items():
            lacking = [item for item in wanted if item.key not in there]
            if not lacking:
                done.append(path)
            for item in lacking:
                # What two notes would have said alike is asked once.
                if item.key not in vain and item.key not in requested:
                    plan.items.append(item)
                    requested.add(item.key)
        return done

    def _requests(self, note: NoteRow, chunks: Sequence[ChunkRow]) -> Iterator[Item]:
        passages = [Passage(chunk.heading_path, chunk.text) for chunk in chunks]
        requests: list[Request] = []
        long = sum(len(passage.text.strip()) for passage in passages) > _SHORT
        if self._written and long and own_summary(note.front_matter) is None:
            requests.append(summary_request(note.title, passages))
        if self._headers:
            requests += header_requests(note.title, passages)
        for request in requests:
            yield Item(note.path, note.content_hash, request.key(self._model), request)

    def _extract(self, key: str, title: str, chunks: Sequence[ChunkRow]) -> Text:
        said = extract.extract(title, [chunk.text for chunk in chunks], self._tokenizer)
        return Text(key, "extract", said, extract.RULES)


def _hash(payload: Any) -> str:
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:32]


_COUNTED = 100  # requests whose tokens are counted; those of the others follow from their length


@dataclass(frozen=True, slots=True)
class Cost:
    """What is to be written, and what that is expected to take: tokens sent (``exact`` where the
    model's own tokenizer counts them) and received, and how many requests the budget covers."""

    summaries: int
    headers: int
    tokens_in: int
    tokens_out: int
    model: str
    host: str
    exact: bool
    within: int

    @property
    def calls(self) -> int:
        return self.summaries + self.headers

    @property
    def covered(self) -> bool:
        """Whether the budget of a run covers all of it."""
        return self.within >= self.calls

    def lines(self) -> list[str]:
        kinds = (("summary", self.summaries), ("header", self.headers))
        what = [numbered(count, kind) for kind, count in kinds if count]
        most = "" if self.exact else "up to "
        found = [
            f"To be written: {' and '.join(what)}, by {self.model}.",
            f"The text of the notes goes to {self.host}.",
            f"That takes {counted(self.calls, 'request')}: {most}{self.tokens_in:,} tokens sent, "
            f"about {self.tokens_out:,} received.",
        ]
        if not self.covered:
            found.append(
                "The budget of a run (enrich.max_calls, enrich.max_tokens) covers "
                f"{self.within:,} of them; the next run goes on."
            )
        return found


def cost_of(
    items: Sequence[Item], sizes: Sequence[int], writer: TextWriter, max_calls: int, max_tokens: int
) -> Cost:
    """Estimate what the items cost, and how many of them a budget covers.

    :param sizes: of the items, by :func:`sizes_of`.
    """
    within, spent = 0, 0
    for size in sizes[:max_calls]:
        spent += size + OUTPUT_TOKENS
        if spent > max_tokens:
            break
        within += 1
    summaries = sum(item.request.kind == "summary" for item in items)
    return Cost(
        summaries=summaries,
        headers=len(items) - summaries,
        tokens_in=sum(sizes),
        tokens_out=OUTPUT_TOKENS * len(items),
        model=writer.model,
        host=writer.host,
        exact=writer.counter.exact and len(items) <= _COUNTED,
        within=within,
    )


def sizes_of(items: Sequence[Item], writer: TextWriter) -> list[int]:
    """The tokens that each item sends: counted for the first ones, by their length for the rest."""
    first = [writer.size(item.request) for item in items[:_COUNTED]]
    lengths = [len(item.request.system) + len(item.request.prompt) for item in items]
    share = sum(first) / max(1, sum(lengths[:_COUNTED]))
    return first + [round(length * share) for length in lengths[_COUNTED:]]


Agree = Callable[[Cost], str | None]
"""Gets the cost before anything is sent; says why not to go on, or None to go on."""


def agreement(*, yes: bool, read: TextIO | None = None, write: TextIO | None = None) -> Agree:
    """Show what it costs and ask, where somebody is there to answer.

    Without a terminal, it goes on by itself within the budget of a run, and not beyond.

    :param yes: it was agreed to beforehand, as far as the budget goes.
    """

    def agree(cost: Cost) -> str | None:
        stdin, stderr = read or sys.stdin, write or sys.stderr
        stderr.writelines(f"{printable(line)}\n" for line in cost.lines())
        stderr.flush()
        if yes:
            return None
        if stdin is not None and stdin.isatty() and stderr.isatty():
            stderr.write("Go on? [y/N] ")
            stderr.flush()
            reply = stdin.readline().strip().casefold()
            return None if reply in ("y", "yes") else "not agreed to; the index is complete without"
        return within_budget(cost)

    return agree


def within_budget(cost: Cost) -> str | None:
    """Agree where nobody is there to ask, to what the budget of a run covers, and to no part of
    more."""
    if cost.covered:
        return None
    return (
        f"{counted(cost.calls, 'request')} are more than the budget of a run covers, and "
        "nobody is here to agree; run: notehop index --yes, which goes as far as the budget"
    )
