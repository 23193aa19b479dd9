"""The mark of a run that has begun what it must finish, and the sweep of what a crash left behind.

Touches: index.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from notehop.indexing import faults
from notehop.indexing.stores.catalog import Catalog, fold_withdrawn
from notehop.indexing.stores.layout import IndexLayout, unwritable
from notehop.indexing.stores.vectors import Vectors

_WITHDRAWN = "a note was withdrawn: its words have to leave every file"


class Sweep:
    """Knows whether the vector store may hold other vectors than the catalog refers to, or be torn.

    The mark is a file: set before the store is opened, taken away when it is closed again, unless a
    write to it was begun and not finished. Found at the start of a run, it means that a run before
    was cut off. With a text in it, it means too that derived files hold words that they must not.
    """

    def __init__(self, mark: Path) -> None:
        self._mark = mark
        self._begun = False
        self._half = False
        self._owed = _says_something(mark)

    @property
    def due(self) -> bool:
        """Whether a run was cut off while it had the store open."""
        return self._mark.exists()

    @property
    def withdrawn(self) -> bool:
        """Whether the derived files have to be written anew, without what must not be in them."""
        return self._owed

    def begin(self) -> None:
        """Set the mark; the store is opened next.

        :raises IndexUnwritable: if it cannot be set.
        """
        self._set(None)

    def withdraw(self) -> None:
        """Say, before it is committed, that a note is withdrawn; until it is :meth:`forgotten`.

        :raises IndexUnwritable: if it cannot be said.
        """
        self._owed = True
        self._set(_WITHDRAWN)

    def forgotten(self) -> None:
        """Take in that the derived files were written anew, if they had to be."""
        self._owed = False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write in the block; when it fails, the mark will stay."""
        self._half = True
        yield
        self._half = False

    def distrust(self) -> None:
        """Let the mark stay: the store was found broken."""
        self._half = True

    def end(self) -> None:
        """Take the mark away, if what was begun was finished; the store is closed.

        :raises IndexUnwritable: if it cannot be taken away.
        """
        if not self._begun or self._half or self._owed:
            return
        try:
            self._mark.unlink(missing_ok=True)
        except OSError as exc:
            raise unwritable(self._mark.parent, exc) from exc
        self._begun = False
        faults.point("sweep-mark-cleared")

    def _set(self, text: str | None) -> None:
        self._begun = True
        try:
            if text is None:
                self._mark.touch()
            else:
                self._mark.write_text(text, encoding="utf-8")
        except OSError as exc:
            raise unwritable(self._mark.parent, exc) from exc
        faults.point("sweep-mark-set")

    def run(self, catalog: Catalog, vectors: Vectors) -> None:
        """Delete vectors without a chunk or sentence."""
        known = {key.id for key in catalog.chunk_keys()}
        vectors.delete("chunks", sorted(vectors.ids("chunks") - known))
        vectors.delete("links", sorted(vectors.ids("links").difference(catalog.sentence_ids())))


def fold_journal(layout: IndexLayout, catalog: Catalog, *, withdrawn: bool) -> None:
    """Empty the catalog's journal after a note was withdrawn (:func:`fold_withdrawn`).

    :raises IndexUnwritable: if the disk refuses.
    """
    mark = layout.journal_mark
    try:
        if withdrawn:
            mark.touch()
        fold_withdrawn(catalog, mark)
    except OSError as exc:
        raise unwritable(layout.root, exc) from exc


def _says_something(mark: Path) -> bool:
    try:
        return mark.stat().st_size > 0
    except OSError:
        return False
