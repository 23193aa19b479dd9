"""From notes that were read to their rows and chunks, before anything is looked up or embedded.

Touches: model (its tokenizer); index (reads the headers of passages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import BaseNode, MetadataMode

from notehop.indexing.enrich.headers import Headers
from notehop.indexing.nodes.parser import NoteDocument, SectionNodeParser
from notehop.indexing.pipeline.records import chunk_row, note_row, said_of, sentence_id, unread_row
from notehop.indexing.stores.model import ChunkRow, NoteRow, NoteStatus
from notehop.indexing.tokens import Tokenizer
from notehop.indexing.vault.model import Note
from notehop.indexing.vault.parse import Read


@dataclass(slots=True)
class CutNote:
    """A note on its way to the catalog; ``note``, nodes and chunks are of an indexed one only."""

    row: NoteRow
    note: Note | None = None
    nodes: Sequence[BaseNode] = ()
    chunks: tuple[ChunkRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """The notes of one write. ``touch`` maps those whose content is known to (size, mtime_ns)."""

    reads: Sequence[Read]
    notes: list[CutNote]
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
            said_of(item.row.title, link)
            for item in self.notes
            if item.note is not None
            for link in item.note.links
        )
        return {sentence_id(text): text for text in said if text is not None}


class Cutter:
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

    def cut(self, reads: Sequence[Read], rows: Iterable[NoteRow] = ()) -> Cut:
        """Cut the notes of one write.

        :param reads: notes that were read, each path once.
        :param rows: notes that are kept out unread.
        """
        notes = [CutNote(row) for row in rows]
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
        return Cut(reads, notes, touch)


def _opened(read: Read) -> CutNote:
    if read.note is None:
        return CutNote(unread_row(read.file, NoteStatus.FAILED, read.problem or ""))
    row = note_row(read.file, read.note)
    return CutNote(row, read.note if row.status is NoteStatus.INDEXED else None)
