"""The query engine is an ordinary LlamaIndex one, whose source nodes may all be cited."""

from __future__ import annotations

import asyncio

from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.answer.query_engine import NotehopQueryEngine
from notehop.app.answer.quoting import ExtractiveSynthesizer
from notehop.app.answer.writing import LlmSynthesizer
from notehop.app.retrieval.trace import trace_of
from tests.app.answer.samples import connected_node, reading, source_node
from tests.app.scripted_llm import ScriptedLLM


class Fixed(BaseRetriever):
    """Finds the same two nodes for every query, and leaves a warning."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        trace = trace_of(query_bundle)
        trace.warn("one signal was silent")
        with trace.timed("fixed"):
            return [source_node(1, "The launch is on 14 June."), source_node(2, "Else.")]


class Linked(BaseNodePostprocessor):
    """Adds a connected note."""

    def _postprocess_nodes(
        self,
        nodes: list[NodeWithScore],
        query_bundle: QueryBundle | None = None,  # noqa: ARG002
    ) -> list[NodeWithScore]:
        return [*nodes, connected_node(1, "It slipped once.")]


def engine() -> NotehopQueryEngine:
    quoting = ExtractiveSynthesizer("My vault", reading())
    synthesizer = LlmSynthesizer("My vault", ScriptedLLM(says="On 14 June [1]."), quoting)
    return NotehopQueryEngine(Fixed(), synthesizer, node_postprocessors=[Linked()])


def test_query() -> None:
    response = engine().query("When is the launch?")
    assert str(response) == "On 14 June [1]."
    assert [hit.node.metadata["path"] for hit in response.source_nodes] == [
        "notes/Note 1.md",
        "notes/Note 2.md",
    ]
    metadata = response.metadata or {}
    assert [note["title"] for note in metadata["connected_notes"]] == ["Linked 1"]
    assert metadata["warnings"] == ["one signal was silent"]
    assert set(metadata["timings_ms"]) == {"fixed", "answer"}


def test_aquery_is_the_same() -> None:
    response = asyncio.run(engine().aquery("When is the launch?"))
    assert str(response) == "On 14 June [1]."
    assert len(response.source_nodes) == 2


def test_prompts_are_found_as_in_llamaindex() -> None:
    assert list(engine().get_prompts()) == ["response_synthesizer:answer_prompt"]
