"""What is to be written about the notes of an index, and what is there already.

Touches: index (reads).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from notehop.config.settings import EnrichSettings
from notehop.indexing.enrich import extract
from notehop.indexing.enrich.prompts import (
    VERSION,
    Passage,
    Request,
    has_own_summary,
    header_requests,
    summary_request,
)
from notehop.indexing.enrich.store import EnrichmentStore, Kind, Text, TextRef
from notehop.indexing.stores.catalog_read import CatalogReads, slices
from notehop.indexing.stores.model import ChunkRow, NoteRow, NoteStatus
from notehop.indexing.tokens import Tokenizer

TRIES = 3
"""Runs in which a text that a model did not write is asked for; then once a day, until the note
changes."""

_DAY = 86_400.0

_SHORT = 200
"""Characters of a note that is its own summary: a model would say it again."""

_NOTES = 200
"""Notes that are looked at at a time."""


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
        """Look at nothing yet.

        :param model: what tells the language model apart; None where there is none.
        :param language: of the index.
        """
        self._store = store
        self._summaries = settings.summaries != "off"
        self._written = settings.summaries == "llm" and model is not None
        self._headers = settings.headers == "llm" and model is not None
        self._model = model or {}
        self._tokenizer = Tokenizer(language)
        payload = [
            self._summaries,
            self._written,
            self._headers,
            self._model,
            VERSION,
            extract.RULES,
        ]
        self._wanted = json.dumps([*payload, language], sort_keys=True)

    def plan(self, catalog: CatalogReads) -> Plan:
        """Find what is missing, and make the extracts that are.

        The store is told what every note needs.
        """
        plan = Plan()
        seen = self._store.checked()
        shapes = self._shapes(catalog)
        due = sorted(path for path, shape in shapes.items() if seen.get(path) != shape)
        since = time.time() - _DAY
        vain = {
            failure.key
            for failure in self._store.failures()
            if failure.tries >= TRIES and failure.last > since
        }
        changed: dict[str, float] = {}
        for part in slices(due, _NOTES):
            rows = catalog.notes_at(part)
            changed |= {path: row.modified for path, row in rows.items()}
            notes = [(rows[path], catalog.chunks_of(path)) for path in part if path in rows]
            self._look(notes, shapes, vain, plan)
        plan.items.sort(
            key=lambda item: (-changed[item.path], item.path, item.request.kind != "summary")
        )
        return plan

    def _shapes(self, catalog: CatalogReads) -> dict[str, str]:
        """Path -> what decides all that is written about a note."""
        ids = catalog.chunk_ids()
        return {
            path: hashlib.sha256(
                json.dumps([self._wanted, path, stamp.content_hash, ids.get(path, ())]).encode()
            ).hexdigest()[:32]
            for path, stamp in catalog.stamps().items()
            if stamp.status is NoteStatus.INDEXED
        }

    def _look(
        self,
        notes: Sequence[tuple[NoteRow, Sequence[ChunkRow]]],
        shapes: Mapping[str, str],
        vain: Collection[str],
        plan: Plan,
    ) -> None:
        uses: dict[str, list[TextRef]] = {}
        items: dict[str, list[Item]] = {}
        extracts: dict[str, tuple[NoteRow, Sequence[ChunkRow]]] = {}
        for note, every in notes:
            chunks = [chunk for chunk in every if chunk.kind == "text"]
            items[note.path] = list(self._requests(note, chunks))
            needed: list[tuple[str, Kind]] = [
                (item.key, item.request.kind) for item in items[note.path]
            ]
            if self._summaries and not has_own_summary(note.front_matter):
                key = self._extract_key(note, chunks)
                extracts[key] = note, chunks
                needed.append((key, "extract"))
            uses[note.path] = [
                TextRef(note.path, key, kind, note.content_hash) for key, kind in needed
            ]
        self._store.set_requirements(uses)
        there = self._store.texts(use.key for needed in uses.values() for use in needed)
        missing = [key for key in extracts if key not in there]
        self._store.put(self._extracted(key, *extracts[key]) for key in missing)
        plan.extracts += len(missing)
        done: dict[str, str] = {}
        requested: set[str] = {item.key for item in plan.items}
        for path, wanted in items.items():
            lacking = [item for item in wanted if item.key not in there]
            if not lacking:
                done[path] = shapes[path]
            left = [item for item in lacking if item.key not in vain]
            # What two notes would have said alike is asked once.
            plan.items += [item for item in left if item.key not in requested]
            requested.update(item.key for item in left)
        self._store.mark_checked(done)

    def _requests(self, note: NoteRow, chunks: Sequence[ChunkRow]) -> Iterator[Item]:
        passages = [Passage(chunk.heading_path, chunk.text) for chunk in chunks]
        requests: list[Request] = []
        long = sum(len(passage.text.strip()) for passage in passages) > _SHORT
        if self._written and long and not has_own_summary(note.front_matter):
            requests.append(summary_request(note.title, passages))
        if self._headers:
            requests += header_requests(note.title, passages)
        for request in requests:
            yield Item(note.path, note.content_hash, request.key(self._model), request)

    def _extract_key(self, note: NoteRow, chunks: Sequence[ChunkRow]) -> str:
        payload = [extract.RULES, self._tokenizer.fingerprint, note.title, [c.text for c in chunks]]
        return hashlib.sha256(json.dumps(payload).encode()).hexdigest()[:32]

    def _extracted(self, key: str, note: NoteRow, chunks: Sequence[ChunkRow]) -> Text:
        payload = extract.extract(note.title, [chunk.text for chunk in chunks], self._tokenizer)
        return Text(key, "extract", payload, extract.RULES)
