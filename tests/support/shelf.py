"""Notes on a disk with what an index would hold of them, for what compares the two."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.support.fake_index import FakeIndex
from tests.support.product import (
    ChunkRow,
    CurrentFiles,
    CurrentView,
    Link,
    LinkRow,
    Note,
    NoteRow,
    NoteStatus,
    parse_note,
    split_note,
)
from tests.support.readable_model import WordTokens


class Shelf:
    """A vault, and an index in memory of its notes as they were when they were indexed.

    The chunks of ``Plan.md`` have the ids ``Plan.md:0``, ``Plan.md:1`` ... and stand ten degrees
    apart from one another.
    """

    def __init__(self, vault: Path) -> None:
        self.vault = vault
        self.index = FakeIndex()
        vault.mkdir(exist_ok=True)

    def write(self, path: str, text: str) -> None:
        """Write a file without indexing it; its time is always another one than before."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.stat().st_mtime_ns if file.exists() else 0
        file.write_text(text, encoding="utf-8")
        if file.stat().st_mtime_ns == before:
            os.utime(file, ns=(before + 1, before + 1))

    def indexed(self, path: str, text: str) -> Shelf:
        """Write a file and index it."""
        self.write(path, text)
        data = (self.vault / path).read_bytes()
        found = (self.vault / path).stat()
        note = parse_note(path, data)
        self.index.notes[path] = NoteRow(
            path,
            note.title,
            NoteStatus.INDEXED,
            aliases=note.aliases,
            size=found.st_size,
            mtime_ns=found.st_mtime_ns,
            content_hash=sha256(data).hexdigest(),
        )
        for row in chunk_rows(note):
            self.index.rows[row.id] = row
            self.index.chunk_vectors.angles[row.id] = 10.0 * row.ordinal
        self.index.all_links += [
            _link_row(note, at, link) for at, link in enumerate(note.links) if link.target
        ]
        return self

    def view(self, **limits: Any) -> CurrentView:
        """What one query sees now."""
        files = CurrentFiles(self.vault, **{"max_note_bytes": 1_000_000, **limits})
        return CurrentView(self.index, files)


def chunk_rows(note: Note, size: int = 60) -> list[ChunkRow]:
    """The chunks of a note, of at most ``size`` words."""
    return [
        ChunkRow(
            f"{note.path}:{draft.ordinal}",
            note.path,
            draft.ordinal,
            draft.heading_path,
            draft.first_line,
            draft.last_line,
            draft.body,
            draft.embedded_hash,
            {},
            kind=draft.kind,
        )
        for draft in split_note(note, WordTokens(), size, 3)
    ]


def _link_row(note: Note, ordinal: int, link: Link) -> LinkRow:
    rows = chunk_rows(note)
    holder = next((r.id for r in reversed(rows) if r.first_line <= link.line), None)
    return LinkRow(
        path=note.path,
        ordinal=ordinal,
        chunk_id=None if link.property else holder,
        line=link.line,
        kind=link.kind.value,
        syntax=link.syntax.value,
        raw=link.raw,
        raw_target=link.target,
        fragment=link.fragment,
        display=link.display,
        sentence=link.sentence,
        sentence_id=None,
        property=link.property,
        status="resolved",
        via="path",
        target_path=f"{link.target}.md",
        target_chunk_id=f"{link.target}.md:0",
        fragment_found=None,
    )
