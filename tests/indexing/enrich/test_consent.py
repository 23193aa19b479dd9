"""The cost is shown before anything is sent, and somebody agrees to it, or a budget does."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.support.product import Cost, agreement


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def cost(**values: Any) -> Cost:
    given = {
        "summaries": 3,
        "headers": 1,
        "tokens_in": 4_000,
        "tokens_out": 240,
        "model": "m",
        "host": "there.example",
        "exact": True,
        "within": 4,
    }
    return Cost(**{**given, **values})


def test_it_says_who_gets_what_for_how_much() -> None:
    told = io.StringIO()
    assert agreement(yes=True, read=io.StringIO(), write=told)(cost()) is None
    assert told.getvalue() == (
        "To be written: 3 summaries by the model and 1 header of a passage, by m.\n"
        "The text of the notes goes to there.example.\n"
        "That takes 4 requests: 4,000 tokens sent, about 240 received.\n"
    )


@pytest.mark.parametrize(
    ("said", "goes"), [("y\n", True), ("Yes\n", True), ("\n", False), ("", False)]
)
def test_in_a_terminal_it_asks(said: str, goes: bool) -> None:
    told = Terminal()
    against = agreement(yes=False, read=Terminal(said), write=told)(cost())
    assert told.getvalue().endswith("Go on? [y/N] ")
    assert (against is None) is goes


def test_without_a_terminal_the_budget_decides() -> None:
    agree = agreement(yes=False, read=io.StringIO("y\n"), write=io.StringIO())
    assert agree(cost()) is None
    against = agree(cost(within=2))
    assert "notehop index --yes" in str(against)


def test_a_yes_beforehand_goes_as_far_as_the_budget() -> None:
    told = io.StringIO()
    assert agreement(yes=True, read=io.StringIO(), write=told)(cost(within=2)) is None
    assert "covers 2 of them; the next run goes on" in told.getvalue()


def test_a_model_name_cannot_write_to_the_terminal() -> None:
    told = io.StringIO()
    agreement(yes=True, read=io.StringIO(), write=told)(cost(model="m\x1b[2J"))
    assert "\x1b" not in told.getvalue()
