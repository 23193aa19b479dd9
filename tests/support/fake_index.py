"""An index in memory that a person can read: texts are angles, ids say where they stand.

The text ``"30"`` is embedded as the direction of 30 degrees, so the similarity of two texts is the
cosine of the angle between them. Chunk 1 of ``Plan.md`` has the id ``Plan.md:1``.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from tests.support.product import (
    Batch,
    Catalog,
    ChunkRow,
    IndexLayout,
    LexicalIndex,
    LinkRow,
    NoteRecord,
    NoteRow,
    NoteStatus,
    Reader,
    Tokenizer,
    field_tokens,
    stamp_of,
    write_ahead,
)


def name_key(name: str) -> str:
    """NFC, case-folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", name).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def direction(angle: float) -> list[float]:
    return [math.cos(math.radians(angle)), math.sin(math.radians(angle))]


def cosine(angle: float) -> float:
    """The similarity of two texts that are ``angle`` degrees apart."""
    return math.cos(math.radians(angle))


class AngleEmbedding(BaseEmbedding):
    """Embeds a number as the direction of so many degrees, and counts how often it is asked."""

    asked: int = 0

    def _get_query_embedding(self, query: str) -> list[float]:
        self.asked += 1
        return direction(float(query))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return direction(float(text))


class BrokenEmbedding(AngleEmbedding):
    """A model that cannot be run."""

    def _get_query_embedding(self, query: str) -> list[float]:
        raise RuntimeError(f"no weights for {query}")


class AngleTable:
    """Vectors by id, given as angles."""

    def __init__(self) -> None:
        self.angles: dict[str, float] = {}

    dimensions = 2

    def __len__(self) -> int:
        return len(self.angles)

    def matrix(self) -> tuple[list[str], Any]:
        rows = [direction(angle) for angle in self.angles.values()]
        return list(self.angles), np.array(rows, dtype=np.float32).reshape(len(rows), 2)

    @property
    def ids(self) -> list[str]:
        return list(self.angles)

    def rows(self, ids: Iterable[str]) -> tuple[list[str], Any]:
        known = [one for one in ids if one in self.angles]
        rows = [direction(self.angles[one]) for one in known]
        return known, np.array(rows, dtype=np.float32).reshape(len(rows), 2)

    def similarities(self, query: Any, ids: Sequence[str]) -> Any:
        return np.array(
            [
                float(np.dot(query, direction(self.angles[one]))) if one in self.angles else np.nan
                for one in ids
            ],
            dtype=np.float32,
        )

    def top(
        self, query: Any, k: int, allowed: Collection[str] | None = None, **_: Any
    ) -> list[tuple[str, float]]:
        ids = [one for one in self.angles if allowed is None or one in allowed]
        scores = dict(zip(ids, self.similarities(query, ids).tolist(), strict=True))
        return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


