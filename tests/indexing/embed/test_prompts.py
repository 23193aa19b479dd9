"""Prompts: the user's before the model's own before those known of its family."""

from __future__ import annotations

import pytest

from notehop.indexing.embed.prompts import Prompts, choose_prompts

GEMMA = {"query": "task: search result | query: ", "document": "title: none | text: "}


@pytest.mark.parametrize(
    ("name", "declared", "default", "expected"),
    [
        pytest.param("all-MiniLM-L6-v2", {}, None, Prompts("", ""), id="none"),
        pytest.param(
            "x/y", {"query": "q: ", "passage": "p: "}, None, Prompts("q: ", "p: "), id="own"
        ),
        pytest.param("x/y", GEMMA, None, Prompts(*GEMMA.values()), id="document"),
        pytest.param(
            "x/y",
            {"query": "q: ", "document": "", "text": "t: "},
            None,
            Prompts("q: ", "t: "),
            id="an-empty-name-gives-way-to-one-that-says-something",
        ),
        pytest.param("x/y", {"query": "q: "}, None, Prompts("q: ", ""), id="query-only"),
        pytest.param(
            "x/y", {"all": "a: ", "query": "q: "}, "all", Prompts("q: ", "a: "), id="default-prompt"
        ),
        pytest.param(
            "intfloat/multilingual-e5-small",
            {"query": "", "document": ""},
            None,
            Prompts("query: ", "passage: "),
            id="empty-prompts-declare-nothing",
        ),
        pytest.param(
            "BAAI/bge-small-en-v1.5",
            {},
            None,
            Prompts("Represent this sentence for searching relevant passages: ", ""),
            id="bge-en",
        ),
        pytest.param(
            "BAAI/bge-base-zh",
            {},
            None,
            Prompts("为这个句子生成表示以用于检索相关文章：", ""),
            id="bge-zh",
        ),
        pytest.param("BAAI/bge-m3", {}, None, Prompts("", ""), id="bge-m3-has-none"),
        pytest.param(
            "nomic-ai/nomic-embed-text-v1.5",
            {},
            None,
            Prompts("search_query: ", "search_document: "),
            id="nomic",
        ),
        pytest.param("google/embeddinggemma-300m", {}, None, Prompts(*GEMMA.values()), id="gemma"),
        pytest.param("someone/le5ter", {}, None, Prompts("", ""), id="e5-only-as-a-word"),
    ],
)
def test_what_the_model_wants(
    name: str, declared: dict[str, str], default: str | None, expected: Prompts
) -> None:
    assert choose_prompts(name, declared, default, query=None, passage=None) == expected


def test_the_settings_win_each_for_itself() -> None:
    found = choose_prompts("intfloat/e5-base-v2", {}, None, query="ask: ", passage=None)
    assert found == Prompts("ask: ", "passage: ")


def test_an_empty_setting_means_no_prompt() -> None:
    found = choose_prompts("x/y", GEMMA, None, query="", passage="")
    assert found == Prompts("", "")
