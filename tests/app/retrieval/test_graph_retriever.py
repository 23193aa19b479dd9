"""Recall expansion: who joins, by which chunk, in which order, and where it ranks."""

from __future__ import annotations

import asyncio
import math

import pytest

from app.retrieval.expansion import DAY, PRESETS, Expansion, preset, recency, weight
from app.retrieval.graph_retriever import GraphEnhancedRetriever
from app.retrieval.trace import TracedQuery
from tests.app.retrieval.fake_index import FakeIndex, Listed, ids

NOW = 1_000 * DAY


def vault():
    return (
        FakeIndex()
        .add("A.md", 0, 10, modified=NOW)
        .add("B.md", 5, modified=NOW)
        .add("C.md", 50, 60, modified=NOW)
        .add("D.md", 70, modified=NOW)
        .add("E.md", 80, 85, modified=NOW)
    )


def expanded(index, *hits, query="?", allowed=None, **options):
    inner = Listed(*(hits or (("A.md:0", 0.9), ("B.md:0", 0.5))))
    expansion = Expansion(**({"notes": 10} | options))
    outer = GraphEnhancedRetriever(
        inner, index, expansion=expansion, allowed=allowed, clock=lambda: NOW
    )
    return outer.retrieve(query)


def added(found):
    return [hit.node.node_id for hit in found if "expanded_from" in hit.node.metadata]


def test_off_leaves_the_hits_alone():
    inner = Listed(("A.md:0", 0.9))
    found = GraphEnhancedRetriever(inner, vault().link("A.md", "C.md")).retrieve("?")
    assert ids(found) == ["A.md:0"]
    assert found[0].node is inner.nodes["A.md:0"]


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        pytest.param("forward", ["C.md:1"], id="the chunk the link names"),
        pytest.param("backward", ["E.md:1"], id="the chunk that holds the link"),
        pytest.param("both", ["C.md:1", "E.md:1"], id="both"),
    ],
)
def test_directions_and_chunks(way, expected):
    index = vault().link("A.md", "C.md", to=1, fragment="Part 1").link("E.md", "B.md", chunk=1)
    assert added(expanded(index, direction=way)) == expected


def test_a_property_that_links_here_brings_the_first_chunk_of_its_note():
    assert added(expanded(vault().link("E.md", "A.md", chunk=None))) == ["E.md:0"]


@pytest.mark.parametrize(
    "link",
    [
        pytest.param({"target": None, "status": "unresolved"}, id="unresolved"),
        pytest.param({"target": "map.png", "to": None}, id="attachment"),
        pytest.param({"target": "A.md", "to": 1}, id="itself"),
        pytest.param({"target": "B.md"}, id="among the hits"),
    ],
)
def test_who_does_not_join(link):
    assert added(expanded(vault().link("A.md", **link))) == []


def test_only_what_is_allowed_joins():
    index = vault().link("A.md", "C.md", to=1).link("A.md", "D.md").link("E.md", "B.md")
    query = TracedQuery("?")
    allowed = {"C.md:0", "D.md:0"}
    assert added(expanded(index, query=query, allowed=allowed)) == ["D.md:0"]
    assert query.trace.counts["expansion"]["filtered_out"] == 2


def test_expanded_hits_rank_below_the_lowest_direct_one_by_weight():
    index = vault().link("A.md", "D.md").link("A.md", "C.md")
    index.pagerank |= {"C.md": 0.3, "D.md": 0.1}
    found = expanded(index)
    assert ids(found) == ["A.md:0", "B.md:0", "C.md:0", "D.md:0"]
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert scores[1] == 0.5 > scores[2] > scores[3] > 0


@pytest.mark.parametrize("lowest", [0.0, -3.0], ids=["zero", "negative, as of a reranker"])
def test_they_rank_below_any_score(lowest):
    found = expanded(vault().link("A.md", "C.md").link("A.md", "D.md"), ("A.md:0", lowest))
    scores = [hit.score for hit in found]
    assert len(set(scores)) == 3
    assert scores == sorted(scores, reverse=True)


def test_a_hit_keeps_its_place():
    hits = (("A.md:0", 0.9), ("B.md:0", 0.5), ("C.md:0", 0.1))
    query = TracedQuery("?")
    index = vault().link("A.md", "C.md").link("A.md", "D.md")
    assert ids(expanded(index, *hits, query=query)) == ["A.md:0", "B.md:0", "C.md:0", "D.md:0"]
    assert query.trace.counts["expansion"] == {
        "seeds": 3,
        "neighbours": 1,
        "hits_already": 0,
        "filtered_out": 0,
        "over_limit": 0,
        "added": 1,
    }


