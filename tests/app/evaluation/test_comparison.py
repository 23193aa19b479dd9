"""Measures of replies."""

from math import log2

import pytest

from tests.support.product import RANKED, Question, context_values, ranking_values
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("ranking", "gold", "measure", "expected"),
    [
        ("a", "a", "hit@1", 1.0),
        ("xa", "a", "hit@1", 0.0),
        ("xya", "a", "mrr", 1 / 3),
        ("xa", "a", "ndcg@5", 1 / log2(3)),
        ("axb", "ab", "ndcg@10", (1 + 1 / log2(4)) / (1 + 1 / log2(3))),
        ("vwxyza", "a", "ndcg@5", 0.0),
        ("axb", "ab", "precision@10", 0.2),
        ("avwxyb", "abc", "recall@5", 1 / 3),
        ("avwxyb", "abc", "recall@10", 2 / 3),
        ("bcdefghijklmnopqrsta", "a", "recall@20", 1.0),
        ("", "a", "mrr", 0.0),
        ("bcdefghijklmnopqrstu", "av", "recall@20", 0.0),
    ],
)
def test_a_ranking(ranking: str, gold: str, measure: str, expected: float) -> None:
    values = ranking_values([ranking], [gold])
    assert values[0, RANKED.index(f"notes.{measure}")] == pytest.approx(expected)


@pytest.mark.parametrize(("sources", "linked", "expected"), rows(__file__, "a_context"))
def test_a_context(sources: list[str], linked: list[str], expected: list[float]) -> None:
    question = Question("q", "?", ("a.md", "b.md"))
    assert [*context_values(question, sources, linked)] == expected
