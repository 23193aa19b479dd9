"""From notes that were read to their rows and passages with vectors: one LlamaIndex pipeline.

Touches: model; index (reads).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from llama_index.core.ingestion import IngestionPipeline, run_transformations
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
from pydantic import ConfigDict

from notehop.config.errors import UsageError
from notehop.indexing.enrich.headers import Headers
from notehop.indexing.graph.fragments import outline_of_note
from notehop.indexing.nodes.parser import NoteDocument, SectionNodeParser
from notehop.indexing.pipeline.embedding import EmbeddingProgress, Matrix
from notehop.indexing.pipeline.state import unread_row
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_rows import PackedTokens, pack_tokens
from notehop.indexing.stores.model import ChunkRow, NoteRow, NoteStatus
from notehop.indexing.tokens import Tokenizer, field_tokens
from notehop.indexing.vault.model import Link, Note
from notehop.indexing.vault.parse import Read
from notehop.indexing.vault.walk import FileEntry


@dataclass(slots=True)
class ChunkedNote:
    """A note on its way to the catalog; ``note``, nodes and chunks are of an indexed one only."""

    row: NoteRow
    note: Note | None = None
    nodes: Sequence[BaseNode] = ()
    chunks: tuple[ChunkRow, ...] = ()


@dataclass(slots=True)
class ChunkedBatch:
    """The notes of one write. ``touch`` maps those whose content is known to (size, mtime_ns).

    ``kept`` are the nodes whose own vector is in the index, ``spoken`` vectors of sentences by id.
    """

    reads: Sequence[Read]
    notes: list[ChunkedNote]
    touch: Mapping[str, tuple[int, int]]
    kept: set[str] = field(default_factory=set)
    spoken: Mapping[str, Any] = field(default_factory=dict)

    def sentences(self) -> dict[str, str]:
        """Id -> what the model is to see of each sentence that holds a link."""
        said = (
            text_around(item.row.title, link)
            for item in self.notes
            if item.note is not None
            for link in item.note.links
        )
        return {sentence_id(text): text for text in said if text is not None}


class _Component(TransformComponent):
    model_config = ConfigDict(arbitrary_types_allowed=True)


class PutHeaders(_Component):
    """Put what a model wrote to place a passage in its note before its embedded text."""

    headers: Headers
    parser: SectionNodeParser

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Change text, hash and id of the nodes that have a header."""
        self.headers.apply(_by_path(nodes).values(), self.parser.count, self.parser.reserve)
        return nodes


class UserTransformations(_Component):
    """Transformations of the user's own: what they change of a passage is what is embedded."""

    transformations: list[Any]

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """Run them, and name anew the nodes that the model sees otherwise now.

        :raises UsageError: if they do not give back every passage, in the order in which it came.
        """
        before = [node.node_id for node in nodes]
        changed = run_transformations(nodes, self.transformations, **kwargs)
        if [node.node_id for node in changed] != before:
            names = ", ".join(type(one).__name__ for one in self.transformations)
            raise UsageError(
                f"the transformations ({names}) gave back other passages than they were given; "
                "they may change what is embedded of a passage, and not which passages there are"
            )
        for node in changed:
            embedded = node.get_content(MetadataMode.EMBED)
            digest = hashlib.sha256(embedded.encode()).hexdigest()[:32]
            if digest != node.metadata["embedded_hash"]:
                node.metadata["embedded_hash"] = digest
                whole = json.dumps([node.node_id, embedded])
                node.id_ = hashlib.sha256(whole.encode()).hexdigest()[:32]
        return changed


