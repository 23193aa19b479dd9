"""Questions are asked once each, and settings are held to one another question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from app.evaluation.asking import Context, ask_all
from app.evaluation.comparison import Evaluated, compare
from app.evaluation.measures import MEASURES
from app.evaluation.question import Lines, Question, QuestionSet, Target
from app.evaluation.variants import Variant

QUESTIONS = tuple(
    Question(f"q{n}", f"What is {n}?", (Target("a.md"), Target(f"{n}.md"))) for n in range(4)
)
ASKED = QuestionSet("set", QUESTIONS, "context.all")
VARIANTS = [Variant("first"), Variant("second", {"connected.max": 3}, "first")]


class Scripted:
    """Finds the same for every question."""

    def __init__(self, sources: Sequence[str], linked: Sequence[str] = ()) -> None:
        self.found = Context(tuple(sources), tuple(linked))

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


def test_every_question_is_asked_and_told() -> None:
    told: list[None] = []
    outcome = ask_all(Scripted(["0.md", "a.md"]), QUESTIONS, lambda: told.append(None))
    assert len(told) == len(QUESTIONS)
    assert outcome.values.shape == (4, len(MEASURES))
    column = dict(zip(MEASURES, outcome.values.T.tolist(), strict=True))
    assert column["context.all"] == [1, 0, 0, 0]
    assert column["notes.hit@1"] == column["chunks.hit@1"] == [1, 0, 0, 0]
    assert column["notes.recall@20"] == [1, 0.5, 0.5, 0.5]
    assert outcome.passages.tolist() == [2, 2, 2, 2]
    assert outcome.found[0] == ("0.md", "a.md")


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


def test_what_does_not_differ_gains_nothing() -> None:
    _, second = evaluated({"first": BOTH["first"], "second": BOTH["first"]}).rows
    assert {(gain.low, gain.value, gain.high) for gain in second.gains.values()} == {(0, 0, 0)}
    assert second.helped == second.hurt == ()


def test_the_result_is_plain_values() -> None:
    found = evaluated(BOTH).as_json()
    assert found["questions"][1] == {
        "id": "q1",
        "question": "What is 1?",
        "gold": ["a.md", "1.md"],
    }
    assert found["rows"][1]["measures"]["context.all"]["value"] == 0.75
    assert found["rows"][1]["overrides"] == {"connected.max": 3}


def test_no_questions_make_no_row() -> None:
    outcome = ask_all(BOTH["first"], QUESTIONS)
    empty = QuestionSet("empty", (), "context.all")
    with pytest.raises(ValueError, match="nothing to estimate"):
        compare(
            empty,
            VARIANTS[:1],
            {
                "first": type(outcome)(
                    *(
                        part[:0]
                        for part in (
                            outcome.values,
                            outcome.recall,
                            outcome.passages,
                            outcome.milliseconds,
                            outcome.found,
                        )
                    )
                )
            },
        )
