"""The section node parser is an ordinary LlamaIndex component; properties are passages too."""

from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import Document, TextNode

from tests.support import product
from tests.support.readable_model import WordTokens
from tests.support.tables import rows


@pytest.fixture
def parser() -> product.SectionNodeParser:
    return product.SectionNodeParser(count=WordTokens(), max_tokens=20, min_tokens=0)


def nodes_of(parser: product.SectionNodeParser, *documents: Document) -> list[TextNode]:
    found = IngestionPipeline(transformations=[parser], disable_cache=True).run(documents=list(documents))
    return [node for node in found if isinstance(node, TextNode)]


@pytest.mark.parametrize("metadata", [{}, {"path": ""}, {"path": 3}], ids=["none", "empty", "other"])
def test_a_document_without_path_is_a_mistake(
    parser: product.SectionNodeParser, metadata: dict[str, Any]
) -> None:
    with pytest.raises(product.UsageError, match=r"metadata\['path'\]"):
        parser([Document(text="x", metadata=metadata)])


def test_chunks_are_made_to_fit_the_model() -> None:
    file = product.installed_file(product.BUNDLED_NAME).parent / "tokenizer.json"
    tokens = product.TokenOffsets(product.read_tokenizer(file.read_text(), file), "passage: ")
    embedder: Any = SimpleNamespace(tokens=tokens, max_tokens=256)
    fitted = product.SectionNodeParser.of(embedder, product.ChunkingSettings(max_tokens=0, min_tokens=8))
    assert (fitted.max_tokens, fitted.min_tokens) == (256 - tokens.overhead, 8)
    limited = product.SectionNodeParser.of(embedder, product.ChunkingSettings(max_tokens=100, min_tokens=8))
    assert limited.max_tokens == 100
    text = "Every sentence of this note says a little more than the one before. " * 60
    for node in nodes_of(fitted, Document(text=text, metadata={"path": "n.md"})):
        assert len(tokens(node.text)) + tokens.overhead <= 256
    small: Any = SimpleNamespace(tokens=tokens, max_tokens=16)
    with pytest.raises(product.ModelError):
        product.SectionNodeParser.of(small, product.ChunkingSettings(max_tokens=0, min_tokens=8))


def test_long_words_are_not_kept_in_memory() -> None:
    asked: list[str] = []

    def encode(text: str, **_: object) -> Any:
        asked.append(text)
        return SimpleNamespace(offsets=[(0, len(text))])

    tokenizer: Any = SimpleNamespace(encode=encode, num_special_tokens_to_add=lambda _: 0)
    tokens = product.TokenOffsets(tokenizer)
    picture = "iVBORw0KGgo" * 10_000
    assert [tokens.size(f"lens {picture} lens") for _ in range(2)] == [3, 3]
    assert asked == ["lens", picture, picture]


def test_chunks_fit_where_tokens_do_not_end_at_blanks() -> None:
    """A tokenizer of the SentencePiece kind puts a mark before each word, and one at the start."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace

    letters = [("<unk>", 0.0), ("▁", -1.0), ("\n", -1.0)]
    letters += [(c, -2.0) for c in "abcdefghijklmnopqrstuvwxyz.#-"] + [("▁th", -1.0), ("e▁", -1.0)]
    pieces = Tokenizer(Unigram(letters, unk_id=0))
    pieces.pre_tokenizer = Metaspace(split=False)
    tokens = product.TokenOffsets(pieces)
    parser = product.SectionNodeParser(count=tokens, max_tokens=40, min_tokens=8)
    text = "# the head\n\nthe first line of the list\n\n- the one\n- the other\n\n" * 6
    nodes = nodes_of(parser, Document(text=text, metadata={"path": "the note.md"}))
    assert len(nodes) > 6
    assert max(len(tokens(node.text)) for node in nodes) <= 40


EVERYTHING = 10_000


def texts(front_matter: str, body: str = "", fits: int = EVERYTHING) -> list[tuple[str, int]]:
    note = product.parse_note("Note.md", f"---\n{front_matter}\n---\n{body}".encode())
    found = product.property_texts(note, bool(body), fits)
    return [(" ".join(text.split()), first) for text, first, _ in found]


@pytest.mark.parametrize(
    ("front_matter", "said"),
    rows(__file__, "properties_read_as_a_person_would_put_them"),
)  # fmt: skip
def test_properties_read_as_a_person_would_put_them(front_matter: str, said: str) -> None:
    assert texts(front_matter, "Some text.") == [(said, texts(front_matter)[0][1])]


@pytest.mark.parametrize(
    "front_matter",
    ["published: false\ntags: [a, b]", "aliases: X\ncreated: 2024-01-02\ntype: daily", "id: 5", ""],
)
def test_names_tags_and_dates_alone_are_a_passage_of_a_note_without_text_only(front_matter: str) -> None:
    assert texts(front_matter, "Some text.") == []
    assert len(texts(front_matter)) == (front_matter not in ("id: 5", ""))


def test_each_word_stands_in_its_own_line() -> None:
    written = (
        "---\nid: 5\ncategories:\n  - '[[Shows]]'\n\n# a remark\n  - TV\n"
        "size: {w: 3,\n  h: 4}\nrating: 7\n---\n"
    )
    ((text, first, last),) = product.property_texts(
        product.parse_note("Note.md", written.encode()), False, EVERYTHING
    )
    lines = written.split("\n")
    assert (first, last) == (3, 10)
    for at, line in enumerate(text.split("\n")):
        for word in line.replace(":", "").replace(",", "").replace("·", "").split():
            assert word in lines[first + at - 1] or word == "size"


def test_many_properties_are_several_chunks_and_none_is_lost() -> None:
    front_matter = "\n".join(f"fact{at}: value{at}" for at in range(40))
    found = texts(front_matter, fits=100)
    assert len(found) > 3
    assert " · ".join(text for text, _ in found) == " · ".join(f"fact{at}: value{at}" for at in range(40))
    assert all(len(text) <= 100 for text, _ in found)


def test_what_aliases_repeat_is_not_more_than_a_front_matter_may_hold() -> None:
    front_matter = f"a: &a {'x' * 1_000}\nb: [{', '.join(['*a'] * 20_000)}]"
    assert sum(len(text) for text, _ in texts(front_matter, fits=10**9)) < 1_100_000


def test_properties_come_after_the_text_in_a_chunk_of_their_own_kind() -> None:
    note = product.parse_note("Note.md", b"---\nrating: 7\n---\n# One\nText.\n# Two\nMore.\n")
    drafts = product.split_note(note, WordTokens(), 50, 0)
    assert [(one.kind, one.ordinal) for one in drafts] == [("text", 0), ("text", 1), ("properties", 2)]
    assert drafts[-1].embedded == "Note\nrating: 7"
    assert note.text[drafts[-1].start : drafts[-1].end] == "rating: 7\n"
