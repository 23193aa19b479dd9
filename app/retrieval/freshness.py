"""What of the index still stands in the vault's files; the postprocessor that keeps the rest out."""

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
    HitPlace,
    Nodes,
    Trace,
    TracedQuery,
    VaultPostprocessor,
    is_light,
    noted,
    places_of,
    to_node,
)
from notehop.indexing.graph.files import is_pdf
from notehop.indexing.nodes.chunker import Headings, stripped_span
from notehop.indexing.shown import counted, on_one_line
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.vault.model import CommentLinks, Lines, Note
from notehop.indexing.vault.opening import open_below
from notehop.indexing.vault.plain import plain_map, words_of
from notehop.indexing.vault.properties import BETWEEN, property_texts

if TYPE_CHECKING:
    _Forwarding = Snapshot
else:
    _Forwarding = object

NAMED = 3  # notes that a warning names
MOST_READ = 24  # changed notes that one query parses: three times the places of a context
MOST_BYTES = 2_000_000  # bytes of changed notes that one query parses, which takes a second


class Look:
    """What a look at a note's file gave: whether anything of it, and its name, may be shown. ``note`` is
    None while the file is the one that was indexed, else the note as it is now."""

    def __init__(
        self, note: Note | None = None, *, there: bool = True, nameable: bool = True
    ) -> None:
        self.note, self.there, self.nameable = note, there, nameable
        if note is not None:
            self._plain = plain_map(note, note.body_start, len(note.text))
            self._properties = property_texts(note, False, len(note.text))
            self._headings, self._lines = Headings(note), Lines(note.text)

    def chunk(self, row: ChunkRow) -> ChunkRow | None:
        """The chunk with the lines and headings it has now; None if its text is not there. Of several
        places it is the one under the same headings, then the nearest."""
        if self.note is None:
            return row if self.there else None
        return min(
            self._places(row, self.note),
            key=lambda one: (
                one.heading_path != row.heading_path,
                abs(one.first_line - row.first_line),
            ),
            default=None,
        )

    def _places(self, row: ChunkRow, note: Note) -> Iterator[ChunkRow]:
        """The chunk at each place where its text stands, not as a part of longer words."""
        if not row.text:
            # It only stands for a note that had no text.
            last = note.text.rstrip().count("\n") + 1
            yield replace(row, heading_path=(), first_line=1, last_line=last)
            return
        if row.kind == "properties":
            # Whole lines of what all properties say: how they are divided depends on the model.
            said = re.compile(rf"^{re.escape(row.text)}(?:{BETWEEN})?$", re.MULTILINE)
            for text, first_line, _ in self._properties:
                for found in said.finditer(text):
                    first = first_line + text.count("\n", 0, found.start())
                    yield replace(row, first_line=first, last_line=first + row.text.count("\n"))
            return
        whole, at = self._plain.text, self._plain.text.find(row.text)
        while at >= 0:
            ends = at, at + len(row.text)
            cut = any(
                whole[one - 1 : one].isalnum() and whole[one : one + 1].isalnum() for one in ends
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
            at = whole.find(row.text, at + 1)

    def link(self, row: LinkRow) -> LinkRow | None:
        """The link with the line it stands on now; None if it, or its sentence, is not there."""
        if self.note is None:
            return row if self.there else None
        lines = [
            link.line
            for link in self.note.links
            if (link.kind, link.raw, link.property, link.sentence)
            == (row.kind, row.raw, row.property, row.sentence)
        ]
        nearest = min(lines, key=lambda line: abs(line - row.line), default=None)
        return None if nearest is None else replace(row, line=nearest)

    def named(self, row: NoteRow) -> NoteRow | None:
        """The note with the title and the aliases it has now."""
        if self.note is None:
            return row if self.there else None
        return replace(row, title=self.note.title, aliases=self.note.aliases)

    def says(self, text: str) -> bool:
        """Whether a text stands in it, line breaks and blanks aside; one without words does."""
        if self.note is None:
            return self.there
        words = " ".join(text.split())
        texts = (self.note.text, self._plain.text, *(text for text, *_ in self._properties))
        return any(words in " ".join(one.split()) for one in texts)


_SAME = Look()
_GONE = Look(there=False)
_UNREAD = Look(there=False)  # as gone, until the file is read
_KEPT_OUT = Look(there=False, nameable=False)


class CurrentView(_Forwarding):
    """A generation of the index for one query: chunks, notes and the links of notes are given only as
    far as they stand in the files, with the lines, headings and titles they have there; all else, links
    *to* a note too, as it was indexed. Each note that is asked for takes one look at its file."""

    def __init__(
        self, view: Snapshot, vault: Path, max_note_bytes: int, comment_links: CommentLinks
    ) -> None:
        self.indexed = view
        self._root = os.fspath(vault)
        self._limit = max_note_bytes
        self._comment_links = comment_links
        self._looks: dict[str, Look] = {}
        self._linked: dict[str, bool] = {"": False}
        self._there = self._missing = False
        self._read = self._bytes = 0
        self._left_out: dict[str, set[ChunkId]] = {}
        self._unnamed: set[str] = set()
        self._warned: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.indexed, name)

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """The chunks that stand among ``ids``; the others count as left out."""
        rows = self.indexed.chunks(ids)
        looks = self._looks_at(row.path for row in rows.values())
        found: dict[ChunkId, ChunkRow] = {}
        for chunk_id, row in rows.items():
            if (now := looks[row.path].chunk(row)) is not None:
                found[chunk_id] = now
            else:
                self.leave_out(row.path, chunk_id, looks[row.path])
        return found

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """The notes that are there among ``paths``, called what they are called now."""
        named = {p: self.look(row).named(row) for p, row in self.indexed.notes_at(paths).items()}
        return {path: row for path, row in named.items() if row is not None}

    def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that these notes held when they were indexed and hold still."""
        return self.current_links(self.indexed.links_from(paths))

    def current_links(self, links: Sequence[LinkRow]) -> list[LinkRow]:
        """Those of the links that stand in their notes, with the lines they have there."""
        looks = self._looks_at(link.path for link in links)
        return [now for link in links if (now := looks[link.path].link(link)) is not None]

    @property
    def changes(self) -> int:
        """How many of the notes that were looked at are other than they were when they were indexed."""
        return sum(not look.there or look.note is not None for look in self._looks.values())

    def leave_out(self, path: str, id_: str, look: Look) -> None:
        """Count something that a note said as left out."""
        self._left_out.setdefault(path, set()).add(id_)
        if not look.nameable:
            self._unnamed.add(path)

    def tell(self, trace: Trace, remedy: Callable[[], str]) -> None:
        """Warn of what was left out until now."""
        trace.changed = max(trace.changed, self.changes)
        if (warning := self.warning(remedy)) is not None:
            trace.warn(warning, instead=self._warned)
            self._warned = warning

    def warning(self, remedy: Callable[[], str]) -> str | None:
        """What the reply has to say of all this, on one line; None for nothing."""
        if self._missing:
            return (
                "the vault is not there (is its disk mounted?), so this is what the index holds of "
                "it, which may be out of date"
            )
        if not self._left_out:
            return None
        passages = counted(sum(map(len, self._left_out.values())), "passage")
        names = [on_one_line(one) for one in self._left_out if one not in self._unnamed][:NAMED]
        if more := len(self._left_out) - len(names):
            names.append(counted(more, "more note" if names else "note"))
        notes = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
        return f"left out, changed and not indexed again yet: {passages} of {notes}; {remedy()}"

    def _looks_at(self, paths: Iterable[str]) -> dict[str, Look]:
        distinct = list(dict.fromkeys(paths))
        rows = self.indexed.notes_at(distinct)
        return {path: self.look(rows[path]) if path in rows else _GONE for path in distinct}

    def look(self, row: NoteRow, *, read: bool = True) -> Look:
        """Compare a note's file with its row: by size and time, else by what it holds. Where it is not
        worth reading (``read``), a file that would have to be counts as gone."""
        if self._missing:
            return _SAME
        known = self._looks.get(row.path) or self._looked(row)
        if known is _UNREAD:
            if not read:
                return _GONE
            known = self._changed(row)
        self._looks[row.path] = known
        return known

    def _looked(self, row: NoteRow) -> Look:
        """What size and time of a file say."""
        file = f"{self._root}/{row.path}"
        try:
            found = os.lstat(file)
            if stat.S_ISLNK(found.st_mode):
                # The index follows a link to a file of the vault, and no other.
                if not os.path.realpath(file).startswith(os.path.realpath(self._root) + os.sep):
                    return _KEPT_OUT
                found = os.stat(file)  # noqa: PTH116 (once a hit: this is hot)
        except (FileNotFoundError, NotADirectoryError):
            if not self._there:
                # Where a disk is not mounted, the folder is gone or empty.
                with suppress(OSError), os.scandir(self._root) as entries:
                    self._there = next(entries, None) is not None
                self._missing = not self._there
            return _SAME if self._missing else _GONE
        except OSError:
            return _GONE  # what cannot be looked at may have changed
        if not stat.S_ISREG(found.st_mode) or self._is_linked(row.path.rpartition("/")[0]):
            return _KEPT_OUT
        if (found.st_size, found.st_mtime_ns) == (row.size, row.mtime_ns):
            return _SAME
        # Extracting the text of a PDF takes longer than a query may.
        readable = found.st_size == row.size if is_pdf(row.path) else found.st_size <= self._limit
        return _UNREAD if readable else _GONE

    def _is_linked(self, folder: str) -> bool:
        """Whether a folder of the vault is, or lies in, a link by now: the index follows none."""
        known = self._linked.get(folder)
        if known is None:
            known = self._is_linked(folder.rpartition("/")[0])
            known = known or os.path.islink(f"{self._root}/{folder}")  # noqa: PTH114 (as above)
            self._linked[folder] = known
        return known

    def _changed(self, row: NoteRow) -> Look:
        """What the file itself says."""
        most = row.size if is_pdf(row.path) else self._limit
        try:
            with open_below(Path(self._root), row.path) as stream:
                data = stream.read(most + 1)
        except OSError:
            return _GONE
        if sha256(data).hexdigest() == row.content_hash:
            return _SAME
        if len(data) > most or is_pdf(row.path):
            return _GONE
        self._read += 1
        self._bytes += len(data)
        if self._read > MOST_READ or self._bytes > MOST_BYTES:
            # Whether its name may be told stands in it.
            return _KEPT_OUT
        from notehop.indexing.vault.parse import parse_note

        try:
            note = parse_note(row.path, data, comment_links=self._comment_links)
            return _KEPT_OUT if note.excluded is not None else Look(note)
        except Exception:  # noqa: BLE001 (as when it is indexed: the run names it as failed)
            return _GONE


class FreshnessPostprocessor(VaultPostprocessor):
    """Drops the hits whose text does not stand in the vault's files any more, and says so.

    A passage of a note that changed stays if it still stands there, with the lines, headings and title
    it has now; a connected note if its link does as well. Hits of other indexes are held against the
    file of their note (see :func:`notehop.app.retrieval.components.places_of`). Put it behind the retriever,
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

    def held(self, view: Snapshot, query: TracedQuery) -> CurrentView:
        """Return a view as far as it stands in the files now: one for all stages of a query."""
        if query.current is None or query.current.indexed is not view:
            query.current = CurrentView(view, self.vault, self.max_note_bytes, self.comment_links)
        return query.current

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        now = self.held(view, query)
        places = places_of(view, hits)
        rows = view.notes_at(place.path for place in places if place is not None)
        found: Nodes = []
        notes: set[str] = set()
        for hit, place in zip(hits, places, strict=True):
            if len(found) == self.top_n:
                break
            if place is None:
                found += [] if self.each_note else [hit]
            elif not self.each_note or place.path not in notes:
                shown = len(found) < self.places or place.chunk_id != hit.node.node_id
                look = now.look(rows[place.path], read=shown)
                if (kept := _as_it_stands(hit, place, look, now, told=shown)) is not None:
                    found.append(kept)
                    notes.add(place.path)
        now.tell(query.trace, self.remedy)
        return found


def _as_it_stands(
    hit: NodeWithScore, place: HitPlace, look: Look, now: CurrentView, *, told: bool
) -> NodeWithScore | None:
    """A hit as its text stands in its note's file; None, which counts if ``told``, if it does not."""
    id_ = hit.node.node_id
    own, placed, stands = place.chunk_id == id_, None, look.there
    if look.note is not None and own:
        chunk = now.indexed.chunks([id_]).get(id_)
        placed = None if chunk is None else look.chunk(chunk)
        stands = placed is not None
    elif look.note is not None:
        stands = look.says(hit.node.get_content(MetadataMode.NONE))
    if not stands:
        if told:
            now.leave_out(place.path, id_, look)
        return None
    if not own or is_light(hit.node):
        return hit
    link = hit.node.metadata.get("linked_from")
    # A connected note stays if the link that brought it stands where it stood.
    if isinstance(link, dict) and not any(
        words_of(one.sentence) == link.get("sentence")
        for one in now.links_from([str(link.get("path"))])
    ):
        return None
    if placed is None:
        return hit
    about = to_node(placed, now.notes_at([placed.path])[placed.path]).metadata
    del about["role"]
    return NodeWithScore(node=noted(hit.node, **about), score=hit.score)
