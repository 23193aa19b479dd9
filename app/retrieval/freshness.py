"""What of the index still stands in the vault's files, and the postprocessor that keeps the rest out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from notehop.app.retrieval.current import CurrentFiles, Look
from notehop.app.retrieval.nodes import (
    HitPlace,
    VaultPostprocessor,
    is_light,
    noted,
    places_of,
    to_node,
)
from notehop.app.retrieval.trace import Trace, TracedQuery, trace_of, view_for
from notehop.indexing.shown import counted, on_one_line
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, NoteRow
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.vault.model import CommentLinks
from notehop.indexing.vault.plain import words_of

NAMED = 3
"""Notes that a warning names."""


if TYPE_CHECKING:
    _Forwarding = Snapshot
else:
    _Forwarding = object


class CurrentView(_Forwarding):
    """A generation of the index for one query, held against the files.

    Ranking is that of the index. Chunks, notes and the links of notes are given only as far as they
    stand in the files, with the lines, headings and titles they have there; links *to* a note as
    they were indexed, for there may be any number. Each note that is asked for takes one look at
    its file; ask for what may be shown, not for what might.
    """

    def __init__(self, view: Snapshot, files: CurrentFiles) -> None:
        self.indexed = view
        self._files = files
        self._left_out: dict[str, set[ChunkId]] = {}
        self._unnamed: set[str] = set()
        self._told: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.indexed, name)

    def chunks(self, ids: Iterable[ChunkId]) -> dict[ChunkId, ChunkRow]:
        """The chunks that stand among ``ids``; the others count as left out."""
        rows = self.indexed.chunks(ids)
        looks = self._looks(row.path for row in rows.values())
        found: dict[ChunkId, ChunkRow] = {}
        for chunk_id, row in rows.items():
            now = _standing(row, looks[row.path])
            if now is None:
                self.leave_out(row.path, chunk_id, looks[row.path])
            else:
                found[chunk_id] = now
        return found

    def notes_at(self, paths: Iterable[str]) -> dict[str, NoteRow]:
        """The notes that are there among ``paths``, called what they are called now."""
        rows = self.indexed.notes_at(paths)
        found: dict[str, NoteRow] = {}
        for path, row in rows.items():
            look = self._files.look(row)
            if look.there:
                found[path] = row if look.changed is None else look.changed.named(row)
        return found

    def links_from(self, paths: Iterable[str]) -> list[LinkRow]:
        """The links that these notes held when they were indexed and hold still."""
        links = self.indexed.links_from(paths)
        looks = self._looks(link.path for link in links)
        found: list[LinkRow] = []
        for link in links:
            look = looks[link.path]
            now = link if look.changed is None else look.changed.link(link)
            if look.there and now is not None:
                found.append(now)
        return found

    def says(self, path: str, id_: str, text: str) -> bool:
        """Whether a note still says a text; if not, that counts as left out.

        :param id_: of what holds the text, which is no chunk of the index.
        """
        look = self._looks([path])[path]
        if look.there and (look.changed is None or look.changed.says(text)):
            return True
        self.leave_out(path, id_, look)
        return False

    def look(self, row: NoteRow, *, read: bool = True) -> Look:
        """A look at the file of a note; see :meth:`CurrentFiles.look`."""
        return self._files.look(row, read=read)

    def stands(self, chunk_id: ChunkId, look: Look) -> bool:
        """Whether a chunk stands in the file of its note."""
        if not look.there or look.changed is None:
            return look.there
        row = self.indexed.chunks([chunk_id]).get(chunk_id)
        return row is not None and look.changed.chunk(row) is not None

    def leave_out(self, path: str, id_: str, look: Look) -> None:
        """Count something that a note said as left out."""
        self._left_out.setdefault(path, set()).add(id_)
        if not look.nameable:
            self._unnamed.add(path)

    def tell(self, trace: Trace, remedy: Callable[[], str]) -> None:
        """Warn of what was left out until now, in the place of what was said of it before."""
        said = self.warning(remedy)
        if said is not None and said != self._told:
            trace.warn(said, instead=self._told)
            self._told = said

    def warning(self, remedy: Callable[[], str]) -> str | None:
        """What the reply has to say of all this, on one line; None for nothing.

        :param remedy: tells what is done, or has to be done, about notes that changed.
        """
        if self._files.missing:
            return (
                "the vault is not there (is its disk mounted?), so this is what the index holds of "
                "it, which may be out of date"
            )
        told: list[str] = []
        if self._left_out:
            passages = counted(sum(map(len, self._left_out.values())), "passage")
            told.append(
                f"left out, changed and not indexed again yet: {passages} of {self._names()}; "
                f"{remedy()}"
            )
        if self._files.unseen:
            notes = counted(self._files.unseen, "note")
            told.append(f"{notes} could not be looked at and may have changed since")
        return "; ".join(told) or None

    def _names(self) -> str:
        named = [path for path in self._left_out if path not in self._unnamed][:NAMED]
        more = len(self._left_out) - len(named)
        shown = [on_one_line(path) for path in named]
        if more:
            shown.append(counted(more, "more note" if named else "note"))
        return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))

    def _looks(self, paths: Iterable[str]) -> dict[str, Look]:
        distinct = list(dict.fromkeys(paths))
        rows = self.indexed.notes_at(distinct)
        gone = Look(there=False)
        return {path: self._files.look(rows[path]) if path in rows else gone for path in distinct}


def _standing(row: ChunkRow, look: Look) -> ChunkRow | None:
    if not look.there:
        return None
    return row if look.changed is None else look.changed.chunk(row)


STAGE = "current"
"""The name of this stage in a query's trace."""

