"""The fusion retriever: votes, failures, dispatch and widening, both ways to run it."""

import asyncio
from functools import partial

import pytest

from tests.support import product
from tests.support.fake_index import Broken, FakeIndex, Listed, ids


def ask(retriever, query):
    """Both ways to run it find the same."""
    found = retriever.retrieve(query)
    assert ids(asyncio.run(retriever.aretrieve(query))) == ids(found)
    return found


def test_one_failing_signal_is_told_and_the_others_vote():
    query = product.TracedQuery("?")
    fusion = product.WeightedFusionRetriever(
        {"semantic": Broken(RuntimeError("no")), "lexical": Listed(("a", 1))}
    )
    assert ids(ask(fusion, query)) == ["a"]
    assert query.trace.warnings == [
        "the semantic signal failed and did not vote (RuntimeError: no); the ranking is that of: lexical"
    ]


@pytest.mark.parametrize(
    ("error", "other"),
    [
        pytest.param(product.ModelError("no weights"), Broken(RuntimeError("no")), id="all fail"),
        pytest.param(product.QueryError("no words"), Listed(), id="a query that cannot be run"),
    ],
)
def test_the_first_error_is_raised(error, other):
    with pytest.raises(type(error), match=str(error)):
        ask(product.WeightedFusionRetriever({"semantic": Broken(error), "lexical": other}), "?")


def widened(notes=5):
    index = (
        FakeIndex()
        .add("Aurora.md", 0, aliases=("Nordlicht", "project A"))
        .add("Sam.md", 5, aliases=("Samira",))
    )
    lexical = Listed(("Sam.md:0", 1.0))
    semantic = Listed(("Aurora.md:0", 0.9), ("Aurora.md:1", 0.8), ("Sam.md:0", 0.7))
    fusion = product.WeightedFusionRetriever(
        # The one that is widened stands first: its query still waits for the other.
        {"lexical": lexical, "semantic": semantic},
        widening=partial(product.add_aliases, index, notes=notes),
    )
    return fusion, semantic, lexical


@pytest.mark.parametrize(
    ("query", "notes", "expected"),
    [
        pytest.param("ship date", 5, "ship date Nordlicht project A Samira", id="all"),
        pytest.param("ship date", 1, "ship date Nordlicht project A", id="the best note"),
        pytest.param("Project  a ship date", 1, "Project  a ship date Nordlicht", id="new ones"),
    ],
)
def test_the_lexical_query_is_widened_by_aliases(query, notes, expected):
    fusion, semantic, lexical = widened(notes)
    fusion.retrieve(query)
    assert (semantic.queries, lexical.queries) == ([query], [expected])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"retrievers": {}}, "no signal has a weight", id="no signal"),
        pytest.param({"weights": {"s": 0}}, "no signal has a weight", id="all weights 0"),
        pytest.param({"weights": {"s": -1}}, "0 or more", id="negative"),
        pytest.param({"weights": {"x": 1}}, "weights are given for x; the signals are: s", id="x"),
        pytest.param({"k": 0}, "k is 0", id="k"),
    ],
)
def test_mistakes_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        product.WeightedFusionRetriever(**({"retrievers": {"s": Listed()}} | options))


SCORES = {
    "no signal": ({}, None, []),
    "empty ranking": ({"s": []}, None, []),
    "ranks from 1": ({"s": ["a", "b"]}, None, [("a", 1 / 61), ("b", 1 / 62)]),
    "votes add up": ({"s": ["a", "b"], "l": ["b"]}, None, [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]),
    "ties by id": (
        {"s": ["b", "a"], "l": ["a", "b"]},
        None,
        [("a", 1 / 62 + 1 / 61), ("b", 1 / 61 + 1 / 62)],
    ),
    "weights count": ({"s": ["a"], "l": ["b"]}, {"s": 1.0, "l": 100.0}, [("b", 100 / 61), ("a", 1 / 61)]),
    "weight 0 is out": ({"s": ["a"], "l": ["b"]}, {"s": 1.0, "l": 0.0}, [("a", 1 / 61)]),
    "a weight may lack a ranking": ({"s": ["a"]}, {"s": 1.0, "l": 1.0}, [("a", 1 / 61)]),
}


@pytest.mark.parametrize(("rankings", "weights", "expected"), SCORES.values(), ids=SCORES)
def test_scores(rankings, weights, expected):
    found = [(one.id, one.score) for one in product.fuse(rankings, weights)]
    assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


@pytest.mark.parametrize(
    ("ids", "weights", "words"),
    [
        (["a", "a"], None, "'s' repeats an id"),
        (["a"], {"l": 1.0}, "the weight of 's' is nan"),
        (["a"], {"s": float("nan")}, "'s' is nan"),
    ],
)
def test_a_ranking_that_cannot_be_fused(ids, weights, words):
    with pytest.raises(ValueError, match=words):
        product.fuse({"s": ids}, weights)


def test_a_name_stands_for_the_first_passage_of_its_note_alone():
    index = FakeIndex().add("Aurora.md", 0, 5)
    title = product.TitleRetriever(index)
    query = product.TracedQuery("Aurora")
    assert title.rank(query) == [("Aurora.md:0", 1.0)]
    assert title.rank(query, {"Aurora.md:0", "Aurora.md:1"}) == [("Aurora.md:0", 1.0)]
    assert title.rank(query, {"Aurora.md:1"}) == []
