"""Questions are asked once each, and settings are held to one another question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.product import (
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
    ask_all,
    baseline,
    compare,
    distinct,
    load_settings,
    named,
    pair,
)

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


def test_answers_are_held_to_the_known_ones() -> None:
    """Each measure is of the questions that it applies to; what was said and how long is kept."""
    asked = QuestionSet("set", KNOWN, "answer.contains")
    outcomes = {
        "first": ask_all(answering("At Hollin Reach.", "", "Oak it is.", "No."), KNOWN),
        "second": ask_all(answering("", "Built in 1974 or so.", "Oak it is.", "No."), KNOWN),
    }
    first, second = compare(asked, VARIANTS, outcomes)
    assert first.answers == ("At Hollin Reach.", "", "Oak it is.", None)
    assert first.words == 2
    assert first.measures["answer.contains"].value == 0.5
    assert first.measures["answer.choice"].value == 1
    assert first.measures["answer.silent"].value == pytest.approx(1 / 3)
    assert first.measures["answer.sources"].value == 1
    assert "answer.yes_no" not in first.measures
    assert first.values == (1, 0, None, None)
    assert second.gains["answer.contains"].value == 0
    assert [change.id for change in second.helped] == ["year"]
    assert [change.id for change in second.hurt] == ["place"]


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings()


def of(settings: Settings, variant: Variant) -> Settings:
    return settings.with_overrides(variant.overrides)


def no_file(path: str) -> Mapping[str, Any]:
    raise AssertionError(path)


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
        named(settings, said, no_file)


def test_a_pair(settings: Settings) -> None:
    first, second = pair(settings, "fused", "connected.max=1", no_file)
    assert (first.against, second.against) == (None, "fused")
    assert of(settings, second).connected.max == 1
    with pytest.raises(UsageError, match="compared with itself"):
        pair(settings, "stock", "stock", no_file)
