"""What a reply shows of notes as they are in the vault now, whatever the index says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from posixpath import dirname
from typing import Any

from notehop.app.answer.material import open_uri
from notehop.app.retrieval.freshness import CurrentView
from notehop.app.services.open_vault import Place, remedy
from notehop.indexing.changes import scan, too_large
from notehop.indexing.enrich.prompts import own_summary
from notehop.indexing.enrich.store import Summary, read_summaries
from notehop.indexing.graph.files import is_pdf
from notehop.indexing.graph.resolve import Status
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkRow, LinkRow, NoteRow
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import read_note
from notehop.indexing.vault.plain import flat, shortened


class CurrentNotes(CurrentView):
    """What still stands in the vault; make one for each reply.

    What the index says of it, whatever stands there, is in ``indexed``.
    """

    def __init__(self, view: Snapshot, place: Place) -> None:
        files = place.settings.vault
        super().__init__(view, place.vault, files.max_note_bytes, files.comment_links)
        self.place = place

    def with_current_targets(self, links: Iterable[LinkRow]) -> list[LinkRow]:
        """The links without the targets that do not stand in the vault any more."""
        held = list(links)
        rows = self.indexed.notes_at({link.target_path for link in held if link.target_path})
        checks = {path: self.check_file(row) for path, row in rows.items()}
        found: list[LinkRow] = []
        for link in held:
            check = checks.get(link.target_path or "")
            if check is not None and not check.exists:
                status = Status.UNRESOLVED if check.may_be_named else Status.EXCLUDED
                link = replace(link, status=status, target_path=None, target_chunk_id=None)
            found.append(link)
        return found

    def any_of(self, paths: Iterable[str]) -> bool:
        """Whether any of the notes is there, by as few looks at files as it takes."""
        return any(self.notes_at([path]) for path in paths)

    def changed(self, paths: Iterable[str]) -> set[str]:
        """Those of the notes whose files are other than they were when they were indexed."""
        checks = self._check_files(paths)
        return {path for path, check in checks.items() if not check.exists or check.note}

    def first_chunks(self, paths: Iterable[str]) -> dict[str, ChunkRow]:
        """Path -> the first passage of the note that stands in it now, where one does."""
        held = list(paths)
        changed = self.changed(held)
        ids = [self.chunk_ids_of(path)[: None if path in changed else 1] for path in held]
        first: dict[str, ChunkRow] = {}
        for chunk in self.chunks(chain.from_iterable(ids)).values():
            first.setdefault(chunk.path, chunk)
        return first

    def in_a_line(
        self, rows: Mapping[str, NoteRow], texts: Mapping[str, str] | None = None
    ) -> dict[str, Summary]:
        """Sum notes up, and say which model did so, if one did.

        Its owner's summary goes first, then one that the index has, then the beginning of a text.
        For a note that changed since it was indexed, only the text counts.

        :param rows: path -> note, of notes that are there.
        :param texts: path -> a passage of the note, for want of a summary; None for its first.
        """
        if texts is None:
            texts = {path: chunk.text for path, chunk in self.first_chunks(rows).items()}
        changed = self.changed(rows)
        fresh = [row for path, row in rows.items() if path not in changed]
        stored = read_summaries(self.place.layout.enrichment, fresh)
        found: dict[str, Summary] = {}
        for path, row in rows.items():
            own = None if path in changed else own_summary(row.front_matter)
            if own is None and path in stored:
                written = stored[path]
                found[path] = Summary(shortened(written.text, STORED_LENGTH), written.model)
            else:
                found[path] = Summary(own or shortened(flat(texts.get(path, "")), LENGTH))
        return found

    def uri(self, path: str, headings: Sequence[str] = ()) -> str:
        """What opens a note, at a heading where there are some."""
        return open_uri(self.place.name, path, headings)

    def place_of(self, row: NoteRow, headings: Sequence[str] = ()) -> dict[str, Any]:
        """The fields by which a reply names a note."""
        path = row.path
        uri = self.uri(path, headings)
        return {"path": path, "title": row.title, "folder": dirname(path), "uri": uri}

    def reply_warnings(self) -> list[str]:
        """What a reply has to say of what was left out; usually nothing."""
        said = self.warning(lambda: remedy(self.place.layout))
        return [*self.indexed.warnings, *([said] if said else [])]


STORED_LENGTH = 300
"""Characters of a summary that was written for the purpose: it says more than a beginning."""

LENGTH = 150  # characters: two lines of a card


def as_now(place: Place, paths: Sequence[str], *, pdfs: bool = False) -> Iterator[Note | None]:
    """Files as the index would read them now, in order; None for what it would not, or cannot. One that
    does not say when it was modified has the time of its file.

    :param pdfs: whether to read PDFs, which takes a second each; None for them otherwise.
    """
    settings = place.settings.vault
    found = scan(place.vault, settings, within=paths).files if paths else ()
    files = {one.path: one for one in found if one.kind == "note" and one.excluded is None}
    for path in paths:
        file = files.get(path)
        unwanted = is_pdf(path) and not pdfs
        if file is None or unwanted or too_large(file, settings.max_note_bytes):
            yield None
            continue
        read = read_note(place.vault, file, "", comment_links=settings.comment_links)
        if (note := read.note) is None or note.excluded is not None:
            yield None
        else:
            at = read.file.mtime_ns / 1e9 if note.modified is None else note.modified
            yield replace(note, modified=at)
