"""The shared parts of the chain: the query that carries its generation and its trace, their base classes,
the nodes of chunks, and where hits stand in the index."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import PurePosixPath
from posixpath import dirname
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    ObjectType,
    QueryBundle,
    RelatedNodeInfo,
    RelatedNodeType,
    TextNode,
)
from numpy.typing import NDArray

from notehop.app.models import Explanation
from notehop.indexing.nodes.break_points import reopened
from notehop.indexing.stores.filter_labels import date_label
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.stores.rows import ChunkId, ChunkRow, NoteRow

if TYPE_CHECKING:
    from notehop.app.retrieval.freshness import CurrentView
    from notehop.app.retrieval.relevance import QueryWord

Node = TypeVar("Node", bound=BaseNode)

Vector = NDArray[np.float32]  # shape (dimensions,), length 1 unless it is all zeros
Hits = Sequence[tuple[ChunkId, float]]  # distinct ids with their score, best first, ties by id

_log = logging.getLogger(__name__)

ViewSource: TypeAlias = Snapshot | Callable[[], Snapshot]
"""A generation of the index, or what gives the newest one: a reader's ``snapshot``."""

Nodes: TypeAlias = list[NodeWithScore]


@dataclass(slots=True)
class Trace:
    """What the stages of one query report, as the fields of a reply have it.

    ``counts`` maps stage -> what was counted -> how many (or which, for a name); ``timings_ms`` maps
    stage -> milliseconds, added up when a stage runs twice. ``text`` is what was searched for, the query
    without its filters, None until that is known. ``plan`` is None where nothing was ranked. ``changed``
    counts the notes that were found to have changed. A trace that nobody kept logs its warnings, so that
    they are never lost.
    """

    kept: bool = True
    warnings: list[str] = field(default_factory=list)
    counts: dict[str, dict[str, int | str]] = field(default_factory=dict)
    timings_ms: dict[str, float] = field(default_factory=dict)
    text: str | None = None
    filters: list[str] = field(default_factory=list)
    searched_for: dict[str, str] = field(default_factory=dict)
    plan: Explanation | None = None
    changed: int = 0

    def warn(self, message: str, *, instead: str | None = None) -> None:
        """Keep a warning for the reply, once, in the place of ``instead`` if that was said."""
        if instead in self.warnings:
            self.warnings.remove(instead)
        if message in self.warnings:
            return
        self.warnings.append(message)
        if not self.kept:
            _log.warning("%s", message)

    def count(self, stage: str, **numbers: int | str) -> None:
        self.counts.setdefault(stage, {}).update(numbers)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time that the body takes to the stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            passed = (time.perf_counter() - start) * 1000
            self.timings_ms[stage] = self.timings_ms.get(stage, 0.0) + passed


@dataclass
class TracedQuery(QueryBundle):
    """A query that carries its trace and its generation through every component it is handed to.

    The first stage that opens a generation sets ``view``, so that all see the same one; the first that
    embeds the query its ``vector``, of length 1; the first that looks at files ``current``. ``words``
    are those of its text, where they have been read. ``expand`` is set while a
    ``GraphEnhancedRetriever`` asks: what is linked with the best of what signals found, fused, best
    first, as chunks with scores; and the weight of that ranking's vote. What is a LlamaIndex query's own
    is never written to: the caller may ask with it again.
    """

    trace: Trace = field(default_factory=Trace)
    view: Snapshot | None = field(default=None, repr=False)
    vector: Vector | None = field(default=None, repr=False)
    current: CurrentView | None = field(default=None, repr=False)
    words: tuple[QueryWord, ...] = field(default=(), repr=False)
    expand: tuple[Callable[[Sequence[ChunkId]], Hits], float] | None = field(default=None, repr=False)


def ensure_traced(query: QueryBundle, *, kept: bool = True) -> TracedQuery:
    """Return the query itself if it carries a trace, else one like it that does."""
    if isinstance(query, TracedQuery):
        return query
    return TracedQuery(
        query_str=query.query_str,
        custom_embedding_strs=query.custom_embedding_strs,
        embedding=query.embedding,
        trace=Trace(kept=kept),
    )


