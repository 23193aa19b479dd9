"""Nodes of chunks: what they say, what a model sees of it, and filling light ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from notehop.app.retrieval.nodes import below, fill, is_light, light_hits, noted, to_node
from tests.app.retrieval.fake_index import FakeIndex, ids, light


def vault():
    return FakeIndex().add("work/Aurora.md", 0, 10, title="Project Aurora")


def test_a_node_says_where_its_chunk_stands():
    index = vault()
    node = to_node(index.rows["work/Aurora.md:1"], index.notes["work/Aurora.md"])
    assert node.node_id == "work/Aurora.md:1"
    assert node.metadata == {
        "path": "work/Aurora.md",
        "title": "Project Aurora",
        "folder": "work",
        "heading": "Aurora > Part 1",
        "heading_path": ["Aurora", "Part 1"],
        "first_line": 11,
        "last_line": 19,
        "ordinal": 1,
        "role": "source",
    }


def test_nothing_of_it_is_embedded_and_a_model_sees_path_title_heading_and_role():
    index = vault()
    node = to_node(index.rows["work/Aurora.md:1"], index.notes["work/Aurora.md"])
    assert node.get_content(MetadataMode.EMBED) == "Aurora part 1"
    assert node.get_content(MetadataMode.LLM) == (
        "path: work/Aurora.md\ntitle: Project Aurora\nheading: Aurora > Part 1\nrole: source\n\nAurora part 1"
    )


def test_hits_without_a_score_get_no_node():
    hits = light_hits([("a", 0.5), ("b", 0.0), ("c", -0.1), ("d", float("nan"))])
    assert ids(hits) == ["a"]
    assert is_light(hits[0].node)


def test_filling_keeps_order_score_and_what_was_noted():
    hits = light("work/Aurora.md:1", "work/Aurora.md:0")
    hits[0].node = noted(hits[0].node, signals={"s": {"rank": 1}})
    first, second = fill(hits, vault())
    assert (first.score, second.score) == (1.0, 0.5)
    assert first.node.metadata["signals"] == {"s": {"rank": 1}}
    assert first.node.metadata["title"] == "Project Aurora"
    assert "signals" in first.node.excluded_llm_metadata_keys
    assert [hit.node.get_content() for hit in (first, second)] == ["Aurora part 1", "Aurora part 0"]
    assert is_light(hits[1].node)


def test_filling_drops_what_is_gone_and_leaves_what_is_whole():
    whole = NodeWithScore(node=TextNode(id_="web", text="A page."), score=0.1)
    found = fill([*light("Gone.md:0", "work/Aurora.md:0"), whole], vault())
    assert ids(found) == ["work/Aurora.md:0", "web"]
    assert found[1] is whole


def test_a_chunk_without_text_is_filled_once():
    index = vault()
    once = fill(light("work/Aurora.md:0"), index)
    assert fill(once, FakeIndex()) == once


SCORES = st.floats(min_value=-1e6, max_value=1e6, allow_subnormal=False)


@given(SCORES, st.floats(min_value=0, max_value=0.99))
def test_below_is_below(lowest, share):
    assert below(lowest, share) < lowest


@pytest.mark.parametrize("lowest", [2.0, 0.0, -2.0], ids=["positive", "zero", "negative"])
def test_a_larger_share_is_nearer(lowest):
    assert below(lowest, 0.2) < below(lowest, 0.8) < lowest
