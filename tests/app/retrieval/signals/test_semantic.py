"""The semantic signal over a readable table."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.schema import QueryBundle

from notehop.app.retrieval.signals.semantic import SemanticRetriever
from notehop.app.retrieval.trace import TracedQuery
from notehop.config.errors import QueryError
from tests.app.retrieval.fake_index import AngleEmbedding, FakeIndex, cosine, ids


def vault():
    return FakeIndex().add("A.md", 10, 50).add("B.md", 30).add("C.md", 120).add("D.md", None)


def found(query="0", index=None, model=None, **options):
    retriever = SemanticRetriever(index or vault(), model or AngleEmbedding(), **options)
    return retriever.retrieve(query)


def test_nearest_first_and_nothing_without_similarity():
    hits = found()
    assert ids(hits) == ["A.md:0", "B.md:0", "A.md:1"]
    assert [hit.score for hit in hits] == pytest.approx([cosine(10), cosine(30), cosine(50)])


def test_as_many_as_asked_for():
    assert ids(found(similarity_top_k=1)) == ["A.md:0"]


def test_only_what_is_allowed():
    assert ids(found(allowed={"B.md:0", "A.md:1"})) == ["B.md:0", "A.md:1"]
    assert found(allowed=set()) == []


def test_an_empty_index():
    assert found(index=FakeIndex()) == []


def test_nodes_have_text_unless_told_otherwise():
    assert found()[0].node.get_content() == "A part 0"
    light = found(with_text=False)[0].node
    assert (light.node_id, light.get_content(), light.metadata) == ("A.md:0", "", {})


def test_the_vector_is_kept_on_a_traced_query_and_used_from_there():
    model = AngleEmbedding()
    bundle = TracedQuery("0")
    found(bundle, model=model)
    assert ids(found(bundle, model=model))[0] == "A.md:0"
    assert model.asked == 1
    assert bundle.embedding is None, "another retriever may have another model"


def test_a_vector_that_the_query_brings_is_used():
    model = AngleEmbedding()
    given = QueryBundle("0", embedding=[0.0, 5.0])
    hits = found(given, model=model)
    assert ids(hits)[0] == "C.md:0"
    assert hits[0].score == pytest.approx(cosine(30))


def test_several_texts_for_one_query_are_averaged():
    bundle = QueryBundle("?", custom_embedding_strs=["0", "60"])
    assert ids(found(bundle))[0] == "B.md:0"


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_query(text):
    with pytest.raises(QueryError, match="the query is empty"):
        found(text)


def test_async_gives_the_same():
    retriever = SemanticRetriever(vault(), AngleEmbedding())
    assert ids(asyncio.run(retriever.aretrieve("0"))) == ids(retriever.retrieve("0"))


def test_top_k_must_be_positive():
    with pytest.raises(ValueError, match="similarity_top_k is 0"):
        found(similarity_top_k=0)
