"""An index on disk that a person can read: texts are angles, ids say where they stand.

The text ``"30"`` is embedded as the direction of 30 degrees, so the similarity of two texts is the
cosine of the angle between them. Chunk 1 of ``Plan.md`` has the id ``Plan.md:1``.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from tests.support import product, sample_index


def direction(angle: float) -> list[float]:
    return [math.cos(math.radians(angle)), math.sin(math.radians(angle))]


def cosine(angle: float) -> float:
    """The similarity of two texts that are ``angle`` degrees apart."""
    return math.cos(math.radians(angle))


class AngleEmbedding(BaseEmbedding):
    """Embeds a number as the direction of so many degrees."""

    def _get_query_embedding(self, query: str) -> list[float]:
        return direction(float(query))

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return direction(float(text))


class BrokenEmbedding(AngleEmbedding):
    def _get_query_embedding(self, query: str) -> list[float]:
        raise RuntimeError(f"no weights for {query}")


def rows_of(angles: Mapping[str, float]) -> tuple[list[str], Any]:
    """Ids and their vectors."""
    rows = [direction(angle) for angle in angles.values()]
    return list(angles), np.array(rows, dtype=np.float32).reshape(len(rows), 2)


@dataclass(eq=False)
class FakeIndex:
    """Filled by :meth:`add` and :meth:`link`; what is read is read from an index of the product."""

    generation: int = 1
    warnings: tuple[str, ...] = ()
    lexical: product.LexicalIndex = field(default_factory=product.LexicalIndex)
    angles: dict[str, float] = field(default_factory=dict)
    link_angles: dict[str, float] = field(default_factory=dict)
    pagerank: dict[str, float] = field(default_factory=dict)
    notes: dict[str, product.NoteRow] = field(default_factory=dict)
    rows: dict[str, product.ChunkRow] = field(default_factory=dict)
    all_links: list[product.LinkRow] = field(default_factory=list)
    _read: tuple[str, product.Snapshot] | None = None

    def add(
        self, path: str, *angles: float | None, aliases: tuple[str, ...] = (), modified: float = 0.0
    ) -> FakeIndex:
        """Add a note with a chunk for each angle; None is a chunk without a vector."""
        name = path.rsplit("/", 1)[-1].removesuffix(".md")
        self.notes[path] = product.NoteRow(
            path, name, product.NoteStatus.INDEXED, aliases=aliases, modified=modified
        )
        self.pagerank[path] = 0.1
        for at, angle in enumerate(angles):
            id_ = f"{path}:{at}"
            text = f"{name} part {at}"
            self.rows[id_] = product.ChunkRow(
                id_,
                path,
                at,
                (name, f"Part {at}"),
                10 * at + 1,
                10 * at + 9,
                text,
                id_,
                product.pack_tokens({}),
            )
            self.lexical = self.lexical.updated((), [(id_, {})])
            if angle is not None:
                self.angles[id_] = angle
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
    ) -> FakeIndex:
        """Add a link from a chunk of a note to one of another.

        ``angle`` is that of its sentence, None for a link without one; ``chunk=None`` makes it a
        property; ``to=None`` gives it no chunk to lead to.
        """
        ordinal = sum(1 for one in self.all_links if one.path == source)
        sentence_id = None if angle is None else f"{source}#{ordinal}"
        if sentence_id is not None and angle is not None:
            self.link_angles[sentence_id] = angle
        row = replace(
            sample_index.link(source, ordinal, str(target).removesuffix(".md")),
            chunk_id=None if chunk is None else f"{source}:{chunk}",
            line=ordinal + 1,
            kind="property" if chunk is None else kind,
            raw_target=str(target),
            fragment=fragment,
            sentence="" if angle is None else f"See {target}.",
            sentence_id=sentence_id,
            property="related" if chunk is None else None,
            status=status,
            target_path=target,
            target_chunk_id=None if target is None or to is None else f"{target}:{to}",
            fragment_found=None if fragment is None else True,
        )
        self.all_links.append(row)
        return self

    def words(self, chunk_id: str, content: str) -> FakeIndex:
        """Give a chunk, known or not, its words in the lexical index."""
        tokens = product.field_tokens(
            product.Tokenizer("en"),
            title="",
            aliases=(),
            tags=(),
            page_type=None,
            headings=(),
            content=content,
        )
        self.lexical = self.lexical.updated((), [(chunk_id, tokens)])
        if chunk_id in self.rows:
            self.rows[chunk_id] = replace(self.rows[chunk_id], tokens=product.pack_tokens(tokens))
        return self

    def _on_disk(self, folder: Path) -> product.Reader:
        layout = product.IndexLayout(folder / "index")
        layout.create(folder)
        records = [
            product.NoteRecord(
                note,
                tuple(row for row in self.rows.values() if row.path == path),
                tuple(link for link in self.all_links if link.path == path),
            )
            for path, note in self.notes.items()
        ]
        batch = product.Batch(
            upsert=tuple(records),
            meta={"fingerprint": {"dimensions": 2}},
            vectors={"chunks": rows_of(self.angles), "links": rows_of(self.link_angles)},
        )
        with product.Catalog.open(layout.catalog, create=True) as catalog:
            catalog.commit(batch)
        return product.Reader(layout)

    def __getattr__(self, name: str) -> Any:
        """Read notes, chunks and links of an index on disk, made anew where something was added."""
        if name.startswith("_"):
            raise AttributeError(name)
        said = repr((self.notes, self.rows, self.all_links, self.angles, self.link_angles))
        if self._read is None or self._read[0] != said:
            folder = Path(tempfile.mkdtemp())
            reader = self._on_disk(folder)
            weakref.finalize(self, lambda: (reader.close(), shutil.rmtree(folder)))
            self._read = said, reader.snapshot()
        return getattr(self._read[1], name)


class Listed(BaseRetriever):
    """A retriever that answers every query with the same hits, and keeps what it was asked."""

    def __init__(self, *hits: tuple[str, float | None]) -> None:
        super().__init__()
        self.hits = hits
        self.queries: list[str] = []
        self.nodes = {id_: TextNode(id_=id_) for id_, _ in hits}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.queries.append(query_bundle.query_str)
        return [NodeWithScore(node=self.nodes[id_], score=score) for id_, score in self.hits]


class Broken(BaseRetriever):
    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002
        raise self.error


def light(*ids: str, score: float = 1.0) -> list[NodeWithScore]:
    """Hits without text, best first."""
    return [
        NodeWithScore(node=TextNode(id_=id_), score=score / rank) for rank, id_ in enumerate(ids, start=1)
    ]


def ids(hits: Sequence[NodeWithScore]) -> list[str]:
    return [hit.node.node_id for hit in hits]
