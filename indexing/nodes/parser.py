"""Notes as LlamaIndex documents, chunks as LlamaIndex nodes: ordinary components of a pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import (
    BaseNode,
    Document,
    MetadataMode,
    NodeRelationship,
    ObjectType,
    RelatedNodeInfo,
    TextNode,
)

from notehop.config.errors import UsageError
from notehop.indexing.nodes.chunker import split_note
from notehop.indexing.vault.model import CommentLinks, Note
from notehop.indexing.vault.parse import parse_markdown

if TYPE_CHECKING:
    from notehop.config.ranking_settings import ChunkingSettings
    from notehop.indexing.embed.embedder import Embedder


# What the metadata of a node says of its chunk as it is.
_KEPT = ("start", "end", "first_line", "last_line", "ordinal", "kind", "body", "embedded_hash")


class NoteDocument(Document):
    """A document whose note is parsed already; its text is the raw Markdown."""

    _note: Note | None = PrivateAttr(default=None)

    @classmethod
    def of(cls, note: Note) -> NoteDocument:
        """The document of a note; its id is the note's path."""
        document = cls(
            id_=note.path,
            text=note.text,
            metadata={"path": note.path},
            excluded_embed_metadata_keys=["path"],
            excluded_llm_metadata_keys=["path"],
        )
        document._note = note
        return document

    @property
    def note(self) -> Note | None:
        """The parsed note; None in another process, where LlamaIndex does not take it along."""
        return self._note


class SectionNodeParser(NodeParser):
    """Cuts documents whose text is Markdown and whose metadata has ``path`` into a ``TextNode`` a chunk.

    A node's id is the chunk id and its text what the model sees; its metadata (path, title,
    heading_path, headings, start, end, first_line, last_line, ordinal, kind, body, embedded_hash, and
    what the document brought) is kept from model and prompt.
    """

    count: Any = Field(exclude=True, description="Tells the tokens of a text: `TokenOffsets`.")
    max_tokens: int = Field(ge=2, description="Tokens of a chunk, title and headings included.")
    min_tokens: int = Field(default=32, ge=0, description="Smaller sections join a neighbour.")
    reserve: int = Field(default=0, ge=0, description="Tokens that every chunk leaves free.")
    language: str = Field(default="en", description="ISO code, for the ends of sentences.")
    comment_links: CommentLinks = Field(default="inline", description="As in the vault's settings.")

    @classmethod
    def class_name(cls) -> str:
        return "SectionNodeParser"

    @classmethod
    def of(
        cls, embedder: Embedder, chunking: ChunkingSettings, language: str = "en", *, reserve: int = 0
    ) -> SectionNodeParser:
        """Make the parser whose chunks fit a model.

        :param reserve: tokens for what is put before a chunk later; half of the window at most.
        :raises ModelError: if the model's prompt leaves no room in its window.
        """
        window = embedder.tokens.room(embedder.max_tokens)
        left = min(reserve, window // 2)
        room = embedder.tokens.room(embedder.max_tokens, chunking.max_tokens)
        return cls(
            count=embedder.tokens,
            max_tokens=min(room, window - left),
            reserve=left,
            min_tokens=chunking.min_tokens,
            language=language,
        )

    def _parse_nodes(
        self,
        nodes: Sequence[BaseNode],
        show_progress: bool = False,  # noqa: ARG002 (progress counts passages embedded, not cut)
        **kwargs: Any,  # noqa: ARG002
    ) -> list[BaseNode]:
        return [node for document in nodes for node in self._nodes_of(document)]

    def _postprocess_parsed_nodes(
        self,
        nodes: list[BaseNode],
        parent_doc_map: dict[str, Document],  # noqa: ARG002
    ) -> list[BaseNode]:
        # The parent would search each chunk's text in its document, hash every node, and copy its
        # metadata into both neighbours: minutes for a vault, and quadratic in a long note.
        return nodes

    def _nodes_of(self, document: BaseNode) -> Iterator[TextNode]:
        text = document.get_content(MetadataMode.NONE)
        note = document.note if isinstance(document, NoteDocument) else None
        if note is None:
            path = document.metadata.get("path")
            if not isinstance(path, str) or not path:
                raise UsageError(
                    f"document {document.node_id} has no metadata['path'], the note's path in the vault"
                )
            note = parse_markdown(path, text.encode(), comment_links=self.comment_links)
        drafts = split_note(note, self.count, self.max_tokens, self.min_tokens, self.language)
        source = RelatedNodeInfo(node_id=document.node_id, node_type=ObjectType.DOCUMENT, hash=document.hash)
        near = [RelatedNodeInfo(node_id=one.id, node_type=ObjectType.TEXT) for one in drafts]
        brought = document.metadata if self.include_metadata else {}
        same_text = note.text == text
        for at, draft in enumerate(drafts):
            relationships: dict[NodeRelationship, Any] = {NodeRelationship.SOURCE: source}
            if self.include_prev_next_rel:
                if at:
                    relationships[NodeRelationship.PREVIOUS] = near[at - 1]
                if at + 1 < len(near):
                    relationships[NodeRelationship.NEXT] = near[at + 1]
            metadata = {
                **brought,
                "path": note.path,
                "title": note.title,
                "heading_path": list(draft.heading_path),
                "headings": [list(heading) for heading in draft.headings],
                **{name: getattr(draft, name) for name in _KEPT},
            }
            keys = list(metadata)
            yield TextNode(
                id_=draft.id,
                text=draft.embedded,
                metadata=metadata,
                excluded_embed_metadata_keys=keys,
                excluded_llm_metadata_keys=keys,
                relationships=relationships,
                start_char_idx=draft.start if same_text else None,
                end_char_idx=draft.end if same_text else None,
            )
