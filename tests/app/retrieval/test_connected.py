"""The postprocessor over a readable index: whose links, which chunk, and what it says."""

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from tests.support.fake_index import BrokenEmbedding, FakeIndex, cosine, direction, ids, light
from tests.support.product import ConnectedNotesPostprocessor, TracedQuery, stub_node
from tests.support.tables import rows


def query(angle=0.0):
    return TracedQuery(str(angle), embedding=direction(angle))


def vault():
    """Two notes that answer the query ``0``, and what they are linked with."""
    return (
        FakeIndex()
        .add("Aurora.md", 0, 20)
        .add("Budget.md", 5)
        .add("Plan.md", 60, 10, 70)
        .add("Sam.md", 15)
        .add("Weather.md", 80)
        .add("Other.md", 40)
    )


def run(index, hits=("Aurora.md:0", "Budget.md:0"), asked=None, **options):
    options = {"top_k": 2, "context_chunks": 4, "max_connected": 2} | options
    stage = ConnectedNotesPostprocessor(view=index, **options)
    return stage.postprocess_nodes(light(*hits), asked or query())


def connected(found):
    return [hit.node for hit in found if hit.node.metadata["role"] == "connected"]


def sources(found):
    return [hit.node.node_id for hit in found if hit.node.metadata["role"] == "source"]


def shown(found):
    return [node.node_id for node in connected(found)]


def test_a_connected_note_stands_below_the_sources_and_says_why():
    found = run(vault().link("Budget.md", "Sam.md", 30).link("Aurora.md", "Weather.md", 85))
    assert ids(found) == ["Aurora.md:0", "Budget.md:0", "Sam.md:0", "Weather.md:0"]
    scores = [hit.score for hit in found]
    assert scores == sorted(set(scores), reverse=True)
    assert [node.metadata["label"] for node in connected(found)] == ["C1", "C2"]
    node = connected(found)[0]
    assert node.get_content() == "Sam part 0"
    assert node.metadata["linked_from"] == {
        "path": "Budget.md",
        "title": "Budget",
        "line": 1,
        "sentence": "See Sam.md.",
    }
    assert node.metadata["reason"] == 'linked from source 2, "Budget" (line 1): "See Sam.md."'
    assert node.metadata["evidence"] == {
        "order": "context",
        "direction": "forward",
        "kind": "link",
        "hit_rank": 2,
        "sentence_similarity": round(cosine(30), 4),
        "target_similarity": round(cosine(15), 4),
        "repeats": 0,
        "score": round(1 / 12 + 2 / 11, 4),
        "bar": None,
    }


@pytest.mark.parametrize("link", rows(__file__, "links_that_bring_nothing_are_counted"))
def test_links_that_bring_nothing_are_counted(link):
    asked = query()
    found = run(vault().link("Aurora.md", angle=3, **link), asked=asked)
    assert connected(found) == []
    counts = asked.trace.counts["connected"]
    assert (counts["links"], counts["notes"]) == (1, 0)
    reasons = {"unresolved", "no_text", "source_already"} & set(counts)
    assert [counts[reason] for reason in reasons] == [1]


def test_what_is_hidden_or_gone_is_not_shown():
    index = vault().link("Aurora.md", "Sam.md", 3).link("Aurora.md", "Other.md", 4)
    found = run(index, ("Gone.md:0", "Aurora.md:0"), gate=0.0, hidden={"Sam.md"})
    assert ids(found) == ["Aurora.md:0", "Other.md:0"]


@pytest.mark.parametrize(("options", "expected"), rows(__file__, "order_and_direction"))
def test_order_and_direction(options, expected):
    index = vault().link("Aurora.md", "Sam.md", 40, chunk=1).link("Aurora.md", "Weather.md", 85)
    index.link("Plan.md", "Aurora.md", 3, chunk=1)
    assert shown(run(index, **options)) == expected


