"""From a parsed note and its nodes to the rows the catalog keeps of it. Pure."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from notehop.indexing.graph.fragments import outline_of_note
from notehop.indexing.graph.model import FragmentSpan, ResolvedLink
from notehop.indexing.stores.catalog_rows import PackedTokens, pack_tokens
from notehop.indexing.stores.model import ChunkId, ChunkRow, LinkRow, NoteRow, NoteStatus
from notehop.indexing.tokens import Tokenizer, field_tokens
from notehop.indexing.vault.model import Link, LinkKind, LinkSyntax, Note
from notehop.indexing.vault.walk import FileEntry

if TYPE_CHECKING:
    from llama_index.core.schema import BaseNode


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


def unread_row(file: FileEntry, status: NoteStatus, reason: str) -> NoteRow:
    """The row of a note that was not, or could not be, read."""
    return NoteRow(
        path=file.path,
        title=file.path.rsplit("/", 1)[-1].removesuffix(".md"),
        status=status,
        reason=reason,
        size=file.size,
        mtime_ns=file.mtime_ns,
    )


def sentence_id(embedded: str) -> str:
    """Name of the vector of a link's sentence: equal text, equal vector, one row."""
    return hashlib.sha256(embedded.encode()).hexdigest()[:32]


def embedded_sentence(title: str, sentence: str) -> str:
    """What the model sees of the sentence around a link; its title says what it is about."""
    return f"{title}: {sentence}"


def said_of(title: str, link: Link) -> str | None:
    """What the model sees of the sentence around a link of a note; None if it sees nothing."""
    # A link into its own note never connects notes, so its sentence needs no vector.
    return embedded_sentence(title, link.sentence) if link.sentence and link.target else None


def link_row(
    ordinal: int,
    title: str,
    resolved: ResolvedLink,
    chunk_id: ChunkId | None,
    target_chunk_id: ChunkId | None,
) -> LinkRow:
    """The row of one link of a note."""
    link = resolved.link
    found = resolved.resolution
    sentence = said_of(title, link)
    return LinkRow(
        path=resolved.source,
        ordinal=ordinal,
        chunk_id=chunk_id,
        line=link.line,
        kind=link.kind.value,
        syntax=link.syntax.value,
        raw=link.raw,
        raw_target=link.target,
        fragment=link.fragment,
        display=link.display,
        sentence=link.sentence,
        sentence_id=sentence_id(sentence) if sentence else None,
        property=link.property,
        status=found.status.value,
        via=found.via.value if found.via else None,
        target_path=found.path,
        target_chunk_id=target_chunk_id,
        fragment_found=resolved.fragment_found,
        candidates=found.candidates,
    )


def redirected(row: LinkRow, resolved: ResolvedLink, target_chunk_id: ChunkId | None) -> LinkRow:
    """The same link after its target changed; equal to ``row`` when nothing did."""
    found = resolved.resolution
    return replace(
        row,
        status=found.status.value,
        via=found.via.value if found.via else None,
        target_path=found.path,
        target_chunk_id=target_chunk_id,
        fragment_found=resolved.fragment_found,
        candidates=found.candidates,
    )


def as_written(row: LinkRow) -> Link:
    """The link of a row, with what resolution needs; offsets are not kept by the catalog."""
    return Link(
        kind=LinkKind(row.kind),
        syntax=LinkSyntax(row.syntax),
        raw=row.raw,
        target=row.raw_target,
        fragment=row.fragment,
        display=row.display,
        line=row.line,
        start=0,
        end=0,
        sentence=row.sentence,
        property=row.property,
    )


ChunkLines = Sequence[tuple[ChunkId, int, int]]
"""(id, first line, last line) of the chunks of a note, in order."""


def chunk_of_span(chunks: ChunkLines, span: FragmentSpan | None) -> ChunkId | None:
    """The chunk a link shows: the one where the span begins, else the note's first.

    None when the note has no chunks.
    """
    if not chunks:
        return None
    if span is None:
        return chunks[0][0]
    at = bisect_right([first for _, first, _ in chunks], span.first_line) - 1
    return chunks[max(at, 0)][0]


def chunk_at(starts: Sequence[int], ids: Sequence[ChunkId]) -> Callable[[int], ChunkId | None]:
    """Return a function from a character offset to the chunk that holds it (None if no chunk)."""

    def find(offset: int) -> ChunkId | None:
        at = bisect_right(starts, offset) - 1
        return ids[at] if at >= 0 else None

    return find
