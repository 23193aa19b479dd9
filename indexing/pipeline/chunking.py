"""From notes that were read to their rows and passages with vectors: one LlamaIndex pipeline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llama_index.core.ingestion import IngestionPipeline, run_transformations
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
from pydantic import ConfigDict

from notehop.config import Settings
from notehop.config.errors import IndexFailure, UsageError
from notehop.indexing.embed.embedder import Embedder, Vectors
from notehop.indexing.enrich.prompts import HEADER_TOKENS, Passage, header_requests, model_identity
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.graph.resolve import outline_of_note
from notehop.indexing.nodes.chunker import text_id
from notehop.indexing.nodes.parser import NoteDocument, SectionNodeParser
from notehop.indexing.report import Progress
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.stores.catalog_rows import pack_tokens
from notehop.indexing.stores.rows import ChunkRow, NoteRow, NoteStatus
from notehop.indexing.tokens.tokenizer import Tokenizer, field_tokens
from notehop.indexing.vault.model import Link, Note
from notehop.indexing.vault.parse import Read
from notehop.indexing.vault.properties import linked_names, with_fields
from notehop.indexing.vault.walk import FileEntry


@dataclass(slots=True)
class ChunkedNote:
    """A note on its way to the catalog; ``note``, nodes and chunks are of an indexed one only."""

    row: NoteRow
    note: Note | None = None
    nodes: Sequence[BaseNode] = ()
    chunks: tuple[ChunkRow, ...] = ()


class _Component(TransformComponent):
    model_config = ConfigDict(arbitrary_types_allowed=True)


class PutHeaders(_Component):
    """Put what a model wrote to place a passage in its note before its embedded text.

    That changes the vector of a passage and the name of its chunk, and nothing else: what is shown
    and quoted, and the words of the lexical index, are the note's own. Passages are cut to leave
    headers room, so that no word of a note loses its place in a vector to them.
    """

    store: Path
    model: Mapping[str, Any]
    parser: SectionNodeParser

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        wanted: list[tuple[BaseNode, str]] = []
        for every in _by_path(nodes).values():
            # Properties say what they are about by themselves.
            own = [node for node in every if node.metadata["kind"] != "properties"]
            passages = [Passage(tuple(node.metadata["heading_path"]), node.metadata["body"]) for node in own]
            requests = header_requests(every[0].metadata["title"], passages)
            wanted += zip(own, (one.key(self.model) for one in requests), strict=False)
        texts: dict[str, str] = {}
        if not wanted:
            return nodes
        # Headers are worth having, and no run waits for them.
        with suppress(IndexFailure), EnrichmentStore(self.store, read_only=True) as store:
            texts = store.texts([key for _, key in wanted])
        for node, key in wanted:
            if header := texts.get(key):
                spans = self.parser.count(header)
                if len(spans) > self.parser.reserve:
                    header = header[: spans[self.parser.reserve - 1][1]]
                frame, _sep, body = node.get_content(MetadataMode.NONE).partition("\n")
                embedded = f"{frame}\n{header}\n{body}"
                node.set_content(embedded)
                _rename(node, embedded)
        return nodes


class UserTransformations(_Component):
    """Transformations of the user's own: what they change of a passage is what is embedded."""

    transformations: list[Any]

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """
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
            _rename(node, node.get_content(MetadataMode.EMBED))
        return changed


def _rename(node: BaseNode, embedded: str) -> None:
    """Give a node the hash of what is embedded of it now, and another id if that is new."""
    digest = text_id(embedded)
    if digest != node.metadata["embedded_hash"]:
        node.metadata["embedded_hash"] = digest
        node.id_ = text_id(json.dumps([node.node_id, embedded]))


class Embed(_Component):
    """Give each node the vector that the index holds of the same embedded text, or a new one."""

    catalog: Catalog
    embed: Callable[[Sequence[str]], Vectors]

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        texts = {one.metadata["embedded_hash"]: one.get_content(MetadataMode.EMBED) for one in nodes}
        holders = self.catalog.chunk_by_embedded_hash(texts)
        known = dict(zip(*self.catalog.vectors("chunks", holders.values()), strict=True))
        vectors = {digest: known[id_] for digest, id_ in holders.items() if id_ in known}
        missing = [digest for digest in texts if digest not in vectors]
        if missing:
            new = self.embed([texts[digest] for digest in missing])
            vectors |= zip(missing, new, strict=True)
        for node in nodes:
            node.embedding = vectors[node.metadata["embedded_hash"]].tolist()
        return nodes


class Chunker:
    """Cuts notes and embeds them with the model of a run, whose passes it turns into progress, in
    tokens of the notes. ``texts`` counts what went through the model."""

    def __init__(
        self,
        embedder: Embedder,
        catalog: Catalog,
        settings: Settings,
        language: str,
        headers: Path | None,
        transformations: Sequence[TransformComponent],
        progress: Progress,
    ) -> None:
        """
        :param headers: the texts of a model, of which headers are put to passages; None for none.
        :param transformations: the user's own, after the headers.
        """
        reserve = 0 if headers is None else HEADER_TOKENS
        parser = SectionNodeParser.of(embedder, settings.chunking, language, reserve=reserve)
        steps: list[TransformComponent] = [parser]
        if headers is not None:
            model = model_identity(settings)
            steps.append(PutHeaders(store=headers, model=model, parser=parser))
        if transformations:
            steps.append(UserTransformations(transformations=[*transformations]))
        steps.append(Embed(catalog=catalog, embed=self._embed))
        self._pipeline = IngestionPipeline(transformations=steps, disable_cache=True)
        self._embedder, self._catalog, self._progress = embedder, catalog, progress
        self._tokenizer = Tokenizer(language)
        self._part = self._shown = self.texts = 0

    def chunk(self, notes: Sequence[ChunkedNote], tokens: int) -> Mapping[str, Any]:
        """Cut those notes that are indexed, and embed what the catalog does not know.

        :param tokens: of the notes; when it returns, so many more of the run are done.
        :returns: id -> vector of the sentences with links that it does not know.
        :raises ModelError: if the model fails.
        :raises UsageError: if the user's transformations do not keep the passages.
        """
        self._part, self._shown = tokens, 0
        indexed = [(item, item.note) for item in notes if item.note is not None]
        documents = [NoteDocument.of(note) for _, note in indexed]
        nodes = self._pipeline.run(documents=documents, show_progress=False) if documents else ()
        by_path = _by_path(nodes)  # transformations of the user's get no empty list
        sentences: dict[str, str] = {}
        for item, note in indexed:
            item.nodes = by_path.get(item.row.path, ())
            item.chunks = tuple(_chunk_row(node, item.row, self._tokenizer) for node in item.nodes)
            texts = (text_around(item.row.title, link) for link in note.links)
            sentences |= {text_id(text): text for text in texts if text is not None}
        known = {*self._catalog.vectors("links", sentences)[0]}
        new = [one for one in sentences if one not in known]
        vectors = self._embed([sentences[one] for one in new]) if new else ()
        self._show(tokens)
        return dict(zip(new, vectors, strict=True))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return self._embedder.embed(texts, lambda count: self._show(self._part * count // len(texts)))

    def _show(self, tokens: int) -> None:
        self._progress.advance(max(0, tokens - self._shown))
        self._shown = max(tokens, self._shown)


def not_chunked(reads: Iterable[Read], skip: Iterable[tuple[FileEntry, str]]) -> list[ChunkedNote]:
    """The rows of notes that were read and whose content is not known, and of those kept out.

    :param skip: notes that are kept out unread, and why.
    """
    notes = [ChunkedNote(_unread_row(file, NoteStatus.SKIPPED, reason)) for file, reason in skip]
    for read in reads:
        note, file, digest = read.note, read.file, read.content_hash
        if note is not None and note.excluded is None:
            notes.append(ChunkedNote(_note_row(file, note), note))
        elif note is not None and note.excluded is not None:
            # It leaves no word of itself in the index, but its hash: it was read.
            row = _unread_row(file, NoteStatus.SKIPPED, note.excluded, note.content_hash)
            notes.append(ChunkedNote(row))
        elif read.problem:
            row = _unread_row(file, NoteStatus.FAILED, read.problem, digest)
            notes.append(ChunkedNote(row))
    return notes


def _by_path(nodes: Iterable[BaseNode]) -> dict[str, list[BaseNode]]:
    found: dict[str, list[BaseNode]] = {}
    for node in nodes:
        found.setdefault(node.metadata["path"], []).append(node)
    return found


def _unread_row(file: FileEntry, status: NoteStatus, reason: str, content_hash: str = "") -> NoteRow:
    """The row of a note that is not in the index."""
    return NoteRow(
        path=file.path,
        title=_file_title(file.path),
        status=status,
        reason=reason,
        size=file.size,
        mtime_ns=file.mtime_ns,
        content_hash=content_hash,
    )


def _file_title(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def _note_row(file: FileEntry, note: Note) -> NoteRow:
    """The row of an indexed note; ``modified`` is the file's time unless it names one."""
    outline = outline_of_note(note)
    return NoteRow(
        path=note.path,
        title=note.title,
        status=NoteStatus.INDEXED,
        aliases=note.aliases,
        tags=note.tags,
        page_type=note.page_type,
        front_matter=with_fields(note.front_matter, note.fields),
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


def _chunk_row(node: BaseNode, note: NoteRow, tokenizer: Tokenizer) -> ChunkRow:
    """The row of a chunk that the section node parser made."""
    meta = node.metadata
    # What it is called beside its title.
    names = dict.fromkeys((_file_title(note.path), *note.aliases))
    tokens = field_tokens(
        tokenizer,
        title=note.title,
        aliases=tuple(name for name in names if name != note.title),
        tags=note.tags,
        page_type=note.page_type,
        headings=[(int(level), str(text)) for level, text in meta["headings"]],
        content=meta["body"],
        linked=linked_names(note.front_matter),
    )
    return ChunkRow(
        id=node.node_id,
        path=note.path,
        ordinal=meta["ordinal"],
        heading_path=tuple(meta["heading_path"]),
        first_line=meta["first_line"],
        last_line=meta["last_line"],
        text=meta["body"],
        embedded_hash=meta["embedded_hash"],
        kind=meta["kind"],
        tokens=pack_tokens(tokens),
    )


def text_around(title: str, link: Link) -> str | None:
    """What the model sees of the sentence around a link of a note, with the title, which says what it
    is about; None if it sees nothing."""
    # A link into its own note never connects notes, so its sentence needs no vector.
    return f"{title}: {link.sentence}" if link.sentence and link.target else None
