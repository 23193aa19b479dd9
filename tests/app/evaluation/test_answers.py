"""A known answer is found in a text however it is written, and not where it does not stand."""

from __future__ import annotations

from math import isnan

import pytest

from tests.support.product import (
    ANSWERS,
    Answered,
    Question,
    Target,
    answer_values,
    drawn,
    holds,
    kind_of,
    normalised,
    refusal,
    strangers,
)
from tests.support.product import GoldStringsKind as Kind


@pytest.mark.parametrize(
    ("text", "answer", "held"),
    [
        pytest.param("It was the Port of Spain.", "port of Spain", True, id="case-article"),
        pytest.param("Lyons’ death, in 1939", "Lyons' death in 1939", True, id="punctuation"),
        pytest.param("Beyonce sang.", "Beyoncé", True, id="marks-on-letters"),
        pytest.param("from 1990–1994", "1994", True, id="dash"),
        pytest.param("1,200 people", "1200", True, id="thousands"),
        pytest.param("about 1200 people", "120", False, id="part-of-a-number"),
        pytest.param("a length of 3.5 m", "35", False, id="decimal-point"),
        pytest.param("a length of 3.5 m", "3.5", True, id="decimal"),
        pytest.param("five gates", "5", True, id="number-in-words"),
        pytest.param("on 20 March 851", "March 20, 851", True, id="day-first"),
        pytest.param("on March 20th, 851", "20 March 851", True, id="day-in-order"),
        pytest.param("Stanleyville", "Stanley", False, id="part-of-a-word"),
        pytest.param("東京都に住む", "東京", True, id="no-spaces-between-words"),
        pytest.param("Anything.", "the", False, id="no-words"),
    ],
)
def test_holds(text: str, answer: str, held: bool) -> None:
    assert holds(text, [answer]) is held


def test_normalising_twice_is_normalising_once() -> None:
    text = "The 3rd of May, a U.S.-made “One”: 1,000.5 €"
    assert normalised(normalised(text)) == normalised(text)


@pytest.mark.parametrize(
    ("question", "answers", "kind"),
    [
        ("Is it older?", ["Yes"], "yes_no"),
        ("Which is older, Oak Gate or the Mill?", ["oak gate"], "choice"),
        ("When was it built?", ["1974", "in 1974"], "open"),
    ],
)
def test_kinds(question: str, answers: list[str], kind: Kind) -> None:
    assert kind_of(question, answers) == kind


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


def test_silence_about_what_only_a_connected_note_says() -> None:
    found = values(asked("When?", "1974"), Answered("", frozenset(), "Then.", "In 1974."))
    assert (found["contains"], found["silent"]) == (0, 1)
    assert (found["sources"], found["context"], found["cites_all"]) == (0, 1, 0)


def test_yes_is_in_no_note_and_an_alias_is_told_apart() -> None:
    yes = values(asked("Is it?", "yes"), Answered("It is.", frozenset({"a.md", "b.md"})))
    assert yes == {"yes_no": 1, "cites_all": 1, "silent": 0}
    other = values(asked("Who?", "Ann", "A. Bee"), Answered("A. Bee did.", frozenset({"a.md"})))
    assert (other["contains"], other["by_alias"]) == (1, 1)


def test_refusals() -> None:
    question = asked("When?", "1974")
    assert refusal(question, Answered("", sources="Rain.")) == 1
    assert refusal(question, Answered("It rained.", sources="Rain.")) == 0
    assert isnan(refusal(question, Answered("In 1974.", sources="In 1974.")))


def test_strangers_have_an_answer_and_no_note_in_the_vault() -> None:
    known = asked("When?", "1974")
    assert strangers([known, asked("Who?")], frozenset({"c.md"})) == [known]
    assert strangers([known], frozenset({"b.md"})) == []
    many = [Question(str(n), "?", ()) for n in range(50)]
    few = drawn(many, 10, 0)
    assert len(few) == 10
    assert few == drawn(many, 10, 0) == sorted(few, key=lambda one: int(one.id))
    assert drawn(many, 50, 0) == many
