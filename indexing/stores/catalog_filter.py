"""Which notes a filter takes: the labels of the catalog, asked of one generation.

Touches: index (reads).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from sqlalchemy import func, select

from notehop.indexing.graph.files import NOTE_SUFFIX, fold
from notehop.indexing.stores.catalog_fetch import IN_LIST, CatalogRows, Fetched, Query, slices
from notehop.indexing.stores.labels import DATE, property_key
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.stores.schema import CHUNKS, LABELS, NOTES
from notehop.indexing.vault.exclusion import glob_pattern

_PAGE = 1_000
"""Dates read at first, where the newest notes are wanted."""

_FEW = 5_000
"""Notes whose dates are read by name; of more, the newest of all notes soon hold enough."""

Paths = frozenset[str]

Key = TypeVar("Key")
Kept = TypeVar("Kept")


class LabelReads(CatalogRows):
    """What the catalog tells of labels (:mod:`notehop.indexing.stores.labels`)."""

    def labelled(self, name: str, value: str) -> list[str]:
        """The notes that carry a label, in no meaningful order."""
        return self._labelled(
            select(LABELS.c.path).where(LABELS.c.name == name, LABELS.c.value == value)
        )

    def dated(self, first: str | None, end: str | None) -> list[str]:
        """The notes whose date is ``first`` or later and before ``end``, in no meaningful order."""
        query = select(LABELS.c.path).where(LABELS.c.name == DATE)
        if first is not None:
            query = query.where(LABELS.c.value >= first)
        if end is not None:
            query = query.where(LABELS.c.value < end)
        return self._labelled(query)

    def has_label(self, name: str) -> bool:
        """Whether any note has a label of this name."""
        return bool(self._rows(select(LABELS.c.name).where(LABELS.c.name == name).limit(1)))

    def label_names(self) -> list[str]:
        """The names of all labels, sorted; each found by its own look-up, for there are few."""
        found: list[str] = []
        query = select(func.min(LABELS.c.name))
        with self._reading() as connection:
            name = self._fetch(connection, query)[0][0]
            while name is not None:
                found.append(name)
                name = self._fetch(connection, query.where(LABELS.c.name > name))[0][0]
        return sorted(found)

    def label_values(self, name: str) -> dict[str, int]:
        """The values of a label -> how many notes have each, by value."""
        query = select(LABELS.c.value, func.count()).where(LABELS.c.name == name)
        return {row[0]: row[1] for row in sorted(self._rows(query.group_by(LABELS.c.value)))}

    def dates(self, paths: Iterable[str]) -> dict[str, str]:
        """Path -> date of the note, as it sorts."""
        query = select(LABELS.c.path, LABELS.c.value).where(LABELS.c.name == DATE)
        return {row[0]: row[1] for row in self._rows(query, LABELS.c.path, paths)}

    def newest(self, count: int) -> list[tuple[str, str]]:
        """The (date, path) of the newest notes, newest first, ties by path."""
        date, path = LABELS.c.value, LABELS.c.path
        query = select(date, path).where(LABELS.c.name == DATE).order_by(date.desc(), path)
        return [(row[0], row[1]) for row in self._rows(query.limit(count))]

    def said_in(self, ids: Iterable[ChunkId]) -> dict[ChunkId, tuple[str, ...]]:
        """Id -> what a chunk says: names of its note, headings, text; for those that are there."""
        query = select(
            CHUNKS.c.id,
            NOTES.c.title,
            NOTES.c.path,
            NOTES.c.aliases,
            CHUNKS.c.heading_path,
            CHUNKS.c.text,
        ).join(NOTES, NOTES.c.path == CHUNKS.c.path)
        found: dict[ChunkId, tuple[str, ...]] = {}
        for part in slices(list(ids), IN_LIST):
            with self._reading() as connection:
                rows = self._fetch(connection, query.where(CHUNKS.c.id.in_(part)))
            found.update(self._made(_said, rows))
        return found

    def _labelled(self, query: Query) -> list[str]:
        with self._reading() as connection:
            return [row[0] for row in self._fetch_many(connection, query)]


def _said(row: Fetched) -> tuple[ChunkId, tuple[str, ...]]:
    chunk_id, title, path, aliases, headings, text = row
    name = path.rpartition("/")[2].removesuffix(NOTE_SUFFIX)
    return chunk_id, (title, name, *json.loads(aliases), *json.loads(headings), text)


class Bounded(Generic[Key, Kept]):
    """Values by key, at most so many: the older half goes when there are more. Threads share it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Key, Kept] = {}
        self._turn = threading.Lock()

    def get(
        self, keys: Iterable[Key], read: Callable[[list[Key]], Mapping[Key, Kept]]
    ) -> dict[Key, Kept]:
        """The values of all keys, in their order, each once; ``read`` gives those not yet kept.

        :param read: called at most once; a key it leaves out is not kept and not returned.
        """
        wanted = dict.fromkeys(keys)
        with self._turn:
            found = {key: self._values[key] for key in wanted if key in self._values}
        missing = [key for key in wanted if key not in found]
        if missing:
            new = read(missing)
            found.update(new)
            with self._turn:
                self._values.update(new)
                if len(self._values) > self._most:
                    half = list(self._values)[: len(self._values) - self._most // 2]
                    for key in half:
                        del self._values[key]
        return {key: found[key] for key in wanted if key in found}


class NoteLabels:
    """The notes of one generation by label. Threads may share it; what it found is kept."""

    def __init__(
        self,
        view: LabelReads,
        ids_by_path: Mapping[str, Collection[ChunkId]],
        kept: Bounded[tuple[Any, ...], Paths],
    ) -> None:
        """Ask a generation.

        :param ids_by_path: its notes that have chunks, and those.
        :param kept: what was found in this generation before.
        """
        self._view = view
        self._ids_by_path = ids_by_path
        self._kept = kept

    def having(self, name: str, value: str) -> Paths:
        """The notes with a label."""
        return self._once(("label", name, value), lambda: self._view.labelled(name, value))

    def dated(self, first: str | None, end: str | None) -> Paths:
        """The notes whose date is ``first`` or later and before ``end``."""
        return self._once(("date", first, end), lambda: self._view.dated(first, end))

    def under(self, place: str) -> Paths:
        """The notes in a folder or at a path (the suffix may be left out), or that a glob takes.

        A glob has ``*`` or ``?`` in it and reads as the setting ``vault.exclude`` does. Without
        case.
        """
        return self._once(("path", place), lambda: self._under(place))

    def paths(self) -> Collection[str]:
        """The notes that have chunks."""
        return self._ids_by_path.keys()

    def chunk_ids(self, path: str) -> Collection[ChunkId]:
        """The chunks of a note."""
        return self._ids_by_path.get(path, ())

    def has(self, name: str) -> bool:
        """Whether any note has a label of this name."""
        return self._view.has_label(name)

    def values(self, name: str) -> Mapping[str, int]:
        """The values of a label -> how many notes have each, by value."""
        return self._view.label_values(name)

    def keys(self) -> list[str]:
        """The keys of front matter that any note has, sorted."""
        found = (property_key(name) for name in self._view.label_names())
        return [key for key in found if key is not None]

    def said_in(self, ids: Iterable[ChunkId]) -> Mapping[ChunkId, tuple[str, ...]]:
        """Id -> what a chunk says: names of its note, headings, text; for those that are there."""
        return self._view.said_in(ids)

    def newest_first(self, taken: Callable[[str], bool], few: Paths | None) -> Iterator[str]:
        """The notes that are taken, newest first, ties by path.

        :param few: holds all that are taken, where those are few; None looks at all notes.
        """
        if few is not None and len(few) <= _FEW:
            dates = self._view.dates(few)
            found = sorted(filter(taken, dates))
            yield from sorted(found, key=lambda path: dates[path], reverse=True)
            return
        seen, count = 0, _PAGE
        while True:
            dated = self._view.newest(count)
            yield from (path for _, path in dated[seen:] if taken(path))
            if len(dated) < count:
                return
            seen, count = len(dated), 10 * count

    def _under(self, place: str) -> list[str]:
        asked = fold(place)
        if "*" in asked or "?" in asked:
            takes = glob_pattern(asked).search
            return [path for path in self._ids_by_path if takes(fold(path))]
        asked = asked.removeprefix("./").strip("/")
        folder = f"{asked}/" if asked else ""
        notes = (asked, f"{asked}{NOTE_SUFFIX}")
        return [
            path
            for path in self._ids_by_path
            for folded in (fold(path),)
            if folded.startswith(folder) or folded in notes
        ]

    def _once(self, key: tuple[Any, ...], find: Callable[[], Iterable[str]]) -> Paths:
        return self._kept.get([key], lambda _: {key: frozenset(find())})[key]
