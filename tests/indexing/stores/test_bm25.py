"""The LlamaIndex retriever over the lexical index: matching nodes only, as many as asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import BaseNode, QueryBundle, TextNode
from llama_index.retrievers.bm25 import BM25Retriever

from tests.support.product import LexicalIndex, Tokenizer, bm25_retriever

TEXTS = {
    "a": "The Apollo crew lands on the moon.",
    "b": "What the budget of the mission is.",
    "c": "Straßenbahnen in Zürich",
    "d": "黑猫喜欢牛奶",
}


def index_of(texts: dict[str, str], tokenizer: Tokenizer) -> LexicalIndex:
    return LexicalIndex.build(
        (id_, {"content": tuple(tokenizer(text))}) for id_, text in texts.items()
    )


def nodes_of(texts: dict[str, str]) -> Callable[[str], BaseNode | None]:
    nodes = {id_: TextNode(id_=id_, text=text) for id_, text in texts.items()}
    return nodes.get


def found(query: str, language: str = "en", **options: object) -> list[str]:
    tokenizer = Tokenizer(language)
    retriever = bm25_retriever(
        index_of(TEXTS, tokenizer),
        tokenizer,
        nodes_of(TEXTS),
        **options,  # type: ignore[arg-type]
    )
    return [hit.node.node_id for hit in retriever.retrieve(query)]


QUERIES = {
    "a word": ("lunar landing of Apollo", "en", "a"),
    "an unknown word finds nothing": ("submarine", "en", ""),
    "function words pad nothing": ("what is the budget", "en", "b"),
    "function words alone": ("what is the", "en", "b a"),
    "our tokenizer reads the query": ("zurich strassenbahn", "de", "c"),
    "pairs of characters": ("黑猫", "en", "d"),
    "one character": ("猫", "en", "d"),
    "empty": ("", "en", ""),
}


@pytest.mark.parametrize(("query", "language", "expected"), QUERIES.values(), ids=QUERIES)
def test_it_returns_what_matches_and_nothing_else(query: str, language: str, expected: str) -> None:
    assert found(query, language, similarity_top_k=10) == expected.split()


def test_it_is_a_bm25_retriever_of_llamaindex() -> None:
    tokenizer = Tokenizer("en")
    retriever = bm25_retriever(index_of(TEXTS, tokenizer), tokenizer, nodes_of(TEXTS))
    assert isinstance(retriever, BM25Retriever)
    assert isinstance(retriever, BaseRetriever)
    hits = retriever.retrieve(QueryBundle("moon budget"))
    assert [(hit.node.get_content(), hit.score) for hit in hits] == [
        (TEXTS[id_], score) for id_, score in index_of(TEXTS, tokenizer).top(["moon", "budget"], 5)
    ]
    assert len(hits) == 2
    assert asyncio.run(retriever.aretrieve("moon budget")) == hits


def test_nodes_are_made_for_hits_alone_and_a_chunk_that_is_gone_is_dropped() -> None:
    tokenizer = Tokenizer("en")
    asked: list[str] = []

    def corpus(id_: str) -> BaseNode | None:
        asked.append(id_)
        return None if id_ == "b" else TextNode(id_=id_, text=TEXTS[id_])

    retriever = bm25_retriever(index_of(TEXTS, tokenizer), tokenizer, corpus)
    assert [hit.node.node_id for hit in retriever.retrieve("moon budget")] == ["a"]
    assert sorted(asked) == ["a", "b"]
