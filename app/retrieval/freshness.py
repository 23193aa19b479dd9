"""Which passages still stand in the vault's files; the postprocessor that drops the others."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import MetadataMode, NodeWithScore

from notehop.app.retrieval.components import (
    HitLocation,
    Nodes,
    Trace,
    TracedQuery,
    VaultPostprocessor,
    hit_with_metadata,
    is_stub,
    locate_hits,
    to_node,
)
from notehop.indexing.display import counted, on_one_line
from notehop.indexing.graph.files import is_pdf
from notehop.indexing.nodes.chunker import Headings, stripped_span
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, ChunkRow, LinkRow, NoteRow
from notehop.indexing.vault.model import CommentLinks, Lines, Note
from notehop.indexing.vault.plain import plain_map, words_of
from notehop.indexing.vault.properties import BETWEEN, property_texts
from notehop.indexing.vault.safe_open import open_below

if TYPE_CHECKING:
    _Forwarding = Snapshot
else:
    _Forwarding = object

MAX_NAMED_NOTES = 3  # notes that a warning names
MAX_READ_NOTES = 24  # changed notes that one query parses: three times the places of a context
MAX_READ_BYTES = 2_000_000  # bytes of changed notes that one query parses, which takes a second


class FileCheck:
    """Result of checking a note's file: whether anything of it, and its name, may be shown. ``note`` is
    None while the file is the one that was indexed, else the note as it is now."""

    def __init__(self, note: Note | None = None, *, exists: bool = True, may_be_named: bool = True) -> None:
        self.note, self.exists, self.may_be_named = note, exists, may_be_named
        if note is not None:
            self._plain = plain_map(note, note.body_start, len(note.text))
            self._properties = property_texts(note, False, len(note.text))
            self._headings, self._lines = Headings(note), Lines(note.text)

    def current_chunk(self, row: ChunkRow) -> ChunkRow | None:
        """The chunk with the lines and headings it has now; None if its text is not there. Of several
        places it is the one under the same headings, then the nearest."""
        if self.note is None:
            return row if self.exists else None
        return min(
            self._current_places(row, self.note),
            key=lambda one: (one.heading_path != row.heading_path, abs(one.first_line - row.first_line)),
            default=None,
        )

    def _current_places(self, row: ChunkRow, note: Note) -> Iterator[ChunkRow]:
        """The chunk at each place where its text stands, not as a part of longer words."""
        if not row.text:
            # It only stands for a note that had no text.
            last = note.text.rstrip().count("\n") + 1
            yield replace(row, heading_path=(), first_line=1, last_line=last)
            return
        if row.kind == "properties":
            # Whole lines of what all properties say: how they are divided depends on the model.
            pattern = re.compile(rf"^{re.escape(row.text)}(?:{BETWEEN})?$", re.MULTILINE)
            for text, first_line, _ in self._properties:
                for match in pattern.finditer(text):
                    first = first_line + text.count("\n", 0, match.start())
                    yield replace(row, first_line=first, last_line=first + row.text.count("\n"))
            return
        plain_text, at = self._plain.text, self._plain.text.find(row.text)
        while at >= 0:
            ends = at, at + len(row.text)
            cut = any(
                plain_text[one - 1 : one].isalnum() and plain_text[one : one + 1].isalnum() for one in ends
            )
            start, end = map(self._plain.to_raw, ends)
            if not cut and start is not None and end is not None:
                first, last = stripped_span(note.text, start, end)
                yield replace(
                    row,
                    heading_path=self._headings.path(start, end),
                    first_line=self._lines.at(first),
                    last_line=self._lines.at(last),
                )
            at = plain_text.find(row.text, at + 1)

    def current_link(self, row: LinkRow) -> LinkRow | None:
        """The link with the line it stands on now; None if it, or its sentence, is not there."""
        if self.note is None:
            return row if self.exists else None
        lines = [
            link.line
            for link in self.note.links
            if (link.kind, link.raw, link.property, link.sentence)
            == (row.kind, row.raw, row.property, row.sentence)
        ]
        nearest = min(lines, key=lambda line: abs(line - row.line), default=None)
        return None if nearest is None else replace(row, line=nearest)

    def current_note(self, row: NoteRow) -> NoteRow | None:
        """The note with the title and the aliases it has now."""
        if self.note is None:
            return row if self.exists else None
        return replace(row, title=self.note.title, aliases=self.note.aliases)

    def has_text(self, text: str) -> bool:
        """Tell whether a text stands in it, line breaks and blanks aside; one without words does."""
        if self.note is None:
            return self.exists
        words = " ".join(text.split())
        texts = (self.note.text, self._plain.text, *(text for text, *_ in self._properties))
        return any(words in " ".join(one.split()) for one in texts)


_UNCHANGED = FileCheck()
_GONE = FileCheck(exists=False)
_UNREAD = FileCheck(exists=False)  # as gone, until the file is read
_EXCLUDED = FileCheck(exists=False, may_be_named=False)


class CurrentView(_Forwarding):
    """A generation of the index for one query: chunks, notes and the links of notes are given only as
    far as they stand in the files, with the lines, headings and titles they have there; all else, links
    *to* a note too, as it was indexed. Each note that is asked for takes one check of its file."""

    def __init__(self, view: Snapshot, vault: Path, max_note_bytes: int, comment_links: CommentLinks) -> None:
        self.indexed = view
        self._root = os.fspath(vault)
        self._max_note_bytes = max_note_bytes
        self._comment_links = comment_links
        self._checks: dict[str, FileCheck] = {}
        self._linked: dict[str, bool] = {"": False}
        self._vault_exists = self._vault_missing = False
        self._read_notes = self._read_bytes = 0
        self._left_out: dict[str, set[ChunkId]] = {}
        self._unnamed: set[str] = set()
        self._last_warning: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.indexed, name)

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """Return the chunks among ``ids`` whose text still stands; the others count as left out."""
        rows = self.indexed.chunks(ids)
        checks = self._check_files(row.path for row in rows.values())
        found: dict[ChunkId, ChunkRow] = {}
        for chunk_id, row in rows.items():
            if (current := checks[row.path].current_chunk(row)) is not None:
                found[chunk_id] = current
            else:
                self.record_left_out(row.path, chunk_id, checks[row.path])
        return found

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """Return the notes among ``paths`` that still exist, with their present titles and aliases."""
        current = {
            p: self.check_file(row).current_note(row) for p, row in self.indexed.notes_at(paths).items()
        }
        return {path: row for path, row in current.items() if row is not None}

    def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that these notes held when they were indexed and hold still."""
        return self.current_links(self.indexed.links_from(paths))

    def current_links(self, links: Sequence[LinkRow]) -> list[LinkRow]:
        """Return the links that still stand in their notes, with their present lines."""
        checks = self._check_files(link.path for link in links)
        return [current for link in links if (current := checks[link.path].current_link(link)) is not None]

    @property
    def changes(self) -> int:
        """How many of the notes that were looked at are other than they were when they were indexed."""
        return sum(not check.exists or check.note is not None for check in self._checks.values())

    def record_left_out(self, path: str, id_: str, check: FileCheck) -> None:
        """Count something that a note said as left out."""
        self._left_out.setdefault(path, set()).add(id_)
        if not check.may_be_named:
            self._unnamed.add(path)

    def warn_left_out(self, trace: Trace, remedy: Callable[[], str]) -> None:
        """Warn of what was left out until now."""
        trace.changed = max(trace.changed, self.changes)
        if (warning := self.warning(remedy)) is not None:
            trace.warn(warning, instead=self._last_warning)
            self._last_warning = warning

    def warning(self, remedy: Callable[[], str]) -> str | None:
        """Return the warning about what was left out, on one line; None for nothing."""
        if self._vault_missing:
            return (
                "the vault is not there (is its disk mounted?), so this is what the index holds of "
                "it, which may be out of date"
            )
        if not self._left_out:
            return None
        passages = counted(sum(map(len, self._left_out.values())), "passage")
        names = [on_one_line(one) for one in self._left_out if one not in self._unnamed][:MAX_NAMED_NOTES]
        if more := len(self._left_out) - len(names):
            names.append(counted(more, "more note" if names else "note"))
        notes = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"left out, changed and not indexed again yet: {passages} of {notes}; {remedy()}"

    def _check_files(self, paths: Iterable[str]) -> dict[str, FileCheck]:
        distinct = list(dict.fromkeys(paths))
        rows = self.indexed.notes_at(distinct)
        return {path: self.check_file(rows[path]) if path in rows else _GONE for path in distinct}

    def check_file(self, row: NoteRow, *, read: bool = True) -> FileCheck:
        """Compare a note's file with its row: by size and time, else by what it holds. Where it is not
        worth reading (``read``), a file that would have to be counts as gone."""
        if self._vault_missing:
            return _UNCHANGED
        known = self._checks.get(row.path) or self._check_stat(row)
        if known is _UNREAD:
            if not read:
                return _GONE
            known = self._check_content(row)
        self._checks[row.path] = known
        return known

    def _check_stat(self, row: NoteRow) -> FileCheck:
        """Check a file by its size and time."""
        file = f"{self._root}/{row.path}"
        try:
            status = os.lstat(file)
            if stat.S_ISLNK(status.st_mode):
                # The index follows a link to a file of the vault, and no other.
                if not os.path.realpath(file).startswith(os.path.realpath(self._root) + os.sep):
                    return _EXCLUDED
                status = os.stat(file)  # noqa: PTH116 (once a hit: this is hot)
        except (FileNotFoundError, NotADirectoryError):
            if not self._vault_exists:
                # Where a disk is not mounted, the folder is gone or empty.
                with suppress(OSError), os.scandir(self._root) as entries:
                    self._vault_exists = next(entries, None) is not None
                self._vault_missing = not self._vault_exists
            return _UNCHANGED if self._vault_missing else _GONE
        except OSError:
            return _GONE  # what cannot be looked at may have changed
        if not stat.S_ISREG(status.st_mode) or self._is_linked(row.path.rpartition("/")[0]):
            return _EXCLUDED
        if (status.st_size, status.st_mtime_ns) == (row.size, row.mtime_ns):
            return _UNCHANGED
        # Extracting the text of a PDF takes longer than a query may.
        readable = status.st_size == row.size if is_pdf(row.path) else status.st_size <= self._max_note_bytes
        return _UNREAD if readable else _GONE

    def _is_linked(self, folder: str) -> bool:
        """Tell whether a folder of the vault is, or lies in, a link by now: the index follows none."""
        known = self._linked.get(folder)
        if known is None:
            known = self._is_linked(folder.rpartition("/")[0])
            known = known or os.path.islink(f"{self._root}/{folder}")  # noqa: PTH114 (as above)
            self._linked[folder] = known
        return known

    def _check_content(self, row: NoteRow) -> FileCheck:
        """Check a file by its content."""
        most = row.size if is_pdf(row.path) else self._max_note_bytes
        try:
            with open_below(Path(self._root), row.path) as stream:
                data = stream.read(most + 1)
        except OSError:
            return _GONE
        if sha256(data).hexdigest() == row.content_hash:
            return _UNCHANGED
        if len(data) > most or is_pdf(row.path):
            return _GONE
        self._read_notes += 1
        self._read_bytes += len(data)
        if self._read_notes > MAX_READ_NOTES or self._read_bytes > MAX_READ_BYTES:
            # Whether its name may be told stands in it.
            return _EXCLUDED
        from notehop.indexing.vault.parse import parse_note

        try:
            note = parse_note(row.path, data, comment_links=self._comment_links)
            return _EXCLUDED if note.excluded is not None else FileCheck(note)
        except Exception:  # noqa: BLE001 (as when it is indexed: the run names it as failed)
            return _GONE


