"""The whole retrieval over an index on disk: it answers as the readable one in memory does."""

from __future__ import annotations

import pytest

from tests.support.fake_index import AngleEmbedding, FakeIndex, direction
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
        view=view, top_k=2, context_chunks=5, max_connected=2, order=order, direction=direction
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