def test_seeds_are_the_best_notes_not_chunks():
    hits = (("A.md:0", 0.9), ("A.md:1", 0.8), ("B.md:0", 0.5), ("D.md:0", 0.1))
    index = vault().link("B.md", "C.md").link("D.md", "E.md")
    assert added(expanded(index, *hits, seeds=2)) == ["C.md:0"]


def test_a_candidate_already_is_counted_not_added():
    hits = (("A.md:0", 0.9), ("C.md:0", 0.1))
    query = TracedQuery("?")
    index = vault().link("A.md", "C.md").link("A.md", "D.md")
    assert added(expanded(index, *hits, seeds=1, query=query)) == ["D.md:0"]
    assert query.trace.counts["expansion"]["hits_already"] == 1


def test_the_limit_takes_the_heaviest():
    index = vault().link("A.md", "C.md").link("A.md", "D.md")
    index.pagerank |= {"C.md": 0.1, "D.md": 0.3}
    query = TracedQuery("?")
    assert added(expanded(index, notes=1, query=query)) == ["D.md:0"]
    assert query.trace.counts["expansion"]["over_limit"] == 1


@pytest.mark.parametrize(("depth", "expected"), [(1, ["C.md:0"]), (2, ["C.md:0", "D.md:0"])])
def test_depth(depth, expected):
    index = vault().link("A.md", "C.md").link("C.md", "D.md").link("D.md", "E.md")
    index.pagerank |= {"C.md": 0.3}
    assert added(expanded(index, depth=depth)) == expected


def test_more_links_weigh_more():
    index = vault().link("A.md", "C.md").link("A.md", "D.md").link("B.md", "D.md")
    found = expanded(index)
    assert added(found) == ["D.md:0", "C.md:0"]
    assert found[2].node.metadata["expanded_from"] == {
        "path": "A.md",
        "line": 2,
        "way": "forward",
        "depth": 1,
        "edges": 2,
    }
    assert found[2].node.metadata["signals"]["expansion"] == {
        "rank": 1,
        "score": pytest.approx(0.1 * math.log(3)),
        "weight": None,
    }


def test_no_hits_and_unknown_hits():
    assert expanded(vault().link("A.md", "C.md"), ("Elsewhere.md:0", 0.5))[1:] == []
    inner = Listed()
    outer = GraphEnhancedRetriever(inner, vault(), expansion=PRESETS["balanced"])
    assert outer.retrieve("?") == []


def test_expanded_hits_are_whole_unless_told_otherwise():
    index = vault().link("A.md", "C.md")
    assert expanded(index)[2].node.get_content() == "C part 0"
    outer = GraphEnhancedRetriever(
        Listed(("A.md:0", 0.9)), index, expansion=PRESETS["balanced"], with_text=False
    )
    assert outer.retrieve("?")[1].node.get_content() == ""


def test_async_gives_the_same():
    index = vault().link("A.md", "C.md")
    outer = GraphEnhancedRetriever(
        Listed(("A.md:0", 0.9)), index, expansion=PRESETS["balanced"], clock=lambda: NOW
    )
    assert ids(asyncio.run(outer.aretrieve("?"))) == ids(outer.retrieve("?"))


@pytest.mark.parametrize(
    ("days", "expected"),
    [(-5, 1.0), (0, 1.0), (30, 0.5), (60, 0.25), (120, 0.0625), (4_000, 0.0625)],
)
def test_recency_halves_in_30_days_for_120(days, expected):
    assert recency(NOW - days * DAY, NOW) == pytest.approx(expected)


def test_weight_is_the_product():
    assert weight(0.2, 3, NOW - 30 * DAY, NOW) == pytest.approx(0.2 * math.log(4) * 0.5)


@pytest.mark.parametrize(
    ("name", "notes", "depth"),
    [("off", 0, 1), ("conservative", 10, 1), ("balanced", 15, 1), ("aggressive", 20, 2)],
)
def test_presets(name, notes, depth):
    assert (preset(name).notes, preset(name).depth) == (notes, depth)


def test_an_unknown_preset_lists_those_there_are():
    with pytest.raises(ValueError, match="'wild'; choose: off, conservative, balanced, aggressive"):
        preset("wild")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"notes": -1}, "notes is -1"),
        ({"notes": 1, "depth": 3}, "depth is 3; it must be 1 or 2"),
        ({"notes": 1, "direction": "up"}, "choose: forward, backward, both"),
        ({"notes": 1, "seeds": 0}, "seeds is 0"),
    ],
    ids=["notes", "depth", "direction", "seeds"],
)
def test_mistakes_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        Expansion(**options)
