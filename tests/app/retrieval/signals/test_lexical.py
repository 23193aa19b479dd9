"""The lexical signal over a real BM25 index of a few words."""

from __future__ import annotations

import asyncio

import pytest

from notehop.app.retrieval.signals.lexical import LexicalRetriever
from notehop.indexing.tokens import Tokenizer
from tests.app.retrieval.fake_index import FakeIndex, ids


def vault():
    return (
        FakeIndex()
        .add("A.md", 0, 0)
        .add("B.md", 0)
        .words("A.md:0", "The launch of Aurora")
        .words("A.md:1", "Budget of the bakery")
        .words("B.md:0", "Aurora, Aurora and the bakery")
        .words("Later.md:0", "Aurora of a later generation")
    )


def found(query, index=None, **options):
    return LexicalRetriever(index or vault(), Tokenizer("en"), **options).retrieve(query)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("launches", ["A.md:0"], id="stemmed"),
        pytest.param("aurora bakery", ["B.md:0", "A.md:1", "A.md:0"], id="more words, more score"),
        pytest.param("zebra", [], id="an unknown word finds nothing"),
        pytest.param("", [], id="nothing asked"),
    ],
)
def test_rankings(query, expected):
    assert ids(found(query)) == expected


def test_every_hit_has_a_score():
    scores = [hit.score for hit in found("aurora bakery")]
    assert scores == sorted(scores, reverse=True)
    assert all(score > 0 for score in scores)


def test_chunks_of_a_later_generation_are_left_out():
    assert "Later.md:0" in [id_ for id_, _ in vault().lexical.top(Tokenizer("en")("aurora"), 9)]
    assert "Later.md:0" not in ids(found("aurora"))


def test_only_what_is_allowed():
    assert ids(found("aurora", allowed={"A.md:0"})) == ["A.md:0"]
    assert found("aurora", allowed=set()) == []


def test_as_many_as_asked_for():
    assert ids(found("bakery", similarity_top_k=1)) == ["A.md:1"]


def test_an_empty_index():
    assert found("aurora", index=FakeIndex()) == []


def test_nodes_have_text_unless_told_otherwise():
    assert found("launch")[0].node.get_content() == "A part 0"
    assert found("launch", with_text=False)[0].node.get_content() == ""


def test_async_gives_the_same():
    retriever = LexicalRetriever(vault(), Tokenizer("en"))
    assert ids(asyncio.run(retriever.aretrieve("aurora"))) == ids(retriever.retrieve("aurora"))


def test_top_k_must_be_positive():
    with pytest.raises(ValueError, match="similarity_top_k is 0"):
        found("aurora", similarity_top_k=0)
