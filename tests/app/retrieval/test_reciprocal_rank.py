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


@pytest.mark.parametrize(
    ("rankings", "weights", "expected"),
    [
        pytest.param({}, None, [], id="no signal"),
        pytest.param({"s": []}, None, [], id="empty ranking"),
        pytest.param({"s": ["a", "b"]}, None, [("a", 1 / 61), ("b", 1 / 62)], id="ranks from 1"),
        pytest.param(
            {"s": ["a", "b"], "l": ["b"]},
            None,
            [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)],
            id="votes add up",
        ),
        pytest.param(
            {"s": ["b", "a"], "l": ["a", "b"]},
            None,
            [("a", 1 / 62 + 1 / 61), ("b", 1 / 61 + 1 / 62)],
            id="ties by id",
        ),
        pytest.param(
            {"s": ["a"], "l": ["b"]},
            {"s": 1.0, "l": 100.0},
            [("b", 100 / 61), ("a", 1 / 61)],
            id="weights count",
        ),
        pytest.param(
            {"s": ["a"], "l": ["b"]}, {"s": 1.0, "l": 0.0}, [("a", 1 / 61)], id="weight 0 is out"
        ),
        pytest.param(
            {"s": ["a"]}, {"s": 1.0, "l": 1.0}, [("a", 1 / 61)], id="a weight may lack a ranking"
        ),
    ],
)
def test_scores(rankings, weights, expected):
    found = [(one.id, one.score) for one in fuse(rankings, weights)]
    assert [id_ for id_, _ in found] == [id_ for id_, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])


def test_every_hit_keeps_its_ranks():
    assert {one.id: dict(one.ranks) for one in fuse({"s": ["a", "b"], "l": ["b"]})} == {
        "a": {"s": 1},
        "b": {"s": 2, "l": 1},
    }


def test_a_small_k_prefers_the_first_of_one_signal_to_the_middle_of_two():
    rankings = {"s": ["x", "m"], "l": ["y", "z", "m"]}
    assert fuse(rankings, k=60)[0].id == "m"
    assert fuse(rankings, k=1)[0].id == "m"
    assert fuse({"s": ["x", "p", "q", "m"], "l": ["y", "r", "t", "m"]}, k=1)[0].id == "x"


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


@given(RANKINGS, st.floats(min_value=0.1, max_value=10))
def test_the_order_does_not_depend_on_a_common_factor(rankings, factor):
    plain = fuse(rankings, dict.fromkeys(rankings, 1.0))
    scaled = fuse(rankings, dict.fromkeys(rankings, factor))
    assert {one.id: one.score * factor for one in plain} == pytest.approx(
        {one.id: one.score for one in scaled}
    )


@given(RANKINGS)
def test_the_order_of_the_signals_does_not_matter(rankings):
    turned = dict(reversed(list(rankings.items())))
    assert [(one.id, one.score) for one in fuse(rankings)] == [
        (one.id, one.score) for one in fuse(turned)
    ]