def view_for(query: TracedQuery, source: ViewSource) -> Snapshot:
    """Return the generation that answers the query, which keeps it for its later stages; what cannot
    be searched in it becomes a warning of the query."""
    if not callable(source):
        view = source
    elif query.view is not None:
        return query.view
    else:
        view = query.view = source()
    for warning in view.warnings:
        query.trace.warn(warning)
    return view


class TracedRetriever(BaseRetriever):
    """A retriever whose query carries its trace, and which runs in a thread where it is awaited: model,
    index and files are read without asyncio."""

    def find(self, query: TracedQuery) -> Nodes:
        """Return the hits, best first."""
        raise NotImplementedError

    def _retrieve(self, query_bundle: QueryBundle) -> Nodes:
        # Warnings are the reply's where somebody reads the trace; else they are logged.
        return self.find(ensure_traced(query_bundle, kept=False))

    async def _aretrieve(self, query_bundle: QueryBundle) -> Nodes:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class VaultPostprocessor(BaseNodePostprocessor):
    """A postprocessor that is wired to an index, which is no part of what is serialised."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    view: Any = Field(exclude=True, description="A ViewSource: the index.")

    stage: ClassVar[str]
    """Its name in a query's trace."""

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        """Return the hits as the stage leaves them."""
        raise NotImplementedError

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        query = ensure_traced(query_bundle or QueryBundle(""), kept=False)
        with query.trace.timed(self.stage):
            return self.process(nodes, query, view_for(query, self.view))

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex serialises the component."""
        return cls.__name__

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # The index is open once, and so is the model: a copy is wired to the same.
        return self.model_copy()

    def __getstate__(self) -> dict[str, Any]:
        # LlamaIndex takes what cannot be pickled out of the living object: give it another.
        return BaseNodePostprocessor.__getstate__(self.model_copy())


MODEL_METADATA = frozenset({"path", "title", "heading", "role", "label", "reason"})
"""The metadata that LlamaIndex's own synthesizers show a model: of a connected note, why it is there."""


def to_node(chunk: ChunkRow, note: NoteRow, siblings: Sequence[ChunkId] = (), **more: Any) -> TextNode:
    """Return the node of a chunk, in the role of a source, with its id; its source node is the note,
    whose id is its path. ``date`` is what ``after:`` looks at. Code that begins above it is opened again,
    in a line that the note does not have there.

    :param siblings: the chunks of the note in text order, for the nodes before and after it.
    :param more: metadata beside what says where the chunk stands, shown to no model.
    """
    ranks: list[int] = []
    for text in chunk.heading_path:
        above = ranks[-1] if ranks else 0
        higher_ranks = (rank for rank, said, _ in note.outline if said == text and rank > above)
        ranks.append(min(higher_ranks, default=above + 1))
    metadata: dict[str, Any] = {
        "path": chunk.path,
        "file_path": chunk.path,
        "title": note.title,
        "folder": dirname(chunk.path),
        "heading": " > ".join(chunk.heading_path),
        "heading_path": list(chunk.heading_path),
        "heading_ranks": ranks,
        "first_line": chunk.first_line,
        "last_line": chunk.last_line,
        "ordinal": chunk.ordinal,
        "kind": chunk.kind,
        "role": "source",
        "tags": list(note.tags),
        "type": note.page_type or "",
        "date": date_label(note),
        # A question may call the note by one of them.
        **({"aliases": list(note.aliases)} if note.aliases else {}),
        **more,
    }
    source = RelatedNodeInfo(node_id=note.path, node_type=ObjectType.DOCUMENT, hash=note.content_hash)
    relationships: dict[NodeRelationship, RelatedNodeType] = {NodeRelationship.SOURCE: source}
    if chunk.id in siblings:
        at = siblings.index(chunk.id)
        before, after = siblings[:at][-1:], siblings[at + 1 :][:1]
        for way, neighbours in (NodeRelationship.PREVIOUS, before), (NodeRelationship.NEXT, after):
            for one in neighbours:
                relationships[way] = RelatedNodeInfo(node_id=one, node_type=ObjectType.TEXT)
    return TextNode(
        id_=chunk.id,
        text=reopened(chunk.text) if chunk.kind == "code" else chunk.text,
        metadata=metadata,
        relationships=relationships,
        **_hidden_metadata(metadata),
    )