@dataclass
class FakeIndex:
    """An :class:`notehop.app.retrieval.index_view.IndexView`, filled by :meth:`add` and :meth:`link`."""

    generation: int = 1
    warnings: tuple[str, ...] = ()
    lexical: LexicalIndex = field(default_factory=LexicalIndex)
    chunk_vectors: AngleTable = field(default_factory=AngleTable)
    link_vectors: AngleTable = field(default_factory=AngleTable)
    pagerank: dict[str, float] = field(default_factory=dict)
    notes: dict[str, NoteRow] = field(default_factory=dict)
    rows: dict[str, ChunkRow] = field(default_factory=dict)
    all_links: list[LinkRow] = field(default_factory=list)

    def add(
        self,
        path: str,
        *angles: float | None,
        aliases: tuple[str, ...] = (),
        title: str | None = None,
        modified: float = 0.0,
        rank: float = 0.1,
    ) -> FakeIndex:
        """Add a note with a chunk for each angle; None is a chunk without a vector."""
        name = path.rsplit("/", 1)[-1].removesuffix(".md")
        self.notes[path] = NoteRow(
            path, title or name, NoteStatus.INDEXED, aliases=aliases, modified=modified
        )
        self.pagerank[path] = rank
        for at, angle in enumerate(angles):
            id_ = f"{path}:{at}"
            text = f"{name} part {at}"
            self.rows[id_] = ChunkRow(
                id_, path, at, (name, f"Part {at}"), 10 * at + 1, 10 * at + 9, text, id_, {}
            )
            self.lexical.update((), [(id_, {})])
            if angle is not None:
                self.chunk_vectors.angles[id_] = angle
        return self

    def link(
        self,
        source: str,
        target: str | None,
        angle: float | None = None,
        *,
        chunk: int | None = 0,
        to: int | None = 0,
        kind: str = "link",
        status: str = "resolved",
        fragment: str | None = None,
        sentence: str | None = None,
    ) -> FakeIndex:
        """Add a link from a chunk of a note to one of another.

        ``angle`` is that of its sentence, None for a link without one; ``chunk=None`` makes it a
        property; ``to=None`` gives it no chunk to lead to.
        """
        ordinal = sum(1 for one in self.all_links if one.path == source)
        sentence_id = None if angle is None else f"{source}#{ordinal}"
        if sentence_id is not None and angle is not None:
            self.link_vectors.angles[sentence_id] = angle
        self.all_links.append(
            LinkRow(
                path=source,
                ordinal=ordinal,
                chunk_id=None if chunk is None else f"{source}:{chunk}",
                line=ordinal + 1,
                kind="property" if chunk is None else kind,
                syntax="wikilink",
                raw=f"[[{target}]]",
                raw_target=str(target),
                fragment=fragment,
                display=None,
                sentence="" if angle is None else sentence or f"See {target}.",
                sentence_id=sentence_id,
                property="related" if chunk is None else None,
                status=status,
                via="path" if target else None,
                target_path=target,
                target_chunk_id=None if target is None or to is None else f"{target}:{to}",
                fragment_found=None if fragment is None else True,
            )
        )
        return self

    def words(self, chunk_id: str, content: str) -> FakeIndex:
        """Give a chunk, known or not, its words in the lexical index."""
        tokens = field_tokens(
            Tokenizer("en"),
            title="",
            aliases=(),
            tags=(),
            page_type=None,
            headings=(),
            content=content,
        )
        self.lexical.update((), [(chunk_id, tokens)])
        if chunk_id in self.rows:
            self.rows[chunk_id] = replace(self.rows[chunk_id], tokens=tokens)
        return self

    def on_disk(self, folder: Path) -> Reader:
        """Write all of it as an index of the product; the caller closes the reader."""
        layout = IndexLayout(folder / "index")
        layout.create(folder)
        records = [
            NoteRecord(
                note,
                tuple(row for row in self.rows.values() if row.path == path),
                tuple(self.links_from([path])),
            )
            for path, note in self.notes.items()
        ]
        batch = Batch(upsert=tuple(records), meta={"fingerprint": {"dimensions": 2}})
        with Catalog.open(layout.catalog, create=True) as catalog:
            write_ahead(
                layout,
                stamp_of({**catalog.meta(), **batch.meta}),
                chunks=self.chunk_vectors.matrix(),
                links=self.link_vectors.matrix(),
            )
            catalog.commit(batch)
        return Reader.open(layout)

    def chunks(self, ids: Sequence[str]) -> Mapping[str, ChunkRow]:
        return {one: self.rows[one] for one in ids if one in self.rows}

    def notes_at(self, paths: Iterable[str]) -> Mapping[str, NoteRow]:
        return {path: self.notes[path] for path in paths if path in self.notes}

    def notes_named(self, name: str) -> Sequence[str]:
        return sorted(
            path
            for path, note in self.notes.items()
            if name_key(name) in {name_key(one) for one in (note.title, *note.aliases)}
        )

    def named_any(self, names: Iterable[str]) -> dict[str, Sequence[str]]:
        return {name: found for name in names if (found := self.notes_named(name))}

    def path_of(self, chunk_id: str) -> str | None:
        row = self.rows.get(chunk_id)
        return None if row is None else row.path

    def paths_of(self, chunk_ids: Iterable[str]) -> Sequence[str | None]:
        return [self.path_of(one) for one in chunk_ids]

    def chunk_ids_of(self, path: str) -> Sequence[str]:
        return tuple(row.id for row in self.rows.values() if row.path == path)

    def links_from(self, paths: Sequence[str]) -> Sequence[LinkRow]:
        found = [one for one in self.all_links if one.path in paths]
        return sorted(found, key=lambda one: (one.path, one.ordinal))

    def links_to(self, paths: Sequence[str]) -> Sequence[LinkRow]:
        found = [one for one in self.all_links if one.target_path in paths]
        return sorted(found, key=lambda one: (one.path, one.ordinal))


class Listed(BaseRetriever):
    """A retriever that answers every query with the same hits, and keeps what it was asked."""

    def __init__(self, *hits: tuple[str, float | None], text: str = "") -> None:
        super().__init__()
        self.hits = hits
        self.text = text
        self.queries: list[str] = []
        self.nodes = {id_: TextNode(id_=id_, text=text) for id_, _ in hits}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.queries.append(query_bundle.query_str)
        return [NodeWithScore(node=self.nodes[id_], score=score) for id_, score in self.hits]


class Broken(BaseRetriever):
    """A retriever that fails."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        raise self.error


def light(*ids: str, score: float = 1.0) -> list[NodeWithScore]:
    """Hits without text, best first."""
    return [
        NodeWithScore(node=TextNode(id_=id_), score=score / rank)
        for rank, id_ in enumerate(ids, start=1)
    ]


def ids(hits: Sequence[NodeWithScore]) -> list[str]:
    return [hit.node.node_id for hit in hits]
