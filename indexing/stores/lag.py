"""By what the vector store lags behind: vectors that small changes wrote to the catalog alone.

To write the store, its graph has to be loaded: a second at 100,000 notes, whatever is written, and
no search reads it. So a small change leaves the store alone, and says here, before it writes
anything else, which vectors the store will lack and which it will hold for nothing. Bringing the
store up to that later is right whatever became of the change, and however often it is begun: what
each id needs is read from the catalog then.

The file lies in the store's own folder, so that it is moved, removed and sealed with it.

Touches: index (``chroma/lag``, and the store in :func:`catch_up`; under the writer lock).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from notehop.indexing import faults
from notehop.indexing.stores.catalog import CatalogSnapshot
from notehop.indexing.stores.catalog_fetch import slices
from notehop.indexing.stores.layout import IndexLayout, unwritable
from notehop.indexing.stores.vectors import Collection as Name
from notehop.indexing.stores.vectors import Vectors

_NAMES: tuple[Name, ...] = ("chunks", "links")

_BATCH = 4_096
"""Vectors written at a time: 6 MB at 384 dimensions."""

Ids = Mapping[Name, Collection[str]]
"""Ids of vectors by collection."""


@dataclass(frozen=True, slots=True)
class Lag:
    """Ids by collection of which the store may know other than the catalog.

    ``added``: their vectors are in the catalog, and the store may lack them. ``left``: they may be
    in the store though nothing refers to them. Of all others the store is right.
    """

    added: Mapping[Name, frozenset[str]] = field(default_factory=dict)
    left: Mapping[Name, frozenset[str]] = field(default_factory=dict)

    def of(self, name: Name) -> frozenset[str]:
        """All of a collection."""
        return self.added.get(name, frozenset()) | self.left.get(name, frozenset())

    def __len__(self) -> int:
        return sum(len(self.of(name)) for name in _NAMES)


def read_lag(layout: IndexLayout) -> Lag:
    """By what the store lags behind; nothing where there is no such file."""
    try:
        data = layout.lag.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Lag()
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    found: dict[str, set[str]] = {}
    # A last line that does not end was cut off, and nothing was written after it.
    for line in data.decode("utf-8", "replace").split("\n")[:-1]:
        kind, _, one = line.partition(" ")
        found.setdefault(kind, set()).add(one)
    return Lag(
        {name: frozenset(found.get(f"+{name}", ())) for name in _NAMES},
        {name: frozenset(found.get(f"-{name}", ())) for name in _NAMES},
    )


def note_lag(layout: IndexLayout, added: Ids, left: Ids) -> None:
    """Say that the store will lag behind by these too, before anything of them is written.

    :raises IndexUnwritable: if the disk refuses.
    """
    lines = "".join((*_lines("+", added), *_lines("-", left)))
    if not lines:
        return
    try:
        new = not layout.lag.exists()
        with layout.lag.open("ab") as file:
            # The end of a line that was cut off must not become part of this one.
            file.write(f"{'' if file.tell() == 0 else chr(10)}{lines}".encode())
            file.flush()
            os.fsync(file.fileno())
        if new:
            _settle_folder(layout)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    faults.point("lag-noted")


def clear_lag(layout: IndexLayout) -> None:
    """Say that the store has caught up.

    :raises IndexUnwritable: if the disk refuses.
    """
    try:
        layout.lag.unlink(missing_ok=True)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc
    faults.point("lag-cleared")


def catch_up(layout: IndexLayout, view: CatalogSnapshot, store: Vectors) -> None:
    """Bring the store up to what it lags behind by, from the catalog; :func:`clear_lag` comes next.

    :raises IndexUnwritable: if the disk refuses.
    """
    lag = read_lag(layout)
    for name in _NAMES:
        ids = lag.of(name)
        known = view.known_chunks(ids) if name == "chunks" else view.known_sentences(ids)
        for wanted in slices(sorted(known & lag.added.get(name, frozenset())), _BATCH):
            store.upsert(name, *view.vectors(name, wanted))
        store.delete(name, sorted(ids - known))


def _lines(sign: str, ids: Ids) -> Iterator[str]:
    return (f"{sign}{name} {one}\n" for name in _NAMES for one in sorted(ids.get(name, ())))


def _settle_folder(layout: IndexLayout) -> None:
    """So that the new file outlasts a power cut."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(layout.lag.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
