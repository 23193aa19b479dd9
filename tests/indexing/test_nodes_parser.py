"""The section node parser is an ordinary LlamaIndex component, and cheap."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document, NodeRelationship, TextNode

from tests.support.product import (
    ChunkingSettings,
    ModelError,
    NoteDocument,
    SectionNodeParser,
    TokenOffsets,
    UsageError,
    bundled_folder,
    parse_note,
)
from tests.support.readable_model import WordTokens

TEXT = (
    "---\naliases: [X]\n---\n# One\nThe [[Target|first]] text.\n\n# Two\nMore.\n\n# Three\nEnd.\n"
)


@pytest.fixture
def parser() -> SectionNodeParser:
    return SectionNodeParser(count=WordTokens(), max_tokens=20, min_tokens=0)


def nodes_of(parser: SectionNodeParser, *documents: Document) -> list[TextNode]:
    found = IngestionPipeline(transformations=[parser], disable_cache=True).run(
        documents=list(documents)
    )
    return [node for node in found if isinstance(node, TextNode)]


def test_relations_to_source_and_neighbours(parser: SectionNodeParser) -> None:
    one, two, three = nodes_of(parser, NoteDocument.of(parse_note("n.md", TEXT.encode())))
    assert one.ref_doc_id == two.ref_doc_id == three.ref_doc_id == "n.md"
    assert two.prev_node is not None
    assert two.prev_node.node_id == one.node_id
    assert two.next_node is not None
    assert two.next_node.node_id == three.node_id
    assert one.prev_node is None
    assert three.next_node is None
    assert set(one.relationships) == {NodeRelationship.SOURCE, NodeRelationship.NEXT}


@pytest.mark.parametrize(
    "metadata", [{}, {"path": ""}, {"path": 3}], ids=["none", "empty", "other"]
)
def test_a_document_without_path_is_a_mistake(
    parser: SectionNodeParser, metadata: dict[str, Any]
) -> None:
    with pytest.raises(UsageError, match=r"metadata\['path'\]"):
        parser([Document(text="x", metadata=metadata)])


def test_chunks_are_made_to_fit_the_model() -> None:
    tokens = TokenOffsets.from_file(bundled_folder() / "tokenizer.json", "passage: ")
    embedder: Any = SimpleNamespace(tokens=tokens, max_tokens=256)
    fitted = SectionNodeParser.of(embedder, ChunkingSettings(max_tokens=0, min_tokens=8))
    assert (fitted.max_tokens, fitted.min_tokens) == (256 - tokens.overhead, 8)
    limited = SectionNodeParser.of(embedder, ChunkingSettings(max_tokens=100, min_tokens=8))
    assert limited.max_tokens == 100
    text = "Every sentence of this note says a little more than the one before. " * 60
    for node in nodes_of(fitted, Document(text=text, metadata={"path": "n.md"})):
        assert tokens.count(node.text) <= 256
    small: Any = SimpleNamespace(tokens=tokens, max_tokens=16)
    with pytest.raises(ModelError):
        SectionNodeParser.of(small, ChunkingSettings(max_tokens=0, min_tokens=8))


def test_chunks_fit_where_tokens_do_not_end_at_blanks() -> None:
    """A tokenizer of the SentencePiece kind puts a mark before each word, and one at the start."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace

    letters = [("<unk>", 0.0), ("▁", -1.0), ("\n", -1.0)]
    letters += [(c, -2.0) for c in "abcdefghijklmnopqrstuvwxyz.#-"] + [("▁th", -1.0), ("e▁", -1.0)]
    pieces = Tokenizer(Unigram(letters, unk_id=0))
    pieces.pre_tokenizer = Metaspace(split=False)
    tokens = TokenOffsets(pieces)
    parser = SectionNodeParser(count=tokens, max_tokens=40, min_tokens=8)
    text = "# the head\n\nthe first line of the list\n\n- the one\n- the other\n\n" * 6
    nodes = nodes_of(parser, Document(text=text, metadata={"path": "the note.md"}))
    assert len(nodes) > 6
    assert max(len(tokens(node.text)) for node in nodes) <= 40