class KnownVectors(_Component):
    """Give each node the vector that the index holds of the same embedded text.

    ``kept`` gathers the nodes that have their own in the index.
    """

    catalog: Catalog
    kept: set[str]

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set ``embedding`` on known nodes; order and number of the nodes stay."""
        wanted = {node.node_id: node.metadata["embedded_hash"] for node in nodes}
        same_text = self.catalog.chunk_by_embedded_hash(wanted.values())
        own = self.catalog.known_chunks(wanted) if same_text else set()
        source = {
            node_id: node_id if node_id in own else same_text[digest]
            for node_id, digest in wanted.items()
            if node_id in own or digest in same_text
        }
        found = dict(zip(*self.catalog.vectors("chunks", source.values()), strict=True))
        self.kept.update(one for one, at in source.items() if at == one and at in found)
        for node in nodes:
            vector = found.get(source.get(node.node_id, ""))
            node.embedding = None if vector is None else vector.tolist()
        return nodes


class EmbedMissing(_Component):
    """Embed the nodes that have no vector yet, each distinct text once."""

    embed: Callable[[Sequence[str]], Matrix]

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set ``embedding`` on every node; order and number of the nodes stay."""
        missing = [(n, n.get_content(MetadataMode.EMBED)) for n in nodes if n.embedding is None]
        texts = list(dict.fromkeys(text for _, text in missing))
        if texts:
            vectors = dict(zip(texts, self.embed(texts), strict=True))
            for node, text in missing:
                node.embedding = vectors[text].tolist()
        return nodes


class Chunker:
    """Cuts and embeds notes with one model, which is loaded for the first that is indexed."""

    def __init__(
        self,
        parser: Callable[[], SectionNodeParser],
        tokenizer: Tokenizer,
        catalog: Catalog,
        embedding: EmbeddingProgress,
        headers: Headers | None = None,
        transformations: Sequence[TransformComponent] = (),
    ) -> None:
        """Take what cuts and embeds.

        :param parser: fits the model; asked when the first note has to be cut.
        :param tokenizer: that of the lexical index.
        :param catalog: whose vectors are taken for what it knows.
        :param headers: what a model wrote to place passages in their notes.
        :param transformations: the user's own, after those.
        """
        self._parser = parser
        self._tokenizer = tokenizer
        self._catalog = catalog
        self._embedding = embedding
        self._headers = headers
        self._transformations = list(transformations)

    def open(self, reads: Sequence[Read], rows: Iterable[NoteRow] = ()) -> ChunkedBatch:
        """The notes of one write, not cut yet.

        :param reads: notes that were read, each path once.
        :param rows: notes that are kept out unread.
        """
        notes = [ChunkedNote(row) for row in rows]
        notes += [_opened(read) for read in reads if read.problem or read.note]
        touch = {
            read.file.path: (read.file.size, read.file.mtime_ns)
            for read in reads
            if not (read.problem or read.note)
        }
        return ChunkedBatch(reads, notes, touch)

    def embed(self, batch: ChunkedBatch, tokens: int) -> ChunkedBatch:
        """Cut the notes and embed what the catalog does not know.

        :param tokens: what is done with it, as the progress counts.
        :raises ModelError: if the model fails.
        :raises UsageError: if the user's transformations do not keep the passages.
        """
        documents = [NoteDocument.of(item.note) for item in batch.notes if item.note is not None]
        if not documents:
            return batch
        known = KnownVectors(catalog=self._catalog, kept=batch.kept)
        missing = EmbedMissing(embed=lambda texts: self._embedding.embed(texts, tokens))
        steps: list[TransformComponent] = [self._parser(), known, missing]
        if self._transformations:
            steps.insert(1, UserTransformations(transformations=self._transformations))
        if self._headers is not None:
            steps.insert(1, PutHeaders(headers=self._headers, parser=self._parser()))
        pipeline = IngestionPipeline(transformations=steps, disable_cache=True)
        by_path = _by_path(pipeline.run(documents=documents, show_progress=False))
        for item in batch.notes:
            if item.note is not None:
                item.nodes = by_path.get(item.row.path, ())
                item.chunks = tuple(
                    chunk_row(node, item.row, self._tokenizer) for node in item.nodes
                )
        said = batch.sentences()
        spoken = self._catalog.known_sentences(said)
        batch.spoken = self.embed_sentences(
            {one: text for one, text in said.items() if one not in spoken}
        )
        return batch

    def embed_sentences(self, said: Mapping[str, str]) -> Mapping[str, Any]:
        """Id -> vector of sentences, given by id."""
        if not said:
            return {}
        matrix = self._embedding.embed([*said.values()], 0)
        return dict(zip(said, matrix, strict=True))


