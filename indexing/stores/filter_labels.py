"""What notes can be found by, names, tags, page type, date, properties, and which notes have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, func, or_, select

from notehop.indexing.graph.files import NOTE_SUFFIX, fold
from notehop.indexing.stores.database import storable
from notehop.indexing.stores.rows import ChunkId, NoteRow, NoteStatus
from notehop.indexing.stores.schema import LABELS
from notehop.indexing.vault.dates import day_in_name
from notehop.indexing.vault.walk import glob_pattern

if TYPE_CHECKING:
    from notehop.indexing.stores.caches import BoundedCache
    from notehop.indexing.stores.catalog_read import CatalogReads

TAG, TYPE, DATE, NAME = "tag", "type", "date", "name"
"""Names of labels; those of properties are made by :func:`property_label`."""

_PROPERTY = "property:"

LENGTH = 200
"""Characters of a label that count: a longer one is no name, and a database's index has limits."""

MOST = 1_000  # labels of one note: properties are written by hand; more is something else

Paths = frozenset[str]

_ROW = LABELS.c

_LINK = re.compile(r"\[\[([^\[\]|]+)(?:\|([^\[\]]*))?\]\]")
_NUMBER = re.compile(r"[-+]?\d{1,12}(?:\.\d{1,12})?")
_BLANKS = re.compile(r"[-_\s]+")


def label_rows(note: NoteRow) -> list[tuple[str, str]]:
    """The (name, value) pairs of a note, each once, sorted; none unless it is indexed.

    Names are title and aliases. A tag stands there with all it is nested in: ``fish/eel`` is a
    ``fish`` too. The date is that of :func:`date_label`. A property has a row for each value, nested
    ones by ``outer.inner``; one without value has the row ``""``, so that its key is known.
    """
    if note.status is not NoteStatus.INDEXED:
        return []
    named = ((NAME, value_label(one)) for one in (note.title, *note.aliases))
    found = {(DATE, date_label(note)), *(pair for pair in named if pair[1])}
    for tag in note.tags:
        parts = tag_label(tag).split("/")
        found.update((TAG, "/".join(parts[:end])[:LENGTH]) for end in range(1, len(parts) + 1))
    if note.page_type:
        found.add((TYPE, value_label(note.page_type)))
    for name, value in _properties("", note.front_matter):
        if len(found) >= MOST:
            break
        found.add((name, value))
    return sorted(found)


def tag_label(tag: str) -> str:
    """A tag as it is compared: without case, ``#`` and a slash at its end."""
    return fold(storable(tag).strip().removeprefix("#").strip("/"))


def value_label(value: str) -> str:
    """A value as it is compared: without case, Unicode form and the width of white space."""
    return " ".join(fold(storable(value)).split())[:LENGTH]


def key_label(key: str) -> str:
    """A front-matter key as it is compared: without case; ``-``, ``_`` and blanks are equal."""
    return _BLANKS.sub("-", fold(storable(key)).strip())[:LENGTH]


def property_label(key: str) -> str:
    """The name of the labels that hold the values of a property."""
    return _PROPERTY + key_label(key)


def property_key(name: str) -> str | None:
    """The key of a property's label; None for a label of another kind."""
    return name.removeprefix(_PROPERTY) if name.startswith(_PROPERTY) else None


def date_label(note: NoteRow) -> str:
    """When a note is of, as ``2026-10-07T00:00:00``, which sorts as time does.

    The front matter's date of creation, else a day in the file's name, else the front matter's
    date of change, else the file's time. What people write is taken as written (in UTC, as the
    catalog reads it); a file's time is told by the clock on the wall.
    """
    if note.created is None and (day := day_in_name(note.path)) is not None:
        return f"{day.isoformat()}T00:00:00"
    from_file = note.created is None and note.modified == note.mtime_ns / 1e9
    seconds = note.modified if note.created is None else note.created
    try:
        moment = datetime.fromtimestamp(seconds, None if from_file else UTC)
    except (ValueError, OverflowError, OSError):
        moment = datetime(1970, 1, 1, tzinfo=UTC)
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")


