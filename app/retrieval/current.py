"""Whether what the index holds of a note still stands in its file, looked up for one query.

Between the change of a file and its being indexed, no text may be shown that is no longer there.

Touches: vault-read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from notehop.indexing.stores.model import ChunkRow, LinkRow, NoteRow
from notehop.indexing.vault.opening import open_below

if TYPE_CHECKING:
    from notehop.indexing.vault.model import CommentLinks, Note

MOST_READ = 24
"""Changed notes that one query parses: three times the places of a context."""

MOST_BYTES = 2_000_000
"""Bytes of changed notes that one query parses, which takes a second."""


class ChangedNote:
    """A note whose file is not the one that was indexed, as the file is now."""

    def __init__(self, note: Note) -> None:
        from notehop.indexing.nodes.headings import Headings
        from notehop.indexing.vault.model import Lines
        from notehop.indexing.vault.plain import plain_map

        self._note = note
        self._plain = plain_map(note, note.body_start, len(note.text))
        self._headings = Headings(note)
        self._lines = Lines(note.text)

    def chunk(self, row: ChunkRow) -> ChunkRow | None:
        """The chunk with the lines and headings it has now; None if its text is not there.

        Where the text stands more than once, it is the place under the same headings, then the
        nearest one. A chunk without text, of a note that had none, shows nothing and is kept.
        Properties are there as long as they say the same.
        """
        if not row.text:
            return replace(row, heading_path=(), first_line=1, last_line=self._last_line())
        if row.kind == "properties":
            return self._properties(row)
        found = [self._placed(row, start, end) for start, end in self._spans(row.text)]
        return min(
            found,
            key=lambda one: (
                one.heading_path != row.heading_path,
                abs(one.first_line - row.first_line),
            ),
            default=None,
        )

    def link(self, row: LinkRow) -> LinkRow | None:
        """The link with the line it stands on now; None if it, or its sentence, is not there."""
        lines = [
            link.line
            for link in self._note.links
            if (link.kind, link.raw, link.property, link.sentence)
            == (row.kind, row.raw, row.property, row.sentence)
        ]
        if not lines:
            return None
        return replace(row, line=min(lines, key=lambda line: abs(line - row.line)))

    def named(self, row: NoteRow) -> NoteRow:
        """The note with the title and the aliases it has now."""
        return replace(row, title=self._note.title, aliases=self._note.aliases)

    def says(self, text: str) -> bool:
        """Whether a text stands in it, line breaks and blanks aside; one without words does."""
        from notehop.indexing.nodes.properties import property_texts

        words = " ".join(text.split())
        said = (one.text for one in property_texts(self._note, False, len(self._note.text)))
        texts = (self._note.text, self._plain.text, *said)
        return any(words in " ".join(one.split()) for one in texts)

    def _properties(self, row: ChunkRow) -> ChunkRow | None:
        """As a part of what all properties say: how they are divided depends on the model."""
        from notehop.indexing.nodes.properties import BETWEEN, property_texts

        for whole in property_texts(self._note, False, len(self._note.text)):
            lines, said = whole.text.split("\n"), row.text.split("\n")
            for at in range(len(lines) - len(said) + 1):
                same = lines[at : at + len(said)]
                same[-1] = same[-1].removesuffix(BETWEEN)
                if same == said:
                    first = whole.first_line + at
                    return replace(row, first_line=first, last_line=first + len(said) - 1)
        return None

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where in the note a plain text stands, not as a part of longer words."""
        whole = self._plain.text
        at = whole.find(text)
        while at >= 0:
            until = at + len(text)
            if not _cuts_a_word(whole, at) and not _cuts_a_word(whole, until):
                start, end = self._plain.to_raw(at), self._plain.to_raw(until)
                if start is not None and end is not None:
                    yield start, end
            at = whole.find(text, at + 1)

    def _placed(self, row: ChunkRow, start: int, end: int) -> ChunkRow:
        from notehop.indexing.nodes.headings import stripped_span

        first, last = stripped_span(self._note.text, start, end)
        return replace(
            row,
            heading_path=self._headings.path(start, end),
            first_line=self._lines.at(first),
            last_line=self._lines.at(last),
        )

    def _last_line(self) -> int:
        return self._note.text.rstrip().count("\n") + 1


