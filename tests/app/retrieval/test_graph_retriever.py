"""Recall expansion: who joins, by which chunk, in which order, and where it ranks."""

import math

import pytest

from tests.support import product
from tests.support.fake_index import AngleEmbedding, FakeIndex, Listed, ids

NOW = 1_000 * product.DAY_S


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
    expansion = product.Expansion(**({"notes": 10} | options))
    outer = product.GraphEnhancedRetriever(
        inner, index, expansion=expansion, allowed=allowed, clock=lambda: NOW
    )
    return outer.retrieve(query)


def added(found):
    return [hit.node.node_id for hit in found if "expanded_from" in hit.node.metadata]


def test_a_link_brings_the_chunk_it_names_and_a_backlink_the_one_that_holds_it():
    index = vault().link("A.md", "C.md", to=1, fragment="Part 1").link("E.md", "B.md", chunk=1)
    assert added(expanded(index)) == ["C.md:1", "E.md:1"]


def test_only_what_is_allowed_joins():
    index = vault().link("A.md", "C.md", to=1).link("A.md", "D.md").link("E.md", "B.md")
    query = product.TracedQuery("?")
    allowed = {"C.md:0", "D.md:0"}
    assert added(expanded(index, query=query, allowed=allowed)) == ["D.md:0"]
    assert query.trace.counts["expansion"] == {"neighbours": 3, "added": 1}


def test_seeds_are_the_best_notes_not_chunks():
    hits = (("A.md:0", 0.9), ("A.md:1", 0.8), ("B.md:0", 0.5), ("D.md:0", 0.1))
    index = vault().link("B.md", "C.md").link("D.md", "E.md")
    assert added(expanded(index, *hits, seeds=2)) == ["C.md:0"]
    both = vault().link("A.md", "C.md", chunk=0).link("A.md", "C.md", chunk=1)
    by_the_second = expanded(both, ("A.md:1", 0.9), ("A.md:0", 0.8))
    assert by_the_second[-1].node.metadata["expanded_from"]["line"] == 2


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
        "weight": pytest.approx(0.1 * math.log(3)),
    }
    assert found[2].node.metadata["signals"]["expansion"] == {
        "rank": 1,
        "score": pytest.approx(1 / 11 + 1 / 11),
        "weight": None,
    }


def fused(index, *, weight=0.25, top_k=10, candidates=2, allowed=None, judges=None, **options):
    """Notes by angle and by words, fused, with neighbours of the two best notes of each."""
    fusion = product.WeightedFusionRetriever(
        {
            "semantic": product.SemanticRetriever(
                index, AngleEmbedding(), similarity_top_k=candidates, with_text=False
            ),
            "lexical": product.LexicalRetriever(
                index, product.Tokenizer("en"), similarity_top_k=candidates, with_text=False
            ),
        },
        judges=judges,
        weights=None if judges is None else {"semantic": 1.0, "lexical": 1.0, "judge": 1.0},
        k=20,
        similarity_top_k=top_k,
    )
    return product.GraphEnhancedRetriever(
        fusion,
        index,
        expansion=product.Expansion(**({"notes": 10} | options)),
        weight=weight,
        allowed=allowed,
        with_text=False,
        clock=lambda: NOW,
    )


def around(query="0", **options):
    """What is found for a query near A and B, where A links to D and C."""
    index = vault().link("A.md", "D.md", 20).link("A.md", "C.md", 70)
    query = product.TracedQuery(query)
    return fused(index, **options).retrieve(query), query


def test_a_neighbour_is_scored_by_every_signal_and_by_its_own_vote():
    index = vault().link("A.md", "D.md", 20).words("D.md:0", "0 zero")
    found = fused(index, seeds=1).retrieve("0")
    hit = next(one for one in found if one.node.node_id == "D.md:0")
    signals = hit.node.metadata["signals"]
    assert signals["semantic"]["score"] == pytest.approx(math.cos(math.radians(70)))
    assert signals["semantic"]["rank"] == 3
    assert signals["lexical"]["rank"] == 1
    assert (signals["expansion"]["rank"], signals["expansion"]["weight"]) == (1, 0.25)
    assert hit.score == pytest.approx(1 / 23 + 1 / 21 + 0.25 / 21)


def test_a_neighbour_may_rise_above_a_direct_hit():
    found, _ = around(weight=0.0)
    assert ids(found) == ["A.md:0", "B.md:0", "C.md:0", "D.md:0"]
    assert added(found) == ["C.md:0", "D.md:0"]
    found, _ = around(weight=3.0)
    assert ids(found)[0] == "D.md:0"
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


def test_the_second_link_counts_half():
    index = vault().link("A.md", "C.md", 10).link("C.md", "D.md", 10)
    query = product.TracedQuery("0")
    found = fused(index, depth=2, candidates=1).retrieve(query)
    marks = {
        one.node.node_id: one.node.metadata["expanded_from"]
        for one in found
        if "expanded_from" in one.node.metadata
    }
    assert {id_: mark["depth"] for id_, mark in marks.items()} == {"C.md:0": 1, "D.md:0": 2}
    assert marks["D.md:0"]["path"] == "C.md"
    assert marks["D.md:0"]["weight"] == pytest.approx(marks["C.md:0"]["weight"] / 2)


def test_a_neighbour_is_as_new_as_it_says_and_not_as_its_file():
    """Every copy of a vault sets the times of its files anew."""
    index = (
        FakeIndex()
        .add("A.md", 0, modified=NOW)
        .add("1971-01-01.md", 50, modified=NOW)
        .add("1972-09-26.md", 50, modified=NOW)
        .link("A.md", "1971-01-01.md")
        .link("A.md", "1972-09-26.md")
    )
    assert added(expanded(index, ("A.md:0", 0.9), notes=1)) == ["1972-09-26.md:0"]
