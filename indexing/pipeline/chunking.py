"""From notes that were read to their rows and chunks, before anything is looked up or embedded.

Touches: model (its tokenizer); index (reads the headers of passages).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, MetadataMode

from notehop.indexing.enrich.headers import Headers
from notehop.indexing.graph.fragments import outline_of_note
from notehop.indexing.nodes.parser import NoteDocument, SectionNodeParser
from notehop.indexing.pipeline.state import unread_row
from notehop.indexing.stores.catalog_rows import PackedTokens, pack_tokens
from notehop.indexing.stores.model import ChunkRow, NoteRow, NoteStatus
from notehop.indexing.tokens import Tokenizer, field_tokens
from notehop.indexing.vault.model import Link, Note
from notehop.indexing.vault.parse import Read
from notehop.indexing.vault.walk import FileEntry

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode


@dataclass(slots=True)
class ChunkedNote:
    """A note on its way to the catalog; ``note``, nodes and chunks are of an indexed one only."""

    row: NoteRow
    note: Note | None = None
    nodes: Sequence[BaseNode] = ()
    chunks: tuple[ChunkRow, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkedBatch:
    """The notes of one write. ``touch`` maps those whose content is known to (size, mtime_ns)."""

    reads: Sequence[Read]
    notes: list[ChunkedNote]
    touch: Mapping[str, tuple[int, int]]

    def texts(self) -> dict[str, str]:
        """Hash -> what the model is to see of each chunk."""
        return {
            node.metadata["embedded_hash"]: node.get_content(MetadataMode.EMBED)
            for item in self.notes
            for node in item.nodes
        }

    def sentences(self) -> dict[str, str]:
        """Id -> what the model is to see of each sentence that holds a link."""
        said = (
            text_around(item.row.title, link)
            for item in self.notes
            if item.note is not None
            for link in item.note.links
        )
        return {sentence_id(text): text for text in said if text is not None}


class Chunker:
    """Cuts notes with the tokenizer of the model, which is loaded for the first that is indexed."""

    def __init__(
        self,
        parser: Callable[[], SectionNodeParser],
        tokenizer: Tokenizer,
        headers: Headers | None = None,
    ) -> None:
        """Take what cuts.

        :param parser: fits the model; asked when the first note has to be cut.
        :param tokenizer: that of the lexical index.
        :param headers: what a model wrote to place passages in their notes.
        """
        self._parser = parser
        self._tokenizer = tokenizer
        self._headers = headers

    def chunk(self, reads: Sequence[Read], rows: Iterable[NoteRow] = ()) -> ChunkedBatch:
        """Cut the notes of one write.

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
        documents = [NoteDocument.of(item.note) for item in notes if item.note is not None]
        if documents:
            pipeline = IngestionPipeline(transformations=[self._parser()], disable_cache=True)
            by_path: dict[str, list[BaseNode]] = {}
            for node in pipeline.run(documents=documents, show_progress=False):
                by_path.setdefault(node.metadata["path"], []).append(node)
            if self._headers is not None:
                parser = self._parser()
                self._headers.apply(by_path.values(), parser.count, parser.reserve)
            for item in notes:
                if item.note is not None:
                    item.nodes = by_path.get(item.row.path, ())
                    item.chunks = tuple(
                        chunk_row(node, item.row, self._tokenizer) for node in item.nodes
                    )
        return ChunkedBatch(reads, notes, touch)


def _opened(read: Read) -> ChunkedNote:
    if read.note is None:
        return ChunkedNote(unread_row(read.file, NoteStatus.FAILED, read.problem or ""))
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
