"""What of the index still stands in the vault's files, and the postprocessor that keeps the rest out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from notehop.app.retrieval.current import CurrentFiles, Look
from notehop.app.retrieval.index_view import IndexView, VectorRows
from notehop.app.retrieval.nodes import VaultPostprocessor, is_light, noted, places_of, to_node
from notehop.app.retrieval.trace import trace_of, view_for
from notehop.indexing.shown import counted, on_one_line, without_marks
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, NoteRow
from notehop.indexing.vault.model import CommentLinks

NAMED = 3
"""Notes that a warning names."""


class CurrentView:
    """An :class:`~app.retrieval.index_view.IndexView` for one query, held against the files.

    Ranking is that of the index. Chunks, notes and the links of notes are given only as far as they
    stand in the files, with the lines, headings and titles they have there. Each note that is asked
    for takes one look at its file; ask for what may be shown, not for what might.
    """

    def __init__(self, view: IndexView, files: CurrentFiles) -> None:
        self._view = view
        self._files = files
        self._left_out: dict[str, set[ChunkId]] = {}
        self._unnamed: set[str] = set()

    @property
    def generation(self) -> int:
        """The generation of the index."""
        return self._view.generation

    @property
    def warnings(self) -> Sequence[str]:
        """What of the generation cannot be searched."""
        return self._view.warnings

    @property
    def chunk_vectors(self) -> VectorRows:
        """The vector of each chunk."""
        return self._view.chunk_vectors

    @property
    def link_vectors(self) -> VectorRows:
        """The vector of each sentence that holds a link."""
        return self._view.link_vectors

    @property
    def lexical(self) -> LexicalIndex:
        """The lexical index."""
        return self._view.lexical

    @property
    def pagerank(self) -> Mapping[str, float]:
        """PageRank of each note."""
        return self._view.pagerank

    def notes_named(self, name: str) -> Sequence[str]:
        """The notes whose title or alias was ``name`` when they were indexed."""
        return self._view.notes_named(name)

    def named_any(self, names: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Name -> the notes whose title or alias it was when they were indexed."""
        return self._view.named_any(names)

    def path_of(self, chunk_id: ChunkId) -> str | None:
        """The note that holds the chunk in the index."""
        return self._view.path_of(chunk_id)

    def paths_of(self, chunk_ids: Iterable[ChunkId]) -> Sequence[str | None]:
        """The notes that hold the chunks in the index."""
        return self._view.paths_of(chunk_ids)

    def chunk_ids_of(self, path: str) -> Sequence[ChunkId]:
        """The chunks of a note in the index."""
        return self._view.chunk_ids_of(path)

    def links_to(self, paths: Iterable[str]) -> Sequence[LinkRow]:
        """The links to these notes in the index: there may be any number, so none is looked at.

        Those of one note as it is now are :meth:`links_from`.
        """
        return self._view.links_to(paths)

    def chunks(self, ids: Iterable[ChunkId]) -> Mapping[ChunkId, ChunkRow]:
        """The chunks that stand among ``ids``; the others count as left out."""
        rows = self._view.chunks(ids)
        looks = self._looks(row.path for row in rows.values())
        found: dict[ChunkId, ChunkRow] = {}
        for chunk_id, row in rows.items():
            now = _standing(row, looks[row.path])
            if now is None:
                self._leave_out(row.path, chunk_id, looks[row.path])
            else:
                found[chunk_id] = now
        return found

    def notes_at(self, paths: Iterable[str]) -> Mapping[str, NoteRow]:
        """The notes that are there among ``paths``, called what they are called now."""
        rows = self._view.notes_at(paths)
        found: dict[str, NoteRow] = {}
        for path, row in rows.items():
            look = self._files.look(row)
            if look.there:
                found[path] = row if look.changed is None else look.changed.named(row)
        return found

    def links_from(self, paths: Iterable[str]) -> Sequence[LinkRow]:
        """The links that these notes held when they were indexed and hold still."""
        links = self._view.links_from(paths)
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
        self._leave_out(path, id_, look)
        return False

    def standing(
        self,
        hits: Iterable[NodeWithScore],
        *,
        shown: int,
        places: int,
        most: int,
        each_note: bool = False,
    ) -> list[NodeWithScore]:
        """The hits whose text still stands, in their order.

        :param shown: how many a reply shows: what is dropped above the last of them is left out.
        :param places: how many have a place; for those to spare, no changed note is read.
        :param most: how many can matter to the reply; hits and files are not looked at for more.
        :param each_note: give the first hit of each note only, and none of no note.
        """
        kept: list[NodeWithScore] = []
        seen: set[str] = set()
        left = iter(hits)
        while some := list(islice(left, most - len(kept))):
            paths = self._view.paths_of(hit.node.node_id for hit in some)
            rows = self._view.notes_at(path for path in paths if path is not None)
            for hit, path in zip(some, paths, strict=True):
                if each_note and (path is None or path in seen):
                    continue
                if path is not None and path in rows:
                    look = self._files.look(rows[path], read=len(kept) < places)
                    if not self._hit_stands(hit.node.node_id, look):
                        if len(kept) < shown:
                            self._leave_out(path, hit.node.node_id, look)
                        continue
                seen.add(path or "")
                kept.append(hit)
        return kept

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

    def _hit_stands(self, chunk_id: ChunkId, look: Look) -> bool:
        if not look.there or look.changed is None:
            return look.there
        row = self._view.chunks([chunk_id]).get(chunk_id)
        return row is not None and look.changed.chunk(row) is not None

    def _looks(self, paths: Iterable[str]) -> dict[str, Look]:
        distinct = list(dict.fromkeys(paths))
        rows = self._view.notes_at(distinct)
        gone = Look(there=False)
        return {path: self._files.look(rows[path]) if path in rows else gone for path in distinct}

    def _leave_out(self, path: str, chunk_id: ChunkId, look: Look) -> None:
        self._left_out.setdefault(path, set()).add(chunk_id)
        if not look.nameable:
            self._unnamed.add(path)


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

    def held(self, view: IndexView) -> CurrentView:
        """Return a view as far as it stands in the files now; make one for each query."""
        files = CurrentFiles(
            self.vault, max_note_bytes=self.max_note_bytes, comment_links=self.comment_links
        )
        return CurrentView(view, files)

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        trace = trace_of(query_bundle)
        with trace.timed(STAGE):
            view = view_for(query_bundle, self.view)
            now = self.held(view)
            places = places_of(view, nodes)
            there = now.chunks(
                place.chunk_id
                for hit, place in zip(nodes, places, strict=True)
                if place is not None and place.chunk_id == hit.node.node_id
            )
            before = view.chunks(there)
            found: list[NodeWithScore] = []
            for hit, place in zip(nodes, places, strict=True):
                id_ = hit.node.node_id
                if place is None:
                    stays: NodeWithScore | None = hit
                elif place.chunk_id != id_:
                    text = hit.node.get_content(MetadataMode.NONE)
                    stays = hit if now.says(place.path, id_, text) else None
                elif id_ not in there or not _is_linked(hit, now):
                    stays = None
                else:
                    moved = there[id_] != before[id_]
                    stays = _placed(hit, now, id_) if moved else hit
                if stays is not None:
                    found.append(stays)
            if warning := now.warning(self.remedy):
                trace.warn(warning)
            if len(found) < len(nodes):
                trace.count(STAGE, left_out=len(nodes) - len(found))
        return found


def _is_linked(hit: NodeWithScore, now: CurrentView) -> bool:
    """Whether the link that brought a connected note stands where it stood; True for a source."""
    link = hit.node.metadata.get("linked_from")
    if not isinstance(link, dict):
        return True
    return any(
        without_marks(one.sentence) == link.get("sentence")
        for one in now.links_from([str(link.get("path"))])
    )


def _placed(hit: NodeWithScore, now: CurrentView, chunk_id: str) -> NodeWithScore | None:
    """A hit with the lines, headings and title that its passage has now."""
    if is_light(hit.node):
        return hit
    chunk = now.chunks([chunk_id])[chunk_id]
    note = now.notes_at([chunk.path]).get(chunk.path)
    if note is None:
        return None
    fresh = to_node(chunk, note).metadata
    fresh.pop("role")
    return NodeWithScore(node=noted(hit.node, **fresh), score=hit.score)