class _StubNode(TextNode):
    """A node without text; LlamaIndex takes nodes of one hash for one node."""

    @property
    def hash(self) -> str:
        """The id: text and metadata are not there yet."""
        return self.node_id


def stub_node(chunk_id: ChunkId, **metadata: Any) -> TextNode:
    """Return a node without text, which :func:`fill_stubs` brings."""
    return _StubNode(id_=chunk_id, metadata=metadata)


def stub_hits(hits: Hits) -> list[NodeWithScore]:
    """Return a node without text or metadata for each hit with a score above 0."""
    return [NodeWithScore(node=stub_node(one), score=float(score)) for one, score in hits if score > 0]


def with_metadata(node: Node, **metadata: Any) -> Node:
    """Return a copy with more metadata, shown to no model. The node itself may be shared."""
    joined = {**node.metadata, **metadata}
    return node.model_copy(update={"metadata": joined, **_hidden_metadata(joined)})


def hit_with_metadata(hit: NodeWithScore, **metadata: Any) -> NodeWithScore:
    """Return a copy of a hit whose node has more metadata, shown to no model."""
    return NodeWithScore(node=with_metadata(hit.node, **metadata), score=hit.score)


def is_stub(node: BaseNode) -> bool:
    """Tell whether a node still waits for its text."""
    return "path" not in node.metadata and not node.get_content()


def fill_stubs(hits: Sequence[NodeWithScore], view: Snapshot) -> list[NodeWithScore]:
    """Return the hits with text and metadata; a light one whose chunk this generation lacks is dropped."""
    chunks = view.chunks([hit.node.node_id for hit in hits if is_stub(hit.node)])
    notes = view.notes_at([chunk.path for chunk in chunks.values()])
    filled: list[NodeWithScore] = []
    for hit in hits:
        chunk = chunks.get(hit.node.node_id)
        if not is_stub(hit.node):
            filled.append(hit)
        elif chunk is not None and chunk.path in notes:
            siblings = view.chunk_ids_of(chunk.path)
            about = {**hit.node.metadata, **_table_metadata(chunk, siblings, view)}
            node = to_node(chunk, notes[chunk.path], siblings, **about)
            filled.append(NodeWithScore(node=node, score=hit.score))
    return filled


_TABLE_HEAD = re.compile(r"^\|.*\n\|[ \t:|-]*-[ \t:|-]*$", re.MULTILINE)
_ITEM_OR_ROW = re.compile(r"^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]|\|)", re.MULTILINE)


def _table_metadata(chunk: ChunkRow, siblings: Sequence[ChunkId], view: Snapshot) -> dict[str, Any]:
    """Of a chunk that begins or ends within a table or list: its head, and whether it goes on."""
    place = siblings.index(chunk.id)
    found: dict[str, Any] = {}
    if _ITEM_OR_ROW.search(chunk.text.rpartition("\n\n")[2]):
        after = view.chunks(siblings[place + 1 : place + 2]).values()
        found = {"goes_on": any(_ITEM_OR_ROW.match(one.text) for one in after)}
    if _continues_table(chunk.text):
        first = table_chunks(chunk, siblings, view)[0]
        if heads := _TABLE_HEAD.findall(first.text):
            found["table_head"] = heads[-1]
    return found


def table_chunks(chunk: ChunkRow, siblings: Sequence[ChunkId], view: Snapshot) -> Sequence[ChunkRow]:
    """Return the chunks of the table that a chunk has a part of, itself among them."""
    if not (chunk.text.startswith("|") or chunk.text.rpartition("\n")[2].startswith("|")):
        return [chunk]
    rows = view.chunks(siblings)
    parts = [rows[one] for one in siblings if one in rows]
    start = end = [one.id for one in parts].index(chunk.id)
    while start and _continues_table(parts[start].text):
        start -= 1
    while _continues_table("".join(one.text for one in parts[end + 1 : end + 2])):
        end += 1
    return parts[start : end + 1]


