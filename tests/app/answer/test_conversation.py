"""A follow-up becomes a question that stands alone; what is no question is not taken for one."""

import pytest

from tests.support.product import (
    MAX_ADDED_CHARS,
    MAX_ANSWER_CHARS,
    Turn,
    condense_follow_up,
    recent_messages,
    subject_of,
)
from tests.support.scripted_llm import ScriptedLLM
from tests.support.tables import rows


def words(text: str) -> int:
    return len(text.split())


def said(*turns: Turn, most: int = 1_000) -> list[str]:
    return [str(message.content) for message in recent_messages(turns, most, words)]


TIDE = Turn("What is the tide gate?", "A gate that closes by itself [1].", ("Gate.md",))
PRIYA = Turn("Who built it?", "Priya did [1].", ("Priya.md",))


def test_what_does_not_fit_is_left_out_from_the_oldest() -> None:
    assert said(TIDE, PRIYA, most=15) == [PRIYA.question, PRIYA.answer]


def test_a_long_answer_is_kept_to_whole_sentences() -> None:
    (_, answer) = said(Turn("How?", "The gate closes when the water rises above the mark. " * 60))
    assert len(answer) <= MAX_ANSWER_CHARS
    assert answer.endswith("above the mark.")


@pytest.mark.parametrize(
    ("told", "question"),
    [
        *rows(__file__, "what_a_model_says"),
        pytest.param("x" * (MAX_ADDED_CHARS + 9), "and who?", id="an essay"),
    ],
)
def test_what_a_model_says(told: str, question: str) -> None:
    llm = ScriptedLLM(says=told)
    assert condense_follow_up(llm, recent_messages([TIDE], 100, words), "and who?") == question


@pytest.mark.parametrize(
    ("question", "cited", "content", "subject"), rows(__file__, "what_a_question_was_about")
)
def test_what_a_question_was_about(question: str, cited: list[str], content: list[str], subject: str) -> None:
    assert subject_of(question, [], cited, content) == subject