class FreshnessPostprocessor(VaultPostprocessor):
    """Drops the hits whose text does not stand in the vault's files any more, and says so.

    A passage of a note that changed stays if it still stands there, with the lines, headings and title
    it has now; a connected note if its link does as well. Hits of other indexes are held against the
    file of their note (:func:`notehop.app.retrieval.components.locate_hits`). Put it behind the retriever,
    and hand it to :class:`ConnectedNotesPostprocessor` as ``fresh``.
    """

    stage = "current"

    vault: Path = Field(description="The folder of the notes.")
    max_note_bytes: int = Field(default=2_000_000, ge=1, description="Larger files are no notes.")
    comment_links: CommentLinks = Field(default="inline", description="As the index was made.")
    remedy: Callable[[], str] = Field(
        default=lambda: "run: notehop index",
        exclude=True,
        description="What is done about notes that changed.",
    )
    top_n: int = Field(
        default=sys.maxsize, ge=0, description="Hits that are kept at most; no more are looked at."
    )
    places: int = Field(
        default=sys.maxsize,
        ge=0,
        description="Hits that may be shown: behind them no file is read, and nothing dropped told.",
    )
    each_note: bool = Field(default=False, description="Keep the first hit of each note only.")

    def current_view(self, view: Snapshot, query: TracedQuery) -> CurrentView:
        """Return a view as far as it stands in the files now: one for all stages of a query."""
        if query.current is None or query.current.indexed is not view:
            query.current = CurrentView(view, self.vault, self.max_note_bytes, self.comment_links)
        return query.current

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        current = self.current_view(view, query)
        places = locate_hits(view, hits)
        rows = view.notes_at(place.path for place in places if place is not None)
        current_hits: Nodes = []
        notes: set[str] = set()
        for hit, place in zip(hits, places, strict=True):
            if len(current_hits) == self.top_n:
                break
            if place is None:
                current_hits += [] if self.each_note else [hit]
            elif not self.each_note or place.path not in notes:
                is_shown = len(current_hits) < self.places or place.chunk_id != hit.node.node_id
                check = current.check_file(rows[place.path], read=is_shown)
                kept = _current_hit(hit, place, check, current, count=is_shown)
                if kept is not None:
                    current_hits.append(kept)
                    notes.add(place.path)
        current.warn_left_out(query.trace, self.remedy)
        return current_hits


def _current_hit(
    hit: NodeWithScore, place: HitLocation, check: FileCheck, current: CurrentView, *, count: bool
) -> NodeWithScore | None:
    """A hit as its text stands in its note's file; None, which counts if ``count``, if it does not."""
    id_ = hit.node.node_id
    is_own, placed, is_current = place.chunk_id == id_, None, check.exists
    if check.note is not None and is_own:
        chunk = current.indexed.chunks([id_]).get(id_)
        placed = None if chunk is None else check.current_chunk(chunk)
        is_current = placed is not None
    elif check.note is not None:
        is_current = check.has_text(hit.node.get_content(MetadataMode.NONE))
    if not is_current:
        if count:
            current.record_left_out(place.path, id_, check)
        return None
    if not is_own or is_stub(hit.node):
        return hit
    link = hit.node.metadata.get("linked_from")
    # A connected note stays if the link that brought it stands where it stood.
    if isinstance(link, dict) and not any(
        words_of(one.sentence) == link.get("sentence") for one in current.links_from([str(link.get("path"))])
    ):
        return None
    if placed is None:
        return hit
    about = to_node(placed, current.notes_at([placed.path])[placed.path]).metadata
    del about["role"]
    return hit_with_metadata(hit, **about)
