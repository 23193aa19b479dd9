"""What goes to a model fits it, in whole passages, sources first; what was left out is told."""

import re

import pytest

from tests.app.llm.doors import Door
from tests.support.llm_server import LlmServer, fails, overflows, words

pytestmark = pytest.mark.model

QUESTION = "How many people began rehearsal 4 of the launch?"
RIGHT = "Stage 1 began with 11 people [1]."
SMALL = {"llm__context_window": 1_500, "llm__max_tokens": 100}


def context_of(server: LlmServer, number: int = -1) -> str:
    text: str = server.asked[number].body["messages"][-1]["content"]
    return text


@pytest.mark.everywhere
def test_a_small_window_is_kept(server: LlmServer, ask: Door) -> None:
    server.plays(overflows(1_400, words(RIGHT)))
    heard = ask(QUESTION, **SMALL)
    assert (heard.answer["mode"], heard.text) == ("llm", RIGHT)
    assert len(server.asked) == 1
    left_out = heard.answer["left_out"]
    assert left_out
    assert all(f"{one['marker'].strip('[]')}" in heard.warnings for one in left_out)
    absent = [one["marker"] for one in left_out]
    context = context_of(server)
    for source in heard.answer["sources"]:
        there = re.search(rf"^{re.escape(source['marker'])} ", context, re.MULTILINE) is not None
        assert there == (source["marker"] not in absent)


def test_what_was_not_sent_cannot_be_cited(server: LlmServer, ask: Door) -> None:
    server.plays(words("It is so [1] and so [7]."))
    heard = ask(QUESTION, **SMALL)
    assert "[7]" in [one["marker"] for one in heard.answer["left_out"]]
    assert heard.cited == ["[1]"]
    assert "[7]" not in heard.text


def test_a_window_that_is_smaller_than_was_thought(server: LlmServer, ask: Door) -> None:
    server.plays(overflows(700, words(RIGHT)))
    heard = ask(QUESTION)
    assert (heard.answer["mode"], heard.text) == ("llm", RIGHT)
    assert 1 < len(server.asked) <= 3
    sizes = [len(seen.prompt) for seen in server.asked]
    assert sizes == sorted(sizes, reverse=True)
    assert heard.answer["left_out"]
    assert "llm.context_window" in heard.warnings


def test_a_window_that_takes_nothing(server: LlmServer, ask: Door) -> None:
    server.plays(fails(400, "too long", code="context_length_exceeded"))
    heard = ask(QUESTION, llm__retries=2)
    assert heard.answer["mode"] == "extractive"
    assert len(server.asked) == 3
    assert "longer than the model can read" in heard.warnings
    assert "llm.context_window" in heard.warnings
