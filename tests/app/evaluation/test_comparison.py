"""Measures of replies."""

from math import isnan, log2

import numpy as np
import pytest

from tests.support.product import (
    ANSWERS,
    RANKED,
    Answered,
    Question,
    Target,
    answer_values,
    context_values,
    holds,
    mean,
    ranked_targets,
    ranking_values,
)
from tests.support.tables import rows


def value(ranking: list[int | None], gold: int, measure: str) -> float:
    values, _ = ranking_values([ranking], [gold])
    return float(values[0, RANKED.index(measure)])


@pytest.mark.parametrize(
    ("ranking", "gold", "measure", "expected"),
    [
        ([0], 1, "hit@1", 1.0),
        ([None, 0], 1, "hit@1", 0.0),
        ([None, None, 0], 1, "mrr", 1 / 3),
        ([None, 0], 1, "ndcg@5", 1 / log2(3)),
        ([0, None, 1], 2, "ndcg@10", (1 + 1 / log2(4)) / (1 + 1 / log2(3))),
        ([None] * 5 + [0], 1, "ndcg@5", 0.0),
        ([0, None, 1], 2, "precision@10", 0.2),
        ([0, None, None, None, None, 1], 3, "recall@5", 1 / 3),
        ([0, None, None, None, None, 1], 3, "recall@10", 2 / 3),
        ([None] * 19 + [0], 1, "recall@20", 1.0),
        ([], 1, "mrr", 0.0),
        ([None] * 20, 2, "recall@20", 0.0),
    ],
)
def test_a_ranking(ranking: list[int | None], gold: int, measure: str, expected: float) -> None:
    assert value(ranking, gold, measure) == pytest.approx(expected)


def test_the_share_of_the_targets_among_the_first() -> None:
    _, shares = ranking_values([[0, None, 1]], [2])
    assert list(np.ravel(shares))[:4] == [0.5, 0.5, 1.0, 1.0]


def test_a_second_passage_of_a_target_is_none() -> None:
    gold = (Target("a.md", "Dates", (4, 8)), Target("b.md"))
    hits = [
        ("a.md", (1, 3)),
        ("a.md", (8, 9)),
        ("b.md", (1, 2)),
        ("b.md", (3, 4)),
        ("c.md", (1, 9)),
    ]
    assert ranked_targets(hits, gold) == [None, 0, 1, None, None]


def test_one_passage_meets_one_target() -> None:
    gold = (Target("a.md", "One", (1, 2)), Target("a.md", "Two", (3, 4)))
    assert ranked_targets([("a.md", (1, 9)), ("a.md", (4, 4))], gold) == [0, 1]


@pytest.mark.parametrize(("sources", "linked", "expected"), rows(__file__, "a_context"))
def test_a_context(sources: list[str], linked: list[str], expected: list[float]) -> None:
    question = Question("q", "?", (Target("a.md"), Target("b.md")))
    assert [*context_values(question, sources, linked)] == expected


@pytest.mark.parametrize(("text", "answer", "held"), rows(__file__, "holds"))
def test_holds(text: str, answer: str, held: bool) -> None:
    assert holds(text, [answer]) is held


def asked(text: str, *answers: str) -> Question:
    return Question("q", text, (Target("a.md"), Target("b.md")), answers=answers)


def values(question: Question, answered: Answered) -> dict[str, float]:
    found = zip(ANSWERS, answer_values(question, answered), strict=True)
    return {name.removeprefix("answer."): value for name, value in found if not isnan(value)}


def test_an_open_question() -> None:
    long = Answered(f"{'word ' * 60}1974", frozenset({"a.md", "b.md"}), "In 1974.")
    assert values(asked("When?", "1974"), long) == {
        "contains": 1,
        "in50": 0,
        "in100": 1,
        "cites_all": 1,
        "silent": 0,
        "sources": 1,
        "context": 1,
    }


def test_an_interval_holds_the_mean_and_narrows() -> None:
    few = mean(np.asarray([0.0, 1.0] * 10))
    many = mean(np.asarray([0.0, 1.0] * 500))
    assert few.low < 0.5 < few.high
    assert many.high - many.low < (few.high - few.low) / 5
    assert mean(np.ones(9)).low == 1
