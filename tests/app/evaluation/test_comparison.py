"""Measures of replies, and how settings compare by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan, log2

import numpy as np
import pytest

from tests.support.product import (
    ANSWERS,
    RANKED,
    STOCK,
    Answered,
    Context,
    Evaluated,
    Lines,
    Question,
    QuestionSet,
    Settings,
    Target,
    UsageError,
    Variant,
    ablation,
    answer_values,
    ask_all,
    baseline,
    compare,
    context_values,
    distinct,
    holds,
    load_settings,
    mean,
    named,
    pair,
    ranked_targets,
    ranking_values,
    refusal,
)
from tests.support.tables import rows

QUESTIONS = tuple(
    Question(f"q{n}", f"What is {n}?", (Target("a.md"), Target(f"{n}.md"))) for n in range(4)
)

ASKED = QuestionSet("set", QUESTIONS, "context.all")

VARIANTS = [Variant("first"), Variant("second", {"connected.max": 3}, "first")]


class Scripted:
    """Finds the same for every question."""

    def __init__(self, sources: Sequence[str], linked: Sequence[str] = ()) -> None:
        self.found = Context(tuple(sources), tuple(linked), lambda: Answered(""))

    def context(self, _: Question) -> Context:
        return self.found

    def notes(self, _: Question) -> Sequence[str]:
        return self.found.sources

    def chunks(self, _: Question) -> Sequence[tuple[str, Lines]]:
        return [(path, (1, 9)) for path in self.found.sources]


def evaluated(searches: Mapping[str, Scripted]) -> Evaluated:
    outcomes = {name: ask_all(search, QUESTIONS) for name, search in searches.items()}
    return Evaluated("set", 9, "context.all", QUESTIONS, compare(ASKED, VARIANTS, outcomes), {})


BOTH = {
    "first": Scripted(["a.md", "0.md", "1.md"]),
    "second": Scripted(["a.md", "1.md"], ["2.md", "3.md"]),
}


def test_settings_are_held_to_the_one_they_name() -> None:
    first, second = evaluated(BOTH).rows
    assert (first.against, dict(first.gains), first.helped, first.hurt) == (None, {}, (), ())
    assert first.measures["context.all"].value == 0.5
    assert second.measures["context.all"].value == 0.75
    assert second.gains["context.all"].value == 0.25
    assert second.gains["context.linked"].value == 0.5
    assert [change.id for change in second.helped] == ["q2", "q3"]
    assert [change.id for change in second.hurt] == ["q0"]
    assert (second.hurt[0].before, second.hurt[0].after) == (1, 0)
    assert second.hurt[0].found_before == ("a.md", "0.md", "1.md")
    assert second.values == (0, 1, 1, 1)
    assert second.recall[:2] == (0.5, 0.625)


KNOWN = (
    Question("place", "Where is the gate?", (Target("a.md"),), answers=("Hollin Reach",)),
    Question("year", "When was it built?", (Target("a.md"),), answers=("1974",)),
    Question("either", "Is it oak or steel?", (Target("a.md"),), answers=("oak",)),
    Question("more", "Who asked?", (Target("a.md"),)),
)


def answering(*texts: str) -> Scripted:
    """Says one text after the other, from sources that say the first and the second."""
    search, said = Scripted(["a.md"]), iter(texts)

    def answered() -> Answered:
        return Answered(next(said), frozenset({"a.md"}), "At Hollin Reach, built in 1974.")

    search.found = replace(search.found, answered=answered)
    return search


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings()


def of(settings: Settings, variant: Variant) -> Settings:
    return settings.with_overrides(variant.overrides)


def test_the_baseline_is_a_stock_assembly(settings: Settings) -> None:
    stock, current = baseline(settings)
    assert (current.against, of(settings, current)) == (STOCK, settings)
    found = of(settings, stock)
    assert found.retrieval.rrf_k == 60
    assert not found.retrieval.title_dispatch
    assert found.connected.max == 0
    assert found.connected.context_chunks == settings.connected.context_chunks


def test_the_same_settings_are_run_once(settings: Settings) -> None:
    variants = ablation(settings)
    groups = distinct(settings, variants)
    assert sum(map(len, groups.values())) == len(variants)
    together = {variant.name: first for first, same in groups.items() for variant in same}
    assert together["current"] == together["... + gate"]
    assert together["without gate"] == together["... + order context"]
    assert together["without lexical"] != together["bare semantic"]


@pytest.mark.parametrize("said", ["nothing", "connected.max", "connected.max=0,gate", "=1"])
def test_what_names_no_setting_is_refused(settings: Settings, said: str) -> None:
    with pytest.raises(UsageError, match=rf"no setting '{said}'; write one of current, stock"):
        named(settings, said)


def test_a_pair(settings: Settings) -> None:
    first, second = pair(settings, "fused", "connected.max=1")
    assert (first.against, second.against) == (None, "fused")
    assert of(settings, second).connected.max == 1
    with pytest.raises(UsageError, match="compared with itself"):
        pair(settings, "stock", "stock")


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


@pytest.mark.parametrize(
    ("text", "answer", "held"),
    rows(__file__, "holds"),
)
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


def test_refusals() -> None:
    question = asked("When?", "1974")
    assert refusal(question, Answered("", sources="Rain.")) == 1
    assert refusal(question, Answered("It rained.", sources="Rain.")) == 0
    assert isnan(refusal(question, Answered("In 1974.", sources="In 1974.")))


def test_an_interval_holds_the_mean_and_narrows() -> None:
    few = mean(np.asarray([0.0, 1.0] * 10))
    many = mean(np.asarray([0.0, 1.0] * 500))
    assert few.low < 0.5 < few.high
    assert many.high - many.low < (few.high - few.low) / 5
    assert mean(np.ones(9)).low == 1
