"""What a developer who knows LlamaIndex does with an opened vault."""

import asyncio
import copy
import gc
import logging
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.prompts import PromptTemplate
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool

from notehop import open_vault
from tests.support import product
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model

NOTES = {
    "Daily/2026-10-04.md": "The oyster beds were dredged today. See [[Shell Line]].\n",
    "Daily/2026-10-05.md": "---\ntags: [private]\n---\nThe oyster beds belong to a rival, quietly.\n",
    "Projects/Shell Line.md": "# Shell Line\nOyster beds lie along the dyke and break the waves.\n",
    "Topics/Oysters.md": "# Oysters\nOyster beds need clean water and a firm ground.\n",
}

ASKED = "path:Daily -tag:private oyster beds"


def paths(hits: list[NodeWithScore]) -> set[str]:
    return {hit.node.metadata["path"] for hit in hits}


def test_a_query_that_is_used_twice_keeps_its_filters(vault: product.VaultHandle) -> None:
    retriever = vault.retriever(connected={"max": 0})
    for query in (product.TracedQuery(ASKED), QueryBundle(ASKED)):
        for _ in range(2):
            assert paths(retriever.retrieve(query)) == {"Daily/2026-10-04.md"}
        assert query.query_str == ASKED
        assert query.embedding is None


def test_filters_and_connected_are_any_mapping(vault: product.VaultHandle) -> None:
    filters: Mapping[str, Any] = MappingProxyType({"path": ["Daily"]})
    connected: Mapping[str, Any] = MappingProxyType({"max": 0})
    found = vault.retriever(filters=filters, connected=connected).retrieve("oyster beds")
    assert paths(found) == {"Daily/2026-10-04.md", "Daily/2026-10-05.md"}


def test_two_retrievers_of_one_vault_keep_the_filters_of_their_query(vault: product.VaultHandle) -> None:
    both = [vault.retriever(), vault.retriever(intent="discovery")]
    fused = QueryFusionRetriever(both, llm=ScriptedLLM(), num_queries=1, use_async=False)
    engine = product.NotehopQueryEngine(fused, vault.synthesizer())
    response = engine.query(ASKED)
    assert paths(response.source_nodes) == {"Daily/2026-10-04.md"}
    engine = vault.query_engine(connected={"max": 0})
    assert paths(engine.query(ASKED).source_nodes) == {"Daily/2026-10-04.md"}


def test_an_answer_is_to_the_question_without_its_filters(where: tuple[Path, Path]) -> None:
    llm = ScriptedLLM(says="They were dredged [1].")
    with open_vault(where[0], index_dir=where[1], llm=llm) as vault:
        vault.query_engine().query(ASKED)
        vault.ask(ASKED)
        list(vault.stream(ASKED))
    assert [asked.rpartition("Question:")[2].strip() for asked in llm.asked] == [
        "oyster beds\nassistant:"
    ] * 3


class Hybrid(BaseRetriever):
    """The documented way to join retrievers: one bundle for both."""

    def __init__(self, *retrievers: BaseRetriever) -> None:
        super().__init__()
        self.retrievers = retrievers

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [hit for one in self.retrievers for hit in one.retrieve(query_bundle)]


@pytest.mark.parametrize("connected", [{}, {"max": 0}])
def test_the_vector_of_another_model_is_no_reason_to_find_less(
    vault: product.VaultHandle, caplog: pytest.LogCaptureFixture, connected: dict[str, int]
) -> None:
    other = VectorStoreIndex([TextNode(text="x")], embed_model=MockEmbedding(1536))
    ours = vault.retriever(connected=connected)
    with caplog.at_level(logging.WARNING):
        hits = Hybrid(other.as_retriever(), ours).retrieve("molluscs by the sea")[1:]
    assert [hit.node.node_id for hit in hits] == [
        hit.node.node_id for hit in ours.retrieve("molluscs by the sea")
    ]
    assert any("semantic" in hit.node.metadata.get("signals", {}) for hit in hits)
    assert "1536 numbers" in caplog.text
    assert "embedded anew" in caplog.text