@dataclass(frozen=True, slots=True)
class Look:
    """What a look at a note's file gave.

    ``there`` is False when nothing of it may be shown; ``nameable`` is False when not even its name
    may. ``changed`` is None while the file is the one that was indexed.
    """

    there: bool = True
    changed: ChangedNote | None = None
    nameable: bool = True


_SAME = Look()
_UNREAD = Look(there=False)
_GONE = Look(there=False)
_KEPT_OUT = Look(there=False, nameable=False)


class CurrentFiles:
    """The files of a vault, each looked at once. Make one for each query.

    ``missing`` tells that the vault itself is not there; what the index holds is then all there is.
    ``unseen`` counts notes that could not be looked at for another reason; they are taken as they
    were indexed.
    """

    def __init__(
        self, vault: Path, *, max_note_bytes: int, comment_links: CommentLinks = "inline"
    ) -> None:
        self.missing = False
        self.unseen = 0
        self._vault = vault
        self._root = os.fspath(vault)
        self._limit = max_note_bytes
        self._comment_links = comment_links
        self._looks: dict[str, Look] = {}
        self._there = False
        self._linked: dict[str, bool] = {"": False}
        self._read = 0
        self._bytes = 0

    def look(self, row: NoteRow, *, read: bool = True) -> Look:
        """Compare a note's file with its row: by size and time, else by what it holds.

        :param read: whether it is worth reading; a file that would have to be, and is not, counts
            as if nothing of it were there.
        """
        if self.missing:
            return _SAME
        known = self._looks.get(row.path)
        if known is None:
            known = self._looked(row)
            if known is _UNREAD and read:
                known = self._changed(row)
            if known is not _UNREAD:
                self._looks[row.path] = known
        return known

    def _looked(self, row: NoteRow) -> Look:
        file = f"{self._root}/{row.path}"
        try:
            found = os.lstat(file)
            if stat.S_ISLNK(found.st_mode):
                if not self._leads_inside(file):
                    return _KEPT_OUT
                found = os.stat(file)  # noqa: PTH116 (once a hit: this is hot)
        except (FileNotFoundError, NotADirectoryError):
            self._there = self._there or self._vault_is_there()
            self.missing = not self._there
            return _SAME if self.missing else _GONE
        except OSError:
            self.unseen += 1
            return _SAME
        if not stat.S_ISREG(found.st_mode) or self._is_linked(row.path.rpartition("/")[0]):
            return _KEPT_OUT
        if (found.st_size, found.st_mtime_ns) == (row.size, row.mtime_ns):
            return _SAME
        return _GONE if found.st_size > self._limit else _UNREAD

    def _leads_inside(self, link: str) -> bool:
        """Whether a link leads to a file of the vault: the index follows no other."""
        return os.path.realpath(link).startswith(os.path.realpath(self._root) + os.sep)

    def _is_linked(self, folder: str) -> bool:
        """Whether a folder of the vault is, or lies in, a link by now: the index follows none."""
        known = self._linked.get(folder)
        if known is None:
            known = self._is_linked(folder.rpartition("/")[0])
            known = known or os.path.islink(f"{self._root}/{folder}")  # noqa: PTH114 (as above)
            self._linked[folder] = known
        return known

    def _changed(self, row: NoteRow) -> Look:
        from hashlib import sha256

        data = self._data(row.path)
        if data is None:
            return _GONE
        if sha256(data).hexdigest() == row.content_hash:
            return _SAME
        self._read += 1
        self._bytes += len(data)
        if self._read > MOST_READ or self._bytes > MOST_BYTES:
            # Whether its name may be told stands in it.
            return _KEPT_OUT
        from notehop.indexing.vault.parse import parse_note

        try:
            note = parse_note(row.path, data, comment_links=self._comment_links)
            return _KEPT_OUT if note.excluded is not None else Look(changed=ChangedNote(note))
        except Exception:  # noqa: BLE001 (as when it is indexed: the run names it as failed)
            return _GONE

    def _data(self, path: str) -> bytes | None:
        """The bytes of a note, at most as many as a note may have; None if it cannot be read."""
        try:
            with open_below(self._vault, path) as stream:
                data = stream.read(self._limit + 1)
        except OSError:
            return None
        return data if len(data) <= self._limit else None

    def _vault_is_there(self) -> bool:
        """Whether the folder holds anything: where a disk is not mounted, it is gone or empty."""
        try:
            with os.scandir(self._root) as entries:
                return next(entries, None) is not None
        except OSError:
            return False


def _cuts_a_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
