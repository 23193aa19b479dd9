"""Answers without a language model over the demo vault: what is quoted first, how much, and what is
quoted beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import VaultHandle

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
    "question",
    [
        "What is cultch?",
        "deadline of the Resilience Fund Bid",
        "who is Odile",
        "what to do when a gate groans",
    ],
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