def test_a_retriever_logs_its_warnings(vault: product.VaultHandle, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert vault.retriever().retrieve("oyster beds tag:nothing-has-it") == []
    assert "tag:nothing-has-it" in caplog.text
    caplog.clear()
    query = product.TracedQuery("oyster beds tag:nothing-has-it")
    with caplog.at_level(logging.WARNING):
        vault.retriever().retrieve(query)
    assert caplog.text == ""
    assert "tag:nothing-has-it" in "\n".join(query.trace.warnings)


def test_prompts_belong_to_an_engine(where: tuple[Path, Path]) -> None:
    llm = ScriptedLLM(says="Yes [1].")
    with open_vault(where[0], index_dir=where[1], llm=llm) as vault:
        other = vault.query_engine()
        own = copy.deepcopy(other)
        prompt = PromptTemplate("MINE {context_str} {query_str}")
        own.update_prompts({"response_synthesizer:answer_prompt": prompt})
        for engine in (own, other, vault.query_engine()):
            engine.query("oyster beds")
        vault.ask("oyster beds")
    assert ["MINE" in asked for asked in llm.asked] == [True, False, False, False]


def test_a_closed_vault_answers_nothing(where: tuple[Path, Path]) -> None:
    vault = open_vault(where[0], index_dir=where[1])
    retriever, engine = vault.retriever(), vault.query_engine()
    vault.search("oyster beds")
    model = weakref.ref(vault.embed_model)
    vault.close()
    vault.close()
    gc.collect()
    assert model() is None, "a closed vault holds no model"
    before = sorted(path.name for path in where[0].rglob("*.md"))
    for call in (
        lambda: vault.search("oyster beds"),
        lambda: vault.ask("oyster beds"),
        lambda: vault.stream("oyster beds"),
        lambda: vault.browse(product.BrowseQuery(seeds=["Oysters"])),
        lambda: vault.note("Oysters"),
        vault.picture,
        lambda: vault.capture(product.CaptureQuery(text="Late.")),
        lambda: vault.embed(product.EmbedQuery(texts=["x"])),
        vault.status,
        vault.warm,
        lambda: vault.generation,
        lambda: retriever.retrieve("oyster beds"),
        lambda: engine.query("oyster beds"),
        vault.query_engine,
    ):
        with pytest.raises(product.UsageError, match="was closed"):
            call()
    assert sorted(path.name for path in where[0].rglob("*.md")) == before
    assert vault.name == "My Vault"


def test_methods_are_tools(vault: product.VaultHandle) -> None:
    for name in ("ask", "search", "browse", "themes", "note", "picture", "capture", "embed"):
        tool = FunctionTool.from_defaults(getattr(vault, name))
        assert tool.metadata.get_parameters_dict()["properties"], name
    found = FunctionTool.from_defaults(vault.search).call(query="oyster beds")
    assert "[1] " in found.content
    assert len(found.content) < 3_000
    assert "Raise budget" not in str(vault.ask("What is Pell Sluice?"))
    assert "> Oyster beds" in found.content
    browsed = FunctionTool.from_defaults(vault.browse).call(query={"seeds": ["Shell Line"]})
    assert "Daily/2026-10-04.md" in browsed.content


def test_an_agent_of_llamaindex_gets_the_tools_of_mcp(vault: product.VaultHandle) -> None:
    tools = {tool.metadata.get_name(): tool for tool in vault.tools()}
    assert set(tools) == set(product.TOOLS)
    search = tools["smart_search"]
    assert search.metadata.description == product.TOOLS["smart_search"].description
    assert "min_score" in search.metadata.get_parameters_dict()["properties"]
    assert "Shell Line" in search("oyster beds").content
    assert "Oyster beds" in asyncio.run(tools["read_note"].acall(notes="Oysters")).content
    assert "no note" in tools["read_note"].call(notes=["Nowhere"]).content
    assert "none_such" in search.call(query="oyster beds", none_such=1).content


def test_an_index_of_ones_own_of_the_nodes_of_the_vault(vault: product.VaultHandle) -> None:
    nodes = vault.nodes()
    assert all(node.embedding for node in nodes)
    mine = VectorStoreIndex(nodes, embed_model=vault.embed_model).as_retriever()
    hits = mine.retrieve("oyster beds")
    found = vault.connected_notes(top_k=1, order="rank").postprocess_nodes(hits, query_str="oyster beds")
    assert {hit.node.node_id for hit in hits} <= {node.node_id for node in nodes}
    assert [hit.node.metadata["role"] for hit in found].count("source") >= 1


def test_the_text_of_an_answer_holds_its_doubts(where: tuple[Path, Path]) -> None:
    llm = ScriptedLLM(says="They cost 99,000 pounds a year [1]. They are red.")
    with open_vault(where[0], index_dir=where[1], llm=llm) as vault:
        answer = vault.ask("oyster beds")
        response = vault.query_engine().query("oyster beds")
    text = str(answer)
    assert text.startswith("Answer (written by scripted):\n> They cost 99,000 pounds a year [1]")
    assert f"{answer.citations[0].path}:" in text
    assert "They cost 99,000 pounds a year [1]. (its sources do not have: 99,000" in text
    assert "They are red. (it names no source)" in text
    assert len(text) < 2_500
    assert len(response.metadata["doubts"]) == 2


@pytest.mark.parametrize("query", [None, 5, ["oyster"]])
def test_what_is_no_query_is_told(vault: product.VaultHandle, query: object) -> None:
    with pytest.raises(product.QueryError, match="hand in a text"):
        vault.search(query)  # type: ignore[arg-type]
