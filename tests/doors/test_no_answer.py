"""When the notes hold no answer: what is refused, what the reply names, what a language model hears."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import VaultHandle
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model

HINT = "found nothing in them that clearly answers"


@pytest.fixture(scope="module")
def vault(demo: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(demo[0], index_dir=demo[1]) as opened:
        yield opened


@pytest.mark.parametrize(
    "question",
    [
        "qwpoeiru zmxncbv alskdjf",  # which reads like Swedish
        "asdf qwer zxcv hjkl",
        "flurble wexnot brizzle quandom?",
        "blarp fizzwig?",
        "of the and to which with under it",
        "define quantum entanglement",  # whose words a detector takes for French
        "Who is the CEO of Siemens?",
        "How do I set up a wireless printer at home?",
        "what interest rate did we get on the mortgage?",
        "wie hoch ist der Eiffelturm",
        "receta de paella valenciana",
    ],
)
def test_gibberish_and_other_subjects_are_refused(vault: VaultHandle, question: str) -> None:
    answer = vault.ask(question)
    assert answer.mode == "none"
    assert not answer.citations
    assert answer.answer.startswith("I found nothing in your notes that answers this.")


@pytest.mark.parametrize(
    "question",
    [
        "How high is the sluice gate above the sea?",
        "what is a tidal prism",
        "Who looks after the oysters?",
        "What is the plan for the wall?",
    ],
)
def test_what_the_notes_speak_of_is_answered(vault: VaultHandle, question: str) -> None:
    assert vault.ask(question).mode == "extractive"


def test_a_word_that_no_note_has_is_named(vault: VaultHandle) -> None:
    answer = vault.ask("What is the capital of Peru?")
    assert "No note has the words “capital” or “Peru”." in answer.answer


def test_a_comparison_says_which_side_is_missing(vault: VaultHandle) -> None:
    """Whether the other side is quoted or not, and its sentence about that is no claim."""
    answer = vault.ask("What is the difference between a tidal prism and a heliostat?")
    assert answer.mode == "extractive"
    assert "tidal prism" in answer.answer.lower()
    assert answer.answer.rstrip().endswith("I found nothing about “heliostat”.")
    assert [claim.flag for claim in answer.claims if claim.flag] == []

    answer = vault.ask("compare Pell Sluice and the Thames Barrier")
    assert answer.answer.rstrip().endswith("I found nothing about “Thames Barrier”.")

    answer = vault.ask("Compare the Eiffel tower and a heliostat")
    assert answer.mode == "none"
    assert "I found nothing about “Eiffel tower” or “heliostat”." in answer.answer


@pytest.mark.parametrize(
    ("question", "held"),
    [
        # Each of a note that is there, and near the question by its words.
        ("What's Femi's phone number?", "Femi Adeyoju"),
        ("When is Femi's birthday?", "Femi Adeyoju"),
        ("Which colour is Pipit going to be painted?", "Pipit"),
        ("password for the fund portal", "Resilience Fund Bid"),
    ],
)
def test_a_note_that_lacks_what_is_asked_for_is_near_and_no_answer(
    vault: VaultHandle, question: str, held: str
) -> None:
    answer = vault.ask(question)
    assert answer.mode == "none"
    assert held in answer.answer.split("Nearest:")[1]


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Price of a single young oyster?", "£"),
        ("how old is the dinghy, what year was she built?", "1968"),
        ("deadline for the fund application?", "2026-10-30"),
        ("how heavy is mum's piano", "240 kilos"),
        ("latest reading for marker 4?", "marker"),
    ],
)
def test_what_is_asked_for_to_the_letter_is_answered_where_it_stands(
    vault: VaultHandle, question: str, says: str
) -> None:
    answer = vault.ask(question)
    assert answer.mode == "extractive"
    assert says.lower() in answer.answer.lower()


def test_of_a_comparison_of_two_known_things_nothing_is_missing(vault: VaultHandle) -> None:
    answer = vault.ask("cast gate vs welded gate?")
    assert answer.mode == "extractive"
    assert "found nothing" not in answer.answer


@pytest.mark.parametrize(
    ("says", "mode"),
    [("The vault does not say.", "llm"), ("Siemens is led by nobody that I know of [1].", "llm")],
)
def test_a_language_model_is_told_and_decides(
    demo: tuple[Path, Path], says: str, mode: str
) -> None:
    """What was found is shown to it all the same: it may answer, or say that the vault does not."""
    model = ScriptedLLM(says=says)
    with open_vault(demo[0], index_dir=demo[1], llm=model) as opened:
        answer = opened.ask("Who is the CEO of Siemens?")
        assert HINT in model.asked[-1]
        assert answer.answer.startswith(says.split(" [")[0])
        assert answer.mode == mode
        opened.ask("what is a tidal prism")
        assert HINT not in model.asked[-1]