BEHIND = "run: notehop index"


class FreshnessPostprocessor(VaultPostprocessor):
    """Drops the hits whose text does not stand in the vault's files any more, and says so.

    A note that was deleted or made private a second ago may still be in the index. Each note among
    the hits takes one look at its file. A passage of a note that changed stays if it still stands
    there, with the lines, headings and title it has now. A connected note stays if its link does as
    well. Hits of other indexes are held against the file of their note, where their metadata name
    one (see :func:`notehop.app.retrieval.nodes.places_of`).

    Put it behind the retriever, and hand it to :class:`ConnectedNotesPostprocessor` as ``fresh``.
    """

    view: Any = Field(exclude=True, description="A ViewSource: the index.")
    vault: Path = Field(description="The folder of the notes.")
    max_note_bytes: int = Field(default=2_000_000, ge=1, description="Larger files are no notes.")
    comment_links: CommentLinks = Field(default="inline", description="As the index was made.")
    remedy: Callable[[], str] = Field(
        default=lambda: BEHIND, exclude=True, description="What is done about notes that changed."
    )
    top_n: int = Field(
        default=sys.maxsize, ge=0, description="Hits that are kept at most; no more are looked at."
    )
    places: int = Field(
        default=sys.maxsize,
        ge=0,
        description="Hits that may be shown: behind them no file is read.",
    )
    told: int = Field(
        default=sys.maxsize, ge=0, description="Hits behind which nothing dropped is worth a word."
    )
    each_note: bool = Field(default=False, description="Keep the first hit of each note only.")

    def held(self, view: Snapshot, query: QueryBundle | None = None) -> CurrentView:
        """Return a view as far as it stands in the files now: one for all stages of a query."""
        known = query.current if isinstance(query, TracedQuery) else None
        if known is not None and known.indexed is view:
            return known
        files = CurrentFiles(
            self.vault, max_note_bytes=self.max_note_bytes, comment_links=self.comment_links
        )
        now = CurrentView(view, files)
        if isinstance(query, TracedQuery):
            query.current = now
        return now

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        trace = trace_of(query_bundle)
        with trace.timed(STAGE):
            view = view_for(query_bundle, self.view)
            now = self.held(view, query_bundle)
            places = places_of(view, nodes)
            rows = view.notes_at(place.path for place in places if place is not None)
            found: list[NodeWithScore] = []
            seen: set[str] = set()
            dropped = 0
            for hit, place in zip(nodes, places, strict=True):
                if len(found) == self.top_n:
                    break
                if self.each_note and (place is None or place.path in seen):
                    continue
                kept = hit if place is None else self._now(hit, place, rows, now, len(found))
                if kept is None:
                    dropped += 1
                    continue
                found.append(kept)
                seen.add("" if place is None else place.path)
            now.tell(trace, self.remedy)
            if dropped:
                trace.count(STAGE, left_out=dropped)
        return found

    def _now(
        self,
        hit: NodeWithScore,
        place: HitPlace,
        rows: Mapping[str, NoteRow],
        now: CurrentView,
        before: int,
    ) -> NodeWithScore | None:
        """A hit as its text stands in the file of its note; None where it does not.

        :param before: hits that are kept before it.
        """
        id_ = hit.node.node_id
        if place.chunk_id != id_:
            text = hit.node.get_content(MetadataMode.NONE)
            return hit if now.says(place.path, id_, text) else None
        look = now.look(rows[place.path], read=before < self.places)
        if not now.stands(id_, look):
            if before < self.told:
                now.leave_out(place.path, id_, look)
            return None
        if is_light(hit.node):
            return hit
        if not _is_linked(hit, now):
            return None
        return hit if look.changed is None else _placed(hit, now, id_)


def _is_linked(hit: NodeWithScore, now: CurrentView) -> bool:
    """Whether the link that brought a connected note stands where it stood; True for a source."""
    link = hit.node.metadata.get("linked_from")
    if not isinstance(link, dict):
        return True
    return any(
        words_of(one.sentence) == link.get("sentence")
        for one in now.links_from([str(link.get("path"))])
    )


def _placed(hit: NodeWithScore, now: CurrentView, chunk_id: str) -> NodeWithScore | None:
    """A hit with the lines, headings and title that its passage has now."""
    chunk = now.chunks([chunk_id])[chunk_id]
    note = now.notes_at([chunk.path]).get(chunk.path)
    if note is None:
        return None
    fresh = to_node(chunk, note).metadata
    fresh.pop("role")
    return NodeWithScore(node=noted(hit.node, **fresh), score=hit.score)