def _continues_table(text: str) -> bool:
    return text.startswith("|") and not _TABLE_HEAD.match(text)


def score_below(lowest: float, rank: int, count: int) -> float:
    """Return the score of one of ``count`` hits that stand below the ``lowest``, in its rank from 1."""
    share = 1.0 - rank / (count + 1)
    return lowest - (abs(lowest) or 1.0) * (1.0 - share)


def _hidden_metadata(metadata: Mapping[str, Any]) -> dict[str, list[str]]:
    """The fields of a node that hide its metadata from models."""
    return {
        "excluded_embed_metadata_keys": list(metadata),
        "excluded_llm_metadata_keys": [
            key for key, value in metadata.items() if key not in MODEL_METADATA or not value
        ],
    }


_WORD = re.compile(r"\w+")


# The same notes are linked to again and again: to read those words anew took a tenth of a search.
@lru_cache(maxsize=10_000)
def word_set(text: str) -> frozenset[str]:
    """Return the words of a sentence or a name; the last ones are cached, some 20 MB."""
    return frozenset(_WORD.findall(text.casefold()))


NO_KNOWN_HIT = (
    "none of the {count} hits is of a note of this index, by chunk id or by the path (or file_path) "
    "in its metadata, so nothing that is linked with them was looked for"
)

_COMPARED_CHARS = 80  # characters at the beginning of a text by which its chunk is found


class HitLocation(NamedTuple):
    """The note of a hit, and its chunk; of a hit of another index, the nearest one."""

    path: str
    chunk_id: ChunkId


def locate_hits(view: Snapshot, hits: Sequence[NodeWithScore]) -> list[HitLocation | None]:
    """Return where each hit stands; None for one that is of no note of the index.

    A hit whose id is that of no chunk is looked up by its metadata: ``path`` or ``file_path`` ends with
    the path of its note. Its chunk is that of its ``first_line`` and ``last_line``, else of its text,
    else the first.
    """
    paths = view.paths_of([hit.node.node_id for hit in hits])
    foreign = [hit.node for hit, path in zip(hits, paths, strict=True) if path is None]
    tails = [_path_suffixes(node.metadata) for node in foreign]
    known_notes = view.notes_at(dict.fromkeys(chain.from_iterable(tails)))
    # Of what a file's path may stand for in the vault the longest.
    foreign_ids = [
        next((view.chunk_ids_of(one) for one in note_tails if one in known_notes), ()) for note_tails in tails
    ]
    chunks = view.chunks(chain.from_iterable(foreign_ids))
    foreign_places = (
        _nearest_chunk(node, [chunks[one] for one in ids if one in chunks])
        for node, ids in zip(foreign, foreign_ids, strict=True)
    )
    return [
        next(foreign_places) if path is None else HitLocation(path, hit.node.node_id)
        for hit, path in zip(hits, paths, strict=True)
    ]


def _path_suffixes(metadata: Mapping[str, object]) -> list[str]:
    """The ends of the path that a hit's metadata name, the longest first."""
    for key in ("path", "file_path"):
        told = metadata.get(key)
        if isinstance(told, str) and told.strip():
            parts = [part for part in PurePosixPath(told.replace("\\", "/")).parts if part != "/"]
            return ["/".join(parts[at:]) for at in range(len(parts))]
    return []


def _nearest_chunk(node: BaseNode, chunks: Sequence[ChunkRow]) -> HitLocation | None:
    """The place of the chunk, of those of its note, that a node of another index is nearest to."""
    nearest = chunks[0] if chunks else None
    first, last = node.metadata.get("first_line"), node.metadata.get("last_line")
    if isinstance(first, int) and isinstance(last, int):
        nearest = max(
            chunks, key=lambda one: min(last, one.last_line) - max(first, one.first_line), default=None
        )
    else:
        text = " ".join(node.get_content(MetadataMode.NONE).split())
        for one in chunks:
            words = " ".join(one.text.split())
            if words and (text[:_COMPARED_CHARS] in words or words[:_COMPARED_CHARS] in text):
                nearest = one
                break
    return None if nearest is None else HitLocation(nearest.path, nearest.id)
