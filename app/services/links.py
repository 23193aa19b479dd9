"""Lists the links of a vault, or of a note, as its files are now: no index is needed, and no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

from notehop.app.services.notes.find_note import find_note
from notehop.app.services.open_vault import Place
from notehop.indexing.changes import compare, scan
from notehop.indexing.graph.files import VaultFiles, is_pdf
from notehop.indexing.graph.resolve import Outline, ResolvedLink, outline_of_note, resolve_link
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import read_note
from notehop.indexing.vault.walk import FileEntry


class Survey:
    """A vault read whole: what an index of it would know of its links and names.

    :ivar files: every file that a link can lead to, with those that are kept out.
    :ivar notes: those that the index would hold, by path, without their texts.
    :ivar others: the files that are no notes and are not kept out.
    :ivar failed: (path, reason), like ``passed_over``.
    """

    def __init__(self, place: Place) -> None:
        """:raises VaultError: if the vault cannot be listed."""
        self.place = place
        self._outlines: dict[str, Outline] = {}
        self.failed: list[tuple[str, str]] = []
        walk = scan(place.vault, place.settings.vault)
        changes = compare(walk, {}, {}, place.settings.vault.max_note_bytes)
        self._read_notes = {file.path: note for file in changes.read if (note := self._read(file))}
        self.notes = {path: one for path, one in self._read_notes.items() if one.excluded is None}
        self.others = [path for path, excluded in changes.attach.items() if not excluded]
        self.passed_over = walk.problems
        self.failed.sort()
        self._all = {file.path: file for file in walk.files}
        out = {file.path for file, _ in changes.skip} | self._read_notes.keys() - self.notes.keys()
        out |= {path for path, excluded in changes.attach.items() if excluded}
        self.files = VaultFiles(self._all, out, {p: one.aliases for p, one in self.notes.items()})

    @cached_property
    def links(self) -> list[ResolvedLink]:
        """The links of all notes, by note and text order."""
        return [link for path in self.notes for link in self.links_of(path)]

    def links_of(self, path: str) -> list[ResolvedLink]:
        """The links of a note, also of one that the index would leave out."""
        note = self._read_notes.get(path) or self._read(self._all[path])
        links = () if note is None else note.links
        return [resolve_link(self.files, path, link, self.outline) for link in links]

    def outline(self, path: str) -> Outline | None:
        """The headings and blocks of a note; None where it was not read."""
        return self._outlines.get(path)

    def _read(self, file: FileEntry) -> Note | None:
        """A note without its text; None if it cannot be read."""
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
) -> tuple[Sequence[ResolvedLink], Sequence[ResolvedLink], Sequence[tuple[str, str]]]:
    """Return every link of the vault's indexed notes, or of one note, with what it leads to, by note and
    text order; those of other notes that lead to the one; and (path, reason) of what could not be read.

    :param note: path or name of a note, as :func:`find_note` takes it; it is listed even if the index
        leaves it out.
    :raises VaultError: if the vault cannot be listed.
    :raises UsageError: if ``note`` is none, or several.
    """
    found = Survey(place)
    if note is None:
        return found.links, (), (*found.passed_over, *found.failed)
    path = find_note(found.files, place.vault, note)
    leading = [one for one in found.links if one.resolution.path == path and one.source != path]
    return found.links_of(path), leading, [one for one in found.failed if one[0] == path]
