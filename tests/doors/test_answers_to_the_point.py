"""Answers without a language model over the demo vault: what is quoted first and how much, and what
is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import VaultHandle
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def vault(demo: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(demo[0], index_dir=demo[1]) as opened:
        yield opened


def quotes(vault: VaultHandle, question: str) -> list[str]:
    """The quotes of an answer in their order, each on one line."""
    answer = vault.ask(question)
    assert answer.mode == "extractive"
    parts = answer.answer.split("\n— ")[:-1]
    first, rest = parts[0].split("\n", 1)[1], [part.partition("\n")[2] for part in parts[1:]]
    return [" ".join(part.replace("> ", "").split()) for part in (first, *rest)]


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        pytest.param("lead of Pell Sluice", "“lead: ", id="property"),
        pytest.param("deadline of the Resilience Fund Bid", "“deadline: 2026-10-30”", id="date"),
        pytest.param("what is cultch", "“Cultch is old shell", id="definition"),
        pytest.param(
            "What does CRF stand for?", "Resilience Fund Bid: “The Coastal", id="abbreviation"
        ),
        pytest.param(
            "How does the new sluice gate close by itself with no electricity?",
            "“A hinged lid with two floats on arms.",
            id="what a sentence leads to, and not the sentence",
        ),
        pytest.param(
            "How much contingency do we still have at Hollin?",
            "“The reserve was £213,000",
            id="what is kept in another note",
        ),
    ],
)
def test_the_answer_comes_first(vault: VaultHandle, question: str, begins: str) -> None:
    assert quotes(vault, question)[0].startswith(begins)


@pytest.mark.parametrize(
    "question", ["What is cultch?", "deadline of the Resilience Fund Bid", "who is Odile"]
)
def test_one_quote_where_one_answers(vault: VaultHandle, question: str) -> None:
    assert len(quotes(vault, question)) == 1


@pytest.mark.parametrize(
    ("question", "both"),
    [
        (
            "at what water level does the replacement gate at Pell shut and who makes it?",
            ["2.1 m", "Zeeland"],
        ),
        (
            "Why do only half of the oyster beds go in this autumn, and what are the others waiting "
            "for?",
            ["Beds 3 and 4", "Stack B"],
        ),
    ],
)
def test_the_second_note_of_a_question_of_two_is_quoted(
    vault: VaultHandle, question: str, both: list[str]
) -> None:
    told = quotes(vault, question)
    for part in both:
        assert any(part in one for one in told)
    assert len({one[-4:] for one in told}) > 1


def test_a_value_of_a_table_is_its_row(vault: VaultHandle) -> None:
    first = quotes(vault, "What's the next date for the loggers in the programme overview?")[0]
    assert "20 October 2026" in first
    assert first.count("2026") + first.count("2027") == 1


def test_a_list_under_its_heading_is_whole(vault: VaultHandle) -> None:
    told = quotes(vault, "which work is still permitted on the shore during the winter closure")[0]
    assert re.findall(r"- (\w+)", told) == ["Walking", "Hand", "Unloading"]


def test_nothing_is_quoted_twice(vault: VaultHandle) -> None:
    for question in ("where does Tomasz live", "the three things Odile always asks"):
        told = " ".join(quotes(vault, question))
        sentences = [one for one in re.split(r"(?<=[.!?]) |[“”]", told) if len(one) > 30]
        assert len(sentences) == len(set(sentences))


def test_a_source_that_is_quoted_in_two_parts_is_cited_once(vault: VaultHandle) -> None:
    answer = vault.ask("when is the next meeting with Bram?")
    assert answer.answer.count("[1]") > 1
    cited = [one.marker for one in answer.citations]
    assert cited.count("[1]") == 1
    assert len(cited) == len(set(cited))


@pytest.mark.parametrize(
    ("question", "news", "filed"),
    [
        ("current status of Pell Sluice", "“Pell Sluice: the second casting", "“status: delayed”"),
        (
            "what is the status of Gull Hide and when did I make the note?",
            "“Gull Hide: the planning officer",
            "“status: active · type: project · created: 2026-05-04”",
        ),
    ],
)
def test_news_come_before_what_a_property_calls_status(
    vault: VaultHandle, question: str, news: str, filed: str
) -> None:
    first, second, *_ = quotes(vault, question)
    assert (first.startswith(news), second.startswith(filed)) == (True, True), (first, second)


HINT = "found nothing in them that clearly answers"


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


@pytest.mark.parametrize(
    ("question", "begins", "least", "below"),
    [
        ("What is cultch?", "Quoted from the notes:", 0.8, 1.0),
        ("redshank count winter 2025", "I am not sure that your notes answer this; ", 0.5, 0.8),
        ("Who is the CEO of Notion?", "I found nothing in your notes", 0.0, 0.5),
    ],
)
def test_an_answer_says_how_sure_it_is(
    vault: VaultHandle, question: str, begins: str, least: float, below: float
) -> None:
    answer = vault.ask(question)
    assert answer.answer.startswith(begins)
    assert answer.likelihood is not None
    assert least <= answer.likelihood <= below