def _by_path(nodes: Iterable[BaseNode]) -> dict[str, list[BaseNode]]:
    found: dict[str, list[BaseNode]] = {}
    for node in nodes:
        found.setdefault(node.metadata["path"], []).append(node)
    return found


def _opened(read: Read) -> ChunkedNote:
    if read.note is None:
        row = unread_row(read.file, NoteStatus.FAILED, read.problem or "")
        return ChunkedNote(replace(row, content_hash=read.content_hash))
    row = note_row(read.file, read.note)
    return ChunkedNote(row, read.note if row.status is NoteStatus.INDEXED else None)


def note_row(file: FileEntry, note: Note) -> NoteRow:
    """The row of a note that was read; ``modified`` is the file's time unless it names one."""
    if note.excluded is not None:
        # An excluded note leaves no word of itself in the index, but its hash: it was read.
        row = unread_row(file, NoteStatus.SKIPPED, note.excluded)
        return replace(row, content_hash=note.content_hash)
    outline = outline_of_note(note)
    return NoteRow(
        path=note.path,
        title=note.title,
        status=NoteStatus.INDEXED,
        aliases=note.aliases,
        tags=note.tags,
        page_type=note.page_type,
        front_matter=note.front_matter,
        created=note.created,
        modified=note.modified if note.modified is not None else file.mtime_ns / 1e9,
        size=file.size,
        mtime_ns=file.mtime_ns,
        content_hash=note.content_hash,
        outline=outline.headings,
        blocks=outline.blocks,
        line_count=outline.line_count,
        warnings=note.warnings,
    )


def names_of(note: NoteRow) -> tuple[str, ...]:
    """What a note is called: its title, its file's name where that differs, its aliases."""
    name = note.path.rsplit("/", 1)[-1].removesuffix(".md")
    return tuple(dict.fromkeys((note.title, name, *note.aliases)))


def chunk_row(node: BaseNode, note: NoteRow, tokenizer: Tokenizer) -> ChunkRow:
    """The row of a chunk that the section node parser made."""
    meta = node.metadata
    headings = tuple(meta["heading_path"])
    body = str(meta["body"])
    return ChunkRow(
        id=node.node_id,
        path=note.path,
        ordinal=int(meta["ordinal"]),
        heading_path=headings,
        first_line=int(meta["first_line"]),
        last_line=int(meta["last_line"]),
        text=body,
        embedded_hash=str(meta["embedded_hash"]),
        kind=meta["kind"],
        # Packed at once: a string a word would take ten times the memory until they are stored.
        tokens=PackedTokens(
            pack_tokens(
                field_tokens(
                    tokenizer,
                    title=note.title,
                    aliases=names_of(note)[1:],
                    tags=note.tags,
                    page_type=note.page_type,
                    headings=[(int(level), str(text)) for level, text in meta["headings"]],
                    content=body,
                )
            )
        ),
    )


def sentence_id(embedded: str) -> str:
    """Name of the vector of a link's sentence: equal text, equal vector, one row."""
    return hashlib.sha256(embedded.encode()).hexdigest()[:32]


def embedded_sentence(title: str, sentence: str) -> str:
    """What the model sees of the sentence around a link; its title says what it is about."""
    return f"{title}: {sentence}"


def text_around(title: str, link: Link) -> str | None:
    """What the model sees of the sentence around a link of a note; None if it sees nothing."""
    # A link into its own note never connects notes, so its sentence needs no vector.
    return embedded_sentence(title, link.sentence) if link.sentence and link.target else None
