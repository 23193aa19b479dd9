"""What is to be written about the notes of an index, what that will cost, and whether the owner of the
notes agrees."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from notehop.indexing.tokens import RULES, Tokenizer

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


@dataclass(frozen=True, slots=True)
class Planner:
    """Looks at those notes of an index that are not known to have all they should.

    ``model`` is what tells the language model apart, None where there is none; ``language`` that of
    the index.
    """

    store: EnrichmentStore
    settings: EnrichSettings
    model: Mapping[str, Any] | None
    language: str

    def plan(self, catalog: CatalogSnapshot) -> tuple[list[Item], int]:
        """Find what is missing and worth asking for, and make the extracts that are missing.

        The store is told what every note needs.

        :returns: what a model is to write, notes changed last first; how many extracts were made.
        """
        seen = self.store.checked()
        # What decides all that is written about a note: its passages follow from its content.
        asked = [self.settings.summaries, self.settings.headers, self.model]
        wanted = _hash([*asked, VERSION, extract.RULES, self.language, catalog.stamp])
        shapes = {
            path: f"{wanted} {stamp.content_hash}"
            for path, stamp in catalog.stamps().items()
            if stamp.status is NoteStatus.INDEXED
        }
        due = sorted(path for path, shape in shapes.items() if seen.get(path) != shape)
        since = time.time() - _DAY
        failures = self.store.failures()
        vain = {one.key for one in failures if one.tries >= TRIES and one.last > since}
        # What two notes would have said alike is asked once.
        items: dict[str, Item] = {}
        changed: dict[str, float] = {}
        extracts = 0
        for part in slices(due, _NOTES):
            rows = catalog.notes_at(part)
            changed |= {path: row.modified for path, row in rows.items()}
            lacking, made = self._look(catalog, rows.values())
            extracts += made
            for item in lacking:
                if item.key not in vain:
                    items.setdefault(item.key, item)
            done = rows.keys() - {item.path for item in lacking}
            self.store.mark_checked({path: shapes[path] for path in done})
        ordered = sorted(
            items.values(),
            key=lambda item: (-changed[item.path], item.path, item.request.kind != "summary"),
        )
        return ordered, extracts

    def _look(self, catalog: CatalogSnapshot, notes: Collection[NoteRow]) -> tuple[list[Item], int]:
        """What notes lack of a model, and how many extracts they lacked, which are made."""
        tokenizer = Tokenizer(self.language)
        items: list[Item] = []
        extracts: dict[str, tuple[str, list[str]]] = {}
        needed: dict[str, dict[str, Kind]] = {}
        for note in notes:
            chunks = [one for one in catalog.chunks_of(note.path) if one.kind == "text"]
            texts = [chunk.text for chunk in chunks]
            summed = self.settings.summaries != "off" and own_summary(note.front_matter) is None
            passages = [Passage(chunk.heading_path, chunk.text) for chunk in chunks]
            asked = list(self._requests(note, passages, summed=summed))
            items += asked
            needed[note.path] = {item.key: item.request.kind for item in asked}
            if summed:
                words = f"tokens {RULES}, {self.language}"
                key = _hash([extract.RULES, words, note.title, texts])
                extracts[key] = note.title, texts
                needed[note.path][key] = "extract"
        self.store.set_requirements(needed, {note.path: note.content_hash for note in notes})
        there = self.store.texts(key for keys in needed.values() for key in keys)
        made = [
            Text(key, "extract", extract.extract(title, texts, tokenizer), extract.RULES)
            for key, (title, texts) in extracts.items()
            if key not in there
        ]
        self.store.put(made)
        return [item for item in items if item.key not in there], len(made)

    def _requests(
        self, note: NoteRow, passages: Sequence[Passage], *, summed: bool
    ) -> Iterator[Item]:
        """All that a model is to write about a note.

        :param summed: whether a summary of it is wanted.
        """
        if self.model is None:
            return
        requests: list[Request] = []
        long = sum(len(passage.text.strip()) for passage in passages) > _SHORT
        if summed and long and self.settings.summaries == "llm":
            requests.append(summary_request(note.title, passages))
        if self.settings.headers == "llm":
            requests += header_requests(note.title, passages)
        for request in requests:
            yield Item(note.path, note.content_hash, request.key(self.model), request)


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

    @property
    def covered(self) -> bool:
        """Whether the budget of a run covers all of it."""
        return self.within >= self.calls

    def lines(self) -> list[str]:
        kinds = (("summary", self.summaries), ("header", self.headers))
        what = [numbered(count, kind) for kind, count in kinds if count]
        found = [
            f"To be written: {' and '.join(what)}, by {self.model}.",
            f"The text of the notes goes to {self.host}.",
            f"That takes {counted(self.calls, 'request')}: up to {self.tokens_in:,} tokens sent, "
            f"about {self.tokens_out:,} received.",
        ]
        if not self.covered:
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
    if cost.covered:
        return None
    return (
        f"{counted(cost.calls, 'request')} are more than the budget of a run covers, and "
        "nobody is here to agree; run: notehop index --yes, which goes as far as the budget"
    )
