"""The whole retrieval over an index on disk: it answers as the readable one in memory does."""

from __future__ import annotations

import asyncio

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from tests.support.fake_index import AngleEmbedding, FakeIndex, direction, ids
from tests.support.product import (
    AliasWidening,
    ConnectedNotesPostprocessor,
    GraphEnhancedRetriever,
    LexicalRetriever,
    SemanticRetriever,
    TitleRetriever,
    Tokenizer,
    TracedQuery,
    WeightedFusionRetriever,
    preset,
)


def vault():
    index = (
        FakeIndex()
        .add("work/Aurora.md", 0, 25, aliases=("Nordlicht",), rank=0.4)
        .add("Budget.md", 8, rank=0.2)
        .add("Plan.md", 50, 12, 60, rank=0.2)
        .add("Sam.md", 30, rank=0.1)
        .add("Diary.md", 70, rank=0.1)
    )
    index.link("work/Aurora.md", "Plan.md", 4, to=2, fragment="Part 2")
    index.link("work/Aurora.md", "Sam.md", 60)
    index.link("work/Aurora.md", None, 3, status="unresolved")
    index.link("Budget.md", "Sam.md", None, chunk=None)
    index.link("Diary.md", "work/Aurora.md", 40)
    for chunk_id, words in {
        "work/Aurora.md:0": "Aurora launch",
        "work/Aurora.md:1": "Risks of the launch",
        "Budget.md:0": "Money for Aurora",
        "Plan.md:1": "Launch in May",
        "Diary.md:0": "Nordlicht and snow",
    }.items():
        index.words(chunk_id, words)
    return index


def stack(view, order="context", direction="forward", expansion="off", widen=False):
    tokenizer = Tokenizer("en")
    fusion = WeightedFusionRetriever(
        {
            "semantic": SemanticRetriever(view, AngleEmbedding(), with_text=False),
            "lexical": LexicalRetriever(view, tokenizer, with_text=False),
        },
        dispatch=TitleRetriever(view, with_text=False),
        widening=AliasWidening(view) if widen else None,
    )
    graph = GraphEnhancedRetriever(
        fusion, view, expansion=preset(expansion), with_text=False, clock=lambda: 0.0
    )
    context = ConnectedNotesPostprocessor(
        view=view,
        top_k=2,
        context_chunks=5,
        max_connected=2,
        order=order,
        direction=direction,
    )
    return graph, context


def answer(view, text, angle, **options):
    graph, context = stack(view, **options)
    query = TracedQuery(text, embedding=direction(angle))
    hits = context.postprocess_nodes(graph.retrieve(query), query)
    return query, [(hit.node.node_id, round(hit.score, 9), hit.node.metadata) for hit in hits]


@pytest.mark.parametrize("text", ["launch", "Nordlicht", "aurora", "zebra"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"order": "rank"},
        {"direction": "both"},
        {"direction": "backward"},
        {"widen": True},
        {"expansion": "aggressive", "direction": "both"},
    ],
    ids=["context", "rank", "both", "backward", "widened", "expanded"],
)
def test_disk_and_memory_agree(tmp_path, text, options):
    index = vault()
    with index.on_disk(tmp_path) as reader, reader.snapshot() as snapshot:
        index.pagerank = dict(snapshot.pagerank)
        query, found = answer(snapshot, text, 0, **options)
    expected_query, expected = answer(index, text, 0, **options)
    assert len(found) > 2
    assert [one[:2] for one in found] == [one[:2] for one in expected]
    assert _shown(found) == _shown(expected)
    assert query.trace.counts == expected_query.trace.counts


def _shown(found):
    """Metadata with similarities to the 4 digits that float32 and the table's rounding leave."""
    return [
        {
            **metadata,
            "signals": {
                name: {
                    key: value if value is None else round(value, 4) for key, value in one.items()
                }
                for name, one in metadata.get("signals", {}).items()
            },
        }
        for *_, metadata in found
    ]


def test_components_live_as_long_as_the_reader_and_see_what_is_new(tmp_path):
    index = vault()
    with index.on_disk(tmp_path) as reader:
        graph, context = stack(reader.snapshot)
        query = TracedQuery("launch", embedding=direction(0))
        hits = graph.retrieve(query)
        with index.add("New.md", 0).words("New.md:0", "Launch launch").on_disk(tmp_path):
            # The query goes on in the generation it began in.
            assert query.view.generation == 1
            assert "New.md:0" not in ids(context.postprocess_nodes(hits, query))
            later = TracedQuery("launch", embedding=direction(0))
            assert "New.md:0" in ids(context.postprocess_nodes(graph.retrieve(later), later))
            assert later.view.generation == 2


def test_as_parts_of_a_llama_index_query_engine(tmp_path):
    with vault().on_disk(tmp_path) as reader:
        view = reader.snapshot
        model = AngleEmbedding()
        retriever = WeightedFusionRetriever(
            {
                "semantic": SemanticRetriever(view, model),
                "lexical": LexicalRetriever(view, Tokenizer("en")),
            }
        )
        connected = ConnectedNotesPostprocessor(view=view, embed_model=model, top_k=2)
        engine = RetrieverQueryEngine.from_args(
            retriever, node_postprocessors=[connected], llm=MockLLM()
        )
        response = engine.query("0")
        again = asyncio.run(engine.aquery("0"))
    assert ids(response.source_nodes) == ids(again.source_nodes)
    roles = [hit.node.metadata["role"] for hit in response.source_nodes]
    assert roles == sorted(roles, reverse=True)
    assert roles.count("connected") == 2
    assert "role: connected\nlabel: C1" in str(response)
