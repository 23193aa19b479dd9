"""From notes that were read to what one transaction writes, and the vectors it needs.

Touches: index (reads), model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode

from config.settings import ChunkingSettings
from indexing.embed.embedder import Embedder
from indexing.graph.files import VaultFiles
from indexing.graph.fragments import outline_of_note
from indexing.graph.names import affected_names
from indexing.graph.resolve import resolve_link
from indexing.nodes import NoteDocument, SectionNodeParser
from indexing.pipeline.meter import Meter
from indexing.pipeline.records import (
    ChunkLines,
    chunk_at,
    chunk_row,
    embedded_sentence,
    link_row,
    note_row,
    unread_row,
)
from indexing.pipeline.relink import relink
from indexing.pipeline.targets import Targets
from indexing.pipeline.vectorise import Embed, EmbedMissing, KeepKnownVectors, Matrix
from indexing.reading import Read
from indexing.stores.catalog import Catalog
from indexing.stores.model import Batch, ChunkRow, LinkRow, NoteRecord, NoteRow, NoteStatus
from indexing.stores.vectors import Vectors
from indexing.tokens import Tokenizer
from indexing.vault.model import Note


@dataclass(frozen=True, slots=True)
class Prepared:
    """One write: what goes into the vector store before the transaction, and what leaves it after.

    ``chunks`` and ``sentences`` are (ids, float32 matrix) of vectors that the store lacks.
    ``replaced`` and ``unsaid`` are ids that may be unreferenced once the batch is committed.
    """

    batch: Batch
    chunks: tuple[list[str], Matrix]
    sentences: tuple[list[str], Matrix]
    replaced: frozenset[str]
    unsaid: frozenset[str]

    @property
    def touches_vectors(self) -> bool:
        """Whether the vector store has to be opened for it."""
        return bool(self.chunks[0] or self.sentences[0] or self.replaced or self.unsaid)


@dataclass(frozen=True, slots=True)
class Tools:
    """What cuts notes and what embeds the pieces: both come with the model."""

    parser: SectionNodeParser
    embed: Embed

    @classmethod
    def of(
        cls, embedder: Embedder, chunking: ChunkingSettings, language: str, meter: Meter
    ) -> Tools:
        """Tools around a loaded model."""
        return cls(
            SectionNodeParser.of(embedder, chunking, language),
            lambda texts: meter.embed(embedder, texts),
        )


@dataclass(slots=True)
class _Note:
    """A note of this batch on its way to rows."""

    row: NoteRow
    note: Note | None = None
    nodes: Sequence[BaseNode] = ()
    chunks: tuple[ChunkRow, ...] = ()


class BatchBuilder:
    """Builds writes against one catalog, with what the run has learnt of the vault so far."""

    def __init__(
        self,
        *,
        catalog: Catalog,
        vectors: Callable[[], Vectors],
        files: VaultFiles,
        tools: Callable[[], Tools],
        tokenizer: Tokenizer,
        dimensions: int,
    ) -> None:
        self._catalog = catalog
        self._vectors = vectors
        self._files = files
        self._targets = Targets(catalog)
        self._tools = tools
        self._tokenizer = tokenizer
        self._dimensions = dimensions
        self._known: set[str] = set()

    def build(
        self,
        reads: Sequence[Read],
        rows: Sequence[NoteRow] = (),
        gone: Sequence[str] = (),
        names: Collection[str] = (),
        *,
        every_link: bool = False,
    ) -> Prepared:
        """Prepare one write.

        :param reads: notes that were read, each path once.
        :param rows: notes that are kept out unread.
        :param gone: paths to delete.
        :param names: link names to resolve again beside those of the notes given.
        :param every_link: resolve all links again.
        """
        notes = [_Note(row) for row in rows]
        notes += [self._opened(read) for read in reads if read.problem or read.note]
        touch = {
            read.file.path: (read.file.size, read.file.mtime_ns)
            for read in reads
            if not (read.problem or read.note)
        }
        written = [item.row.path for item in notes]
        before = self._catalog.notes_at([*written, *gone])
        learnt = self._learn(notes, gone, before)
        self._cut([item for item in notes if item.note is not None])
        self._publish(notes, gone)
        records = tuple(self._record(item) for item in notes)
        batch = Batch(
            upsert=records,
            delete=tuple(gone),
            touch=touch,
            relink=relink(
                self._catalog,
                self._files,
                self._targets,
                names=learnt.union(names),
                changed=[*written, *gone],
                except_from={*written, *gone},
                every_link=every_link,
            ),
        )
        return Prepared(
            batch=batch,
            chunks=self._new_chunks(notes),
            sentences=self._new_sentences(records),
            replaced=frozenset(key.id for key in self._catalog.chunk_keys([*written, *gone]))
            - {chunk.id for record in records for chunk in record.chunks},
            unsaid=frozenset(self._catalog.sentence_ids([*written, *gone])),
        )

    def _opened(self, read: Read) -> _Note:
        if read.note is None:
            reason = read.problem or ""
            return _Note(unread_row(read.file, NoteStatus.FAILED, reason))
        row = note_row(read.file, read.note)
        return _Note(row, read.note if row.status is NoteStatus.INDEXED else None)

    def _learn(
        self, notes: Sequence[_Note], gone: Sequence[str], before: Mapping[str, NoteRow]
    ) -> frozenset[str]:
        """Bring the files up to these notes; return the names whose links may lead elsewhere."""
        names: set[str] = set()
        for item in notes:
            row, old = item.row, before.get(item.row.path)
            if old is None or old.status is not row.status or old.aliases != row.aliases:
                names |= affected_names(row.path, (*row.aliases, *(old.aliases if old else ())))
            self._files.add(
                row.path, excluded=row.status is NoteStatus.SKIPPED, aliases=row.aliases
            )
        for path in gone:
            old = before.get(path)
            names |= affected_names(path, old.aliases if old else ())
        return frozenset(names)

    def _cut(self, notes: Sequence[_Note]) -> None:
        """Run the ingestion pipeline: sections, known vectors, new vectors."""
        if not notes:
            return
        documents = [NoteDocument.of(item.note) for item in notes if item.note is not None]
        tools = self._tools()
        pipeline = IngestionPipeline(
            transformations=[
                tools.parser,
                KeepKnownVectors(lookup=self._lookup),
                EmbedMissing(embed=tools.embed),
            ],
            disable_cache=True,
        )
        by_path: dict[str, list[BaseNode]] = {}
        for node in pipeline.run(documents=documents, show_progress=False):
            by_path.setdefault(node.metadata["path"], []).append(node)
        for item in notes:
            item.nodes = by_path.get(item.row.path, ())
            item.chunks = tuple(chunk_row(node, item.row, self._tokenizer) for node in item.nodes)

    def _lookup(self, nodes: Sequence[BaseNode]) -> Mapping[str, list[float]]:
        """Vectors by node id: of the same chunk, else of any chunk that says the same."""
        wanted = {node.node_id: node.metadata["embedded_hash"] for node in nodes}
        same_text = self._catalog.chunk_by_embedded_hash(set(wanted.values()))
        if not same_text:
            self._known = set()
            return {}
        own = self._catalog.chunks(wanted)
        source = {
            node_id: node_id if node_id in own else same_text[digest]
            for node_id, digest in wanted.items()
            if node_id in own or digest in same_text
        }
        ids, matrix = self._vectors().get("chunks", sorted(set(source.values())))
        found = dict(zip(ids, matrix, strict=True))
        self._known = {node_id for node_id, at in source.items() if at == node_id and at in found}
        return {node_id: found[at].tolist() for node_id, at in source.items() if at in found}

    def _publish(self, notes: Sequence[_Note], gone: Sequence[str]) -> None:
        """Tell the targets what these notes hold, before any link is resolved."""
        for item in notes:
            lines: ChunkLines = [(c.id, c.first_line, c.last_line) for c in item.chunks]
            outline = outline_of_note(item.note) if item.note else None
            self._targets.put(item.row.path, outline, lines)
        for path in gone:
            self._targets.put(path, None, ())

    def _record(self, item: _Note) -> NoteRecord:
        return NoteRecord(item.row, item.chunks, tuple(self._links(item)))

    def _links(self, item: _Note) -> Iterable[LinkRow]:
        note = item.note
        if note is None:
            return
        holder = chunk_at(
            [int(node.metadata["start"]) for node in item.nodes], [c.id for c in item.chunks]
        )
        resolved = [
            resolve_link(self._files, note.path, link, self._targets.outline) for link in note.links
        ]
        self._targets.load_chunks(
            res.resolution.path for res in resolved if res.resolution.path is not None
        )
        for ordinal, res in enumerate(resolved):
            yield link_row(
                ordinal,
                note.title,
                res,
                holder(res.link.start) if res.link.property is None else None,
                self._targets.chunk_of(res),
            )

    def _new_chunks(self, notes: Sequence[_Note]) -> tuple[list[str], Matrix]:
        nodes = [n for item in notes for n in item.nodes if n.node_id not in self._known]
        matrix = np.asarray([n.embedding for n in nodes], dtype=np.float32)
        return [n.node_id for n in nodes], matrix.reshape(len(nodes), self._dimensions)

    def _new_sentences(self, records: Sequence[NoteRecord]) -> tuple[list[str], Matrix]:
        said = {
            link.sentence_id: embedded_sentence(record.note.title, link.sentence)
            for record in records
            for link in record.links
            if link.sentence_id is not None
        }
        known = self._catalog.known_sentences(said)
        new = {one: text for one, text in said.items() if one not in known}
        if not new:
            return [], np.zeros((0, self._dimensions), dtype=np.float32)
        return list(new), self._tools().embed(list(new.values()))
