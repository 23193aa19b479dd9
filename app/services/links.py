"""Lists the links of a vault, or of a note, as its files are now: no index is needed, and no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from notehop.app.services.notes.find_note import find_note
from notehop.app.services.open_vault import Place
from notehop.config.errors import IndexFailure
from notehop.indexing.changes import compare, scan
from notehop.indexing.graph.files import VaultFiles, is_pdf
from notehop.indexing.graph.resolve import Outline, ResolvedLink, outline_of_note, resolve_link
from notehop.indexing.stores.catalog import Catalog, check_vault
from notehop.indexing.stores.catalog_read import CatalogReads
from notehop.indexing.stores.model import NoteStatus
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import read_note
from notehop.indexing.vault.walk import FileEntry


class Survey:
    """A vault read whole: what an index of it would know of its links and names.

    :ivar files: every file that a link can lead to, with those that are kept out.
    :ivar notes: those that the index would hold, by path, without their texts.
    :ivar others: the files that are no notes and are not kept out.
    :ivar skipped: (path, reason), like ``failed`` and ``passed_over``.
    """

    def __init__(self, place: Place, catalog: CatalogReads | None = None) -> None:
        """:param catalog: of an index of the vault. What did not change since is taken from it; only
            what did is read, and ``notes`` and ``skipped`` hold no more.
        :raises VaultError: if the vault cannot be listed.
        """
        self.place, self._catalog = place, catalog
        self._known: dict[str, Note | None] = {}
        self._outlines: dict[str, Outline | None] = {}
        self.failed: list[tuple[str, str]] = []
        walk = scan(place.vault, place.settings.vault)
        stamps = catalog.stamps() if catalog is not None else {}
        changes = compare(walk, stamps, {}, place.settings.vault.max_note_bytes)
        changed = (*changes.read, *changes.retry)
        read = {file.path: note for file in changed if (note := self._note(file))}
        private = [(path, note.excluded) for path, note in read.items() if note.excluded]
        self.notes = {path: note for path, note in read.items() if note.excluded is None}
        self.others = [path for path, excluded in changes.attach.items() if not excluded]
        self.skipped = sorted([*((file.path, why) for file, why in changes.skip), *private])
        self.passed_over = walk.problems
        self.failed.sort()
        self._all = {file.path: file for file in walk.files}
        asked = {*self._known, *(file.path for file, _ in changes.skip)}
        kept = {path: stamp for path, stamp in stamps.items() if path in self._all.keys() - asked}
        out = {path for path, stamp in kept.items() if stamp.status is NoteStatus.SKIPPED}
        out |= {path for path, _ in self.skipped}
        out |= {path for path, excluded in changes.attach.items() if excluded}
        known = catalog.aliases() if catalog is not None else {}
        aliases = {path: names for path, names in known.items() if path in kept.keys() - out}
        aliases |= {path: note.aliases for path, note in self.notes.items()}
        self.files = VaultFiles(self._all, out, aliases)

    @cached_property
    def links(self) -> list[ResolvedLink]:
        """The links of all notes, by note and text order."""
        return [link for path in self.notes for link in self.links_of(path)]

    def links_of(self, path: str) -> list[ResolvedLink]:
        """The links of a note, also of one that the index would leave out."""
        note = self._note(self._all[path])
        links = () if note is None else note.links
        return [resolve_link(self.files, path, link, self.outline) for link in links]

    def outline(self, path: str) -> Outline | None:
        """The headings and blocks of a note; None where it cannot be read."""
        if path not in self._known and path not in self._outlines and self._catalog is not None:
            row = self._catalog.note(path)
            known = row is not None and row.status is NoteStatus.INDEXED
            self._outlines[path] = (
                Outline(row.outline, row.blocks, row.line_count) if row and known else None
            )
        return self._outlines.get(path)

    def _note(self, file: FileEntry) -> Note | None:
        """A note without its text, read once; None if it cannot be read."""
        if file.path not in self._known:
            self._known[file.path] = self._read(file)
        return self._known[file.path]

    def _read(self, file: FileEntry) -> Note | None:
        if is_pdf(file.path):
            # Nothing links from it, and to look for a page would take a second a file.
            name = file.path.rpartition("/")[2]
            return Note(file.path, name, title=name, text="", body_start=0, content_hash=file.path)
        comments = self.place.settings.vault.comment_links
        read = read_note(self.place.vault, file, "", comment_links=comments)
        if read.note is None:
            self.failed.append((file.path, read.problem or "cannot be read"))
            return None
        self._outlines[file.path] = outline_of_note(read.note)
        return replace(read.note, text="", edits=())


def list_links(
    place: Place, note: str | None = None
) -> tuple[Sequence[ResolvedLink], Sequence[tuple[str, str]]]:
    """Return every link of the vault's indexed notes, or of one note, with what it leads to, by note and
    text order; and (path, reason) of what could not be read.

    For one note, an index says what the files that did not change hold; without one all are read.

    :param note: path or name of a note, as :func:`find_note` takes it; it is listed even if the index
        leaves it out.
    :raises VaultError: if the vault cannot be listed.
    :raises UsageError: if ``note`` is none, or several.
    """
    if note is None:
        found = Survey(place)
        return found.links, (*found.passed_over, *found.failed)
    try:
        with Catalog.of(place.layout) as catalog, catalog.snapshot() as view:
            check_vault(view.meta(), place.vault, place.layout.root)
            return _links_of(Survey(place, view), note)
    except IndexFailure:  # there is none, or none that can be read
        return _links_of(Survey(place), note)


def _links_of(found: Survey, said: str) -> tuple[Sequence[ResolvedLink], Sequence[tuple[str, str]]]:
    path = find_note(found.files, found.place.vault, said)
    return found.links_of(path), [one for one in found.failed if one[0] == path]