def test_the_gate_and_the_next_sources():
    index = vault().link("Aurora.md", "Weather.md", 85).link("Aurora.md", "Plan.md", 30)
    index.angles["Plan.md:1"] = 30
    hits = ("Aurora.md:0", "Budget.md:0", "Sam.md:0", "Other.md:0")
    asked = query()
    gated = run(index, hits, asked=asked)
    assert asked.trace.counts["connected"]["below_gate"] == 1
    assert sources(gated) == list(hits[:3])
    assert shown(gated) == ["Plan.md:0"]
    assert connected(gated)[0].metadata["evidence"]["bar"] == round(cosine(40), 4)
    assert shown(run(index, hits, gate=0)) == ["Plan.md:0", "Weather.md:0"]
    assert shown(run(index, hits, order="rank")) == ["Weather.md:0", "Plan.md:0"], "has no gate"
    assert sources(run(index, hits, fill=False)) == ["Aurora.md:0", "Budget.md:0"]
    full = run(index, hits, top_k=3, context_chunks=3, max_connected=1)
    assert shown(full) == ["Plan.md:0"], "there is room for it beside all sources"


@pytest.mark.parametrize(
    ("words", "last"),
    [
        pytest.param({"Other.md:0": "tide gate"}, "Other.md:0", id="what the best source lacks"),
        pytest.param({"Other.md:0": "gate"}, "Weather.md:0", id="nothing that is asked for"),
        pytest.param(
            {"Other.md:0": "tide", "Weather.md:0": "tide"}, "Weather.md:0", id="no more than the note"
        ),
        pytest.param({"Other.md:0": "tide", "Aurora.md:0": "tide"}, "Weather.md:0", id="the source has it"),
    ],
)
def test_a_hit_of_a_second_look_takes_the_last_place_by_the_words_it_brings(words, last):
    index = vault().link("Aurora.md", "Sam.md", 3).link("Aurora.md", "Weather.md", 4)
    for chunk_id, text in words.items():
        index.words(chunk_id, text)
    looked = stub_node("Other.md:0", second_look={"path": "Aurora.md"})
    hits = [*light("Aurora.md:0", "Budget.md:0"), NodeWithScore(node=looked, score=0.1)]
    stage = ConnectedNotesPostprocessor(
        view=index, top_k=2, context_chunks=4, max_connected=2, tokens=str.split
    )
    found = stage.postprocess_nodes(hits, TracedQuery("when is the tide", embedding=direction(0)))
    assert set(ids(found)) == {"Aurora.md:0", "Budget.md:0", "Sam.md:0", last}


def test_nodes_of_another_index_stay_and_are_not_followed():
    foreign = NodeWithScore(node=TextNode(id_="web", text="A page.", metadata={"role": "source"}))
    stage = ConnectedNotesPostprocessor(view=vault().link("Aurora.md", "Sam.md", 3), top_k=2)
    found = stage.postprocess_nodes([foreign, *light("Aurora.md:0")], query())
    assert ids(found) == ["web", "Aurora.md:0", "Sam.md:0"]
    assert connected(found)[0].metadata["reason"].startswith('linked from source 2, "Aurora"')


@pytest.mark.parametrize(
    ("model", "words"),
    [
        pytest.param(None, "came without its vector", id="no model"),
        pytest.param(BrokenEmbedding(), "RuntimeError: no weights for 0", id="broken model"),
    ],
)
def test_without_a_vector_the_order_is_rank_and_says_so(model, words):
    index = vault().link("Aurora.md", "Weather.md", 85).link("Aurora.md", "Sam.md", 3)
    asked = TracedQuery("0")
    found = run(index, asked=asked, embed_model=model)
    assert shown(found) == ["Weather.md:0", "Sam.md:0"]
    assert [words in warning for warning in asked.trace.warnings] == [True]
    assert connected(found)[0].metadata["evidence"]["order"] == "rank"
