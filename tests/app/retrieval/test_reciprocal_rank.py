"""Reciprocal rank fusion: values by hand, and what holds for any rankings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import fuse

RANKINGS = st.dictionaries(
    st.sampled_from(["semantic", "lexical", "graph"]),
    st.lists(st.sampled_from("abcdefgh"), unique=True),
)


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
    "weights count": (
        {"s": ["a"], "l": ["b"]},
        {"s": 1.0, "l": 100.0},
        [("b", 100 / 61), ("a", 1 / 61)],
    ),
    "weight 0 is out": ({"s": ["a"], "l": ["b"]}, {"s": 1.0, "l": 0.0}, [("a", 1 / 61)]),
    "a weight may lack a ranking": ({"s": ["a"]}, {"s": 1.0, "l": 1.0}, [("a", 1 / 61)]),
}


@pytest.mark.parametrize(("rankings", "weights", "expected"), SCORES.values(), ids=SCORES)
def test_scores(rankings, weights, expected):
    found = [(one.id, one.score) for one in fuse(rankings, weights)]
    assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(({"s": ["a"]}, None, 0), "k is 0", id="k"),
        pytest.param(({"s": ["a", "a"]}, None, 60), "'s' repeats an id", id="repeated id"),
        pytest.param(({"s": ["a"]}, {"l": 1.0}, 60), "no weight for the signal 's'", id="weight"),
        pytest.param(({"s": ["a"]}, {"s": -1.0}, 60), "'s' is -1.0", id="negative"),
        pytest.param(({"s": ["a"]}, {"s": float("nan")}, 60), "'s' is nan", id="not a number"),
    ],
)
def test_mistakes(arguments, words):
    with pytest.raises(ValueError, match=words):
        fuse(*arguments)


@given(RANKINGS)
def test_each_id_once_by_score_then_id(rankings):
    fused = fuse(rankings)
    assert sorted(one.id for one in fused) == sorted({id_ for r in rankings.values() for id_ in r})
    assert fused == sorted(fused, key=lambda one: (-one.score, one.id))
