"""What is to be written about the notes of an index, what that will cost, and whether the owner of the
notes agrees."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

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
from notehop.indexing.stores.model import NoteRow, NoteStatus
from notehop.indexing.tokens import Tokenizer

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


def plan(
    store: EnrichmentStore,
    settings: EnrichSettings,
    model: Mapping[str, Any] | None,
    language: str,
    catalog: CatalogSnapshot,
) -> tuple[list[Item], int]:
    """Find what is missing and worth asking for, and make the extracts that are missing.

    The store is told what every note needs; notes that are known to have all are passed over.

    :param model: what tells the language model apart; None where there is none.
    :param language: of the index.
    :returns: what a model is to write, notes changed last first; how many extracts were made.
    """
    tokenizer = Tokenizer(language)
    # What decides all that is written about a note: its passages follow from its content.
    asked = [settings.summaries, settings.headers, model]
    wanted = _hash([*asked, VERSION, extract.RULES, language, catalog.stamp])
    shapes = {
        path: f"{wanted} {stamp.content_hash}"
        for path, stamp in catalog.stamps().items()
        if stamp.status is NoteStatus.INDEXED
    }
    seen = store.checked()
    due = sorted(path for path, shape in shapes.items() if seen.get(path) != shape)
    since = time.time() - _DAY
    vain = {one.key for one in store.failures() if one.tries >= TRIES and one.last > since}
    # What two notes would have said alike is asked once.
    items: dict[str, Item] = {}
    changed: dict[str, float] = {}
    made = 0
    for part in slices(due, _NOTES):
        rows = catalog.notes_at(part)
        requests: list[Item] = []
        extracts: dict[str, tuple[str, list[str]]] = {}
        needed: dict[str, dict[str, Kind]] = {}
        for note in rows.values():
            changed[note.path] = note.modified
            chunks = [one for one in catalog.chunks_of(note.path) if one.kind == "text"]
            passages = [Passage(chunk.heading_path, chunk.text) for chunk in chunks]
            summed = settings.summaries != "off" and own_summary(note.front_matter) is None
            own = [] if model is None else _items(note, passages, summed, settings, model)
            requests += own
            needed[note.path] = {item.key: item.request.kind for item in own}
            if summed:
                texts = [chunk.text for chunk in chunks]
                key = _hash([extract.RULES, tokenizer.fingerprint, note.title, texts])
                extracts[key] = note.title, texts
                needed[note.path][key] = "extract"
        store.set_requirements(needed, {path: row.content_hash for path, row in rows.items()})
        there = store.texts(key for keys in needed.values() for key in keys)
        new = [
            Text(key, "extract", extract.extract(title, texts, tokenizer), extract.RULES)
            for key, (title, texts) in extracts.items()
            if key not in there
        ]
        store.put(new)
        made += len(new)
        lacking = [item for item in requests if item.key not in there]
        for item in lacking:
            if item.key not in vain:
                items.setdefault(item.key, item)
        done = rows.keys() - {item.path for item in lacking}
        store.mark_checked({path: shapes[path] for path in done})
    ordered = sorted(
        items.values(),
        key=lambda item: (-changed[item.path], item.path, item.request.kind != "summary"),
    )
    return ordered, made


def _items(
    note: NoteRow,
    passages: Sequence[Passage],
    summed: bool,
    settings: EnrichSettings,
    model: Mapping[str, Any],
) -> list[Item]:
    """All that a model is to write about a note; ``summed``: whether a summary of it is wanted."""
    requests: list[Request] = []
    long = sum(len(passage.text.strip()) for passage in passages) > _SHORT
    if summed and long and settings.summaries == "llm":
        requests.append(summary_request(note.title, passages))
    if settings.headers == "llm":
        requests += header_requests(note.title, passages)
    return [Item(note.path, note.content_hash, one.key(model), one) for one in requests]


def _hash(payload: Any) -> str:
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Cost:
    """What is to be written, and what that is expected to take: tokens sent, rather too many,
    and received, and how many requests the budget covers."""

    summaries: int
    headers: int
    tokens_in: int
    tokens_out: int
    model: str
    host: str
    within: int

    @property
    def calls(self) -> int:
        return self.summaries + self.headers

    def lines(self) -> list[str]:
        kinds = (("summary", self.summaries), ("header", self.headers))
        what = [numbered(count, kind) for kind, count in kinds if count]
        found = [
            f"To be written: {' and '.join(what)}, by {self.model}.",
            f"The text of the notes goes to {self.host}.",
            f"That takes {counted(self.calls, 'request')}: up to {self.tokens_in:,} tokens sent, "
            f"about {self.tokens_out:,} received.",
        ]
        if self.within < self.calls:
            found.append(
                "The budget of a run (enrich.max_calls, enrich.max_tokens) covers "
                f"{self.within:,} of them; the next run goes on."
            )
        return found


def affordable(sizes: Iterable[int], max_calls: int, max_tokens: int) -> int:
    """How many requests a budget covers, of the first.

    :param sizes: the tokens that each sends.
    """
    within, spent = 0, 0
    for size in sizes:
        spent += size + OUTPUT_TOKENS
        if within == max_calls or spent > max_tokens:
            break
        within += 1
    return within


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
    if cost.within >= cost.calls:
        return None
    return (
        f"{counted(cost.calls, 'request')} are more than the budget of a run covers, and "
        "nobody is here to agree; run: notehop index --yes, which goes as far as the budget"
    )
