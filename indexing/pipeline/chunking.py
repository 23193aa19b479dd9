"""From notes that were read to their rows and passages with vectors: one LlamaIndex pipeline.

While the notes of one write are stored, those of the next are embedded.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from llama_index.core.ingestion import IngestionPipeline, run_transformations
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
from pydantic import ConfigDict

from notehop.config.errors import IndexFailure, UsageError
from notehop.indexing.embed.embedder import Embedder, Vectors
from notehop.indexing.enrich.prompts import Passage, header_requests
from notehop.indexing.enrich.store import EnrichmentStore
from notehop.indexing.graph.fragments import outline_of_note
from notehop.indexing.nodes.parser import NoteDocument, SectionNodeParser
from notehop.indexing.report import Progress
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

    ``kept`` are the nodes whose own vector is in the index, ``sentences`` vectors of sentences by id.
    """

    reads: Sequence[Read]
    notes: list[ChunkedNote]
    touch: Mapping[str, tuple[int, int]]
    kept: set[str] = field(default_factory=set)
    sentences: Mapping[str, Any] = field(default_factory=dict)


class Embedding:
    """Embeds with the model of a run, whose passes it turns into progress.

    ``texts`` counts what went through the model, ``opened`` says whether it was more than ``few``
    characters at once. One thread may embed while another stores.
    """

    def __init__(self, progress: Progress, few: int) -> None:
        self.texts = 0
        self.opened = False
        self.stopped = False
        self._few = few
        self._progress = progress
        self._embedder: Embedder | None = None
        self._truncated = 0
        self._turn = threading.Lock()
        self._embedded = self._shown = 0

    def use(self, embedder: Embedder) -> None:
        """Embed with this model from now on."""
        self._embedder, self._truncated = embedder, embedder.cut

    def embed(self, texts: Sequence[str], tokens: int) -> Vectors:
        """Embed texts; with them so many more tokens of the run are done.

        :raises ModelError: if the model fails.
        """
        assert self._embedder is not None
        before = self._embedded

        def done(count: int) -> None:
            if self.stopped:
                raise InterruptedError("nobody waits for these texts any more")
            self.reached(before + tokens * count // len(texts))

        matrix = self._embedder.embed(texts, done)
        self._embedded = before + tokens
        self.opened |= sum(map(len, texts)) > self._few
        self.texts += len(texts)
        return matrix

    def reached(self, tokens: int) -> None:
        """Show that so many tokens of the run are done, unless more were shown already."""
        with self._turn:
            if tokens > self._shown:
                self._progress.advance(tokens - self._shown)
                self._shown = tokens

    def warnings(self) -> list[str]:
        """What the model did not see of the texts; empty if it saw all."""
        count = self._embedder.cut - self._truncated if self._embedder is not None else 0
        if not count:
            return []
        return [f"{count} texts were longer than the model's window; their ends have no vector"]


Begin = Callable[[Callable[[], ChunkedBatch]], "Future[ChunkedBatch]"]


@contextmanager
def in_background(embedding: Embedding) -> Iterator[Begin]:
    """Give what begins work in a thread of its own, in the order in which it comes.

    Until many texts were embedded, work is done at once, in the caller's thread: that is where the
    model is opened, since two threads that import libraries can lock each other up.
    """
    with ThreadPoolExecutor(1, "notehop-embed") as pool:

        def begin(work: Callable[[], ChunkedBatch]) -> Future[ChunkedBatch]:
            if embedding.opened:
                return pool.submit(work)
            done: Future[ChunkedBatch] = Future()
            done.set_result(work())
            return done

        try:
            yield begin
        except BaseException:
            embedding.stopped = True
            pool.shutdown(cancel_futures=True)
            raise


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
        """Change text, hash and id of the nodes that have a header."""
        wanted: list[tuple[BaseNode, str]] = []
        for every in _by_path(nodes).values():
            # Properties say what they are about by themselves.
            own = [node for node in every if node.metadata["kind"] == "text"]
            passages = [
                Passage(tuple(node.metadata["heading_path"]), node.metadata["body"]) for node in own
            ]
            requests = header_requests(every[0].metadata["title"], passages)
            wanted += zip(own, (one.key(self.model) for one in requests), strict=False)
        texts = self._texts([key for _, key in wanted]) if wanted else {}
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

    def _texts(self, keys: Sequence[str]) -> dict[str, str]:
        try:
            with EnrichmentStore.reading(self.store) as store:
                return {key: text.text for key, text in store.texts(keys).items()}
        except IndexFailure:
            # Headers are worth having, and no run waits for them.
            return {}


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
            _rename(node, node.get_content(MetadataMode.EMBED))
        return changed


def _rename(node: BaseNode, embedded: str) -> None:
    """Give a node the hash of what is embedded of it now, and another id if that is new."""
    digest = hashlib.sha256(embedded.encode()).hexdigest()[:32]
    if digest != node.metadata["embedded_hash"]:
        node.metadata["embedded_hash"] = digest
        whole = json.dumps([node.node_id, embedded])
        node.id_ = hashlib.sha256(whole.encode()).hexdigest()[:32]


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

    embed: Callable[[Sequence[str]], Vectors]

    def __call__(self, nodes: Sequence[BaseNode], **_: Any) -> Sequence[BaseNode]:
        """Set ``embedding`` on every node; order and number of the nodes stay."""
        missing = [(n, n.get_content(MetadataMode.EMBED)) for n in nodes if n.embedding is None]
        texts = list(dict.fromkeys(text for _, text in missing))
        if texts:
            vectors = dict(zip(texts, self.embed(texts), strict=True))
            for node, text in missing:
                node.embedding = vectors[text].tolist()
        return nodes


@dataclass(frozen=True, slots=True)
class Chunker:
    """Cuts and embeds notes.

    ``parser`` fits the model, and is asked for when the first note has to be cut; ``tokenizer`` is
    that of the lexical index. ``headers`` names the store of what a model wrote to place passages in
    their notes, and the model; ``transformations`` are the user's own, after those.
    """

    parser: Callable[[], SectionNodeParser]
    tokenizer: Tokenizer
    catalog: Catalog
    embedding: Embedding
    headers: tuple[Path, Mapping[str, Any]] | None = None
    transformations: Sequence[TransformComponent] = ()

    def embed(self, batch: ChunkedBatch, tokens: int) -> ChunkedBatch:
        """Cut the notes and embed what the catalog does not know.

        :param tokens: what is done with it, as the progress counts.
        :raises ModelError: if the model fails.
        :raises UsageError: if the user's transformations do not keep the passages.
        """
        indexed = [(item, item.note) for item in batch.notes if item.note is not None]
        if not indexed:
            return batch
        parser = self.parser()
        steps: list[TransformComponent] = [parser]
        if self.headers is not None:
            store, model = self.headers
            steps.append(PutHeaders(store=store, model=model, parser=parser))
        if self.transformations:
            steps.append(UserTransformations(transformations=[*self.transformations]))
        steps.append(KnownVectors(catalog=self.catalog, kept=batch.kept))
        steps.append(EmbedMissing(embed=lambda texts: self.embedding.embed(texts, tokens)))
        pipeline = IngestionPipeline(transformations=steps, disable_cache=True)
        documents = [NoteDocument.of(note) for _, note in indexed]
        by_path = _by_path(pipeline.run(documents=documents, show_progress=False))
        sentences: dict[str, str] = {}
        for item, note in indexed:
            item.nodes = by_path.get(item.row.path, ())
            item.chunks = tuple(chunk_row(node, item.row, self.tokenizer) for node in item.nodes)
            texts = (text_around(item.row.title, link) for link in note.links)
            sentences |= {sentence_id(text): text for text in texts if text is not None}
        known = self.catalog.known_sentences(sentences)
        batch.sentences = self.embed_sentences(
            {one: text for one, text in sentences.items() if one not in known}
        )
        return batch

    def embed_sentences(self, sentences: Mapping[str, str]) -> Mapping[str, Any]:
        """Id -> vector of sentences, given by id."""
        if not sentences:
            return {}
        matrix = self.embedding.embed([*sentences.values()], 0)
        return dict(zip(sentences, matrix, strict=True))


def uncut(reads: Sequence[Read], skip: Iterable[tuple[FileEntry, str]] = ()) -> ChunkedBatch:
    """The notes of one write, not cut yet.

    :param reads: notes that were read, each path once.
    :param skip: notes that are kept out unread, and why.
    """
    notes = [ChunkedNote(unread_row(file, NoteStatus.SKIPPED, reason)) for file, reason in skip]
    touch: dict[str, tuple[int, int]] = {}
    for read in reads:
        file = read.file
        if read.note is not None:
            row = note_row(file, read.note)
            notes.append(ChunkedNote(row, read.note if row.status is NoteStatus.INDEXED else None))
        elif read.problem:
            row = unread_row(file, NoteStatus.FAILED, read.problem)
            notes.append(ChunkedNote(replace(row, content_hash=read.content_hash)))
        else:
            touch[file.path] = file.size, file.mtime_ns
    return ChunkedBatch(reads, notes, touch)


def _by_path(nodes: Iterable[BaseNode]) -> dict[str, list[BaseNode]]:
    found: dict[str, list[BaseNode]] = {}
    for node in nodes:
        found.setdefault(node.metadata["path"], []).append(node)
    return found


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
