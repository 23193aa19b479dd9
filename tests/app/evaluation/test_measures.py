"""The measures are those of the textbook, for hand-made rankings."""

from __future__ import annotations

import sys
from math import log2

import pytest

from tests.support.product import (
    ANSWERS,
    MEASURES,
    RANKED,
    Question,
    Target,
    UsageError,
    check_installed,
    checked_measure,
    context_values,
    ranked_notes,
    ranked_targets,
    ranking_values,
)


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


def test_recall_at_every_cut_off() -> None:
    _, recall = ranking_values([[None, 0, 1], [None]], [2, 1])
    assert recall.shape == (2, 20)
    assert recall[0].tolist() == [0.0, 0.5] + [1.0] * 18
    assert not recall[1].any()


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


def test_notes_are_numbered_by_their_place_in_gold() -> None:
    assert ranked_notes(["x.md", "b.md", "a.md"], ["a.md", "b.md"]) == [None, 1, 0]


@pytest.mark.parametrize(
    ("sources", "linked", "expected"),
    [
        (["a.md", "b.md"], [], (1.0, 0.0)),
        (["a.md"], ["b.md"], (1.0, 1.0)),
        (["a.md", "b.md"], ["b.md"], (1.0, 0.0)),
        (["x.md"], ["b.md"], (0.0, 1.0)),
        (["a.md"], ["x.md"], (0.0, 0.0)),
    ],
)
def test_a_context(sources: list[str], linked: list[str], expected: tuple[float, float]) -> None:
    question = Question("q", "?", (Target("a.md"), Target("b.md")))
    assert context_values(question, sources, linked) == expected


def test_a_measure_that_does_not_exist_is_refused_with_those_that_do() -> None:
    assert checked_measure("notes.mrr") == "notes.mrr"
    with pytest.raises(UsageError, match=r"no measure 'mrr'; choose: context\.all,.*chunks\.mrr"):
        checked_measure("mrr")
    assert len(MEASURES) == len(set(MEASURES)) == 2 + 2 * len(RANKED) + len(ANSWERS)


def test_a_missing_library_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(UsageError, match=r"pip install 'notehop\[eval\]'"):
        check_installed()