def _properties(outer: str, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        name = f"{outer}{key_label(str(key))}"
        many = isinstance(value, Sequence) and not isinstance(value, str)
        for item in value if many else [value]:
            if isinstance(item, Mapping):
                yield from _properties(f"{name}.", item)
            else:
                yield from ((_PROPERTY + name[:LENGTH], said) for said in _values(item))


def _values(value: Any) -> list[str]:
    """All the ways in which one value may be asked for."""
    if value is None:
        return [""]
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, float) and value.is_integer():
        # YAML has read 3.0 as a number: it may have been meant as one, or as a version.
        return [str(value), str(int(value))]
    text = str(value)
    said = [value_label(text)]
    if _NUMBER.fullmatch(text):  # 4.50 is 4.5, and 007 is 7
        said += [f"{float(text):.12g}"]
    if link := _LINK.fullmatch(text.strip()):
        target = link[1].partition("#")[0]
        names = (target, target.rpartition("/")[2], link[2] or "")
        said += [value_label(name) for name in names if name.strip()]
    return said


class NoteLabels:
    """The notes of one generation by label. Threads may share it; what it found is kept."""

    def __init__(
        self,
        view: CatalogReads,
        ids_by_path: Mapping[str, Collection[ChunkId]],
        kept: BoundedCache[tuple[Any, ...], Paths],
    ) -> None:
        """:param ids_by_path: the notes of the generation that have chunks, and those."""
        self._view = view
        self._ids_by_path = ids_by_path
        self._kept = kept

    def having(self, name: str, value: str) -> Paths:
        return self._matching(("label", name, value), _ROW.name == name, _ROW.value == value)

    def dated(self, first: str | None, end: str | None) -> Paths:
        """The notes whose date is ``first`` or later and before ``end``."""
        since = [] if first is None else [_ROW.value >= first]
        until = [] if end is None else [_ROW.value < end]
        return self._matching(("date", first, end), _ROW.name == DATE, *since, *until)

    def under(self, place: str) -> Paths:
        """The notes in a folder or at a path (the suffix may be left out), or that a glob takes.

        A glob has ``*`` or ``?`` in it and reads as the setting ``vault.exclude`` does. Without
        case.
        """
        return self._once(("path", place), lambda: self._under(fold(place)))

    def paths(self) -> Collection[str]:
        return self._ids_by_path.keys()

    def chunk_ids(self, path: str) -> Collection[ChunkId]:
        return self._ids_by_path.get(path, ())

    def has(self, name: str) -> bool:
        return bool(self._view.answer(select(_ROW.name).where(_ROW.name == name).limit(1), tuple))

    def values(self, name: str) -> Mapping[str, int]:
        """The values of a label -> how many notes have each, by value."""
        query = select(_ROW.value, func.count()).where(_ROW.name == name).group_by(_ROW.value)
        return dict(sorted(self._view.answer(query, tuple)))

    def property_keys(self) -> list[str]:
        query = select(_ROW.name).distinct().where(_ROW.name.startswith(_PROPERTY))
        return sorted(self._view.answer(query, lambda row: row[0].removeprefix(_PROPERTY)))

    def with_any(self, parts: Collection[str]) -> list[tuple[str, str]]:
        """The (name, value) of tags, types and properties that have any of the parts in their value, or
        are ``true``; sorted."""
        either = [_ROW.value.contains(part, autoescape=True) for part in parts]
        query = select(_ROW.name, _ROW.value).distinct()
        query = query.where(_ROW.name.not_in((DATE, NAME)), or_(_ROW.value == "true", *either))
        return sorted(self._view.answer(query, lambda row: (row[0], row[1])))

    def newest_first(self) -> list[str]:
        """The notes, newest first, ties by path; 10,000 take some 15 ms."""
        newest = select(_ROW.path).where(_ROW.name == DATE).order_by(_ROW.value.desc(), _ROW.path)
        return self._view.answer(newest, itemgetter(0))

    def _under(self, asked: str) -> list[str]:
        folded = {path: fold(path) for path in self._ids_by_path}
        if "*" in asked or "?" in asked:
            takes = glob_pattern(asked).search
            return [path for path, one in folded.items() if takes(one)]
        asked = asked.removeprefix("./").strip("/")
        folder, notes = f"{asked}/" if asked else "", (asked, f"{asked}{NOTE_SUFFIX}")
        return [path for path, one in folded.items() if one.startswith(folder) or one in notes]

    def _matching(self, key: tuple[Any, ...], *where: ColumnElement[bool]) -> Paths:
        query = select(_ROW.path).where(*where)
        return self._once(key, lambda: self._view.answer(query, itemgetter(0)))

    def _once(self, key: tuple[Any, ...], find: Callable[[], Iterable[str]]) -> Paths:
        return self._kept.get([key], lambda _: {key: frozenset(find())})[key]
