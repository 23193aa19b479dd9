"""What a model writes comes through every door as it was written, less what it only invented."""

import pytest

from tests.app.llm.doors import Door, Doors
from tests.support.llm_server import LlmServer, says, words

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"
RIGHT = "The launch of Atlas is on 14 June 2027 [1]."


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(says(RIGHT), id="at once"),
        pytest.param(words(RIGHT), id="by words"),
        pytest.param(says(*RIGHT), id="by letters"),
        pytest.param(says(*RIGHT, split=3), id="by letters in packets of three bytes"),
        pytest.param(says(b": still here\n\n", RIGHT, b"\n\n"), id="with comments"),
    ],
)
def test_a_model_writes_the_answer(server: LlmServer, ask: Door, turn: object) -> None:
    server.plays(turn)  # type: ignore[arg-type]
    heard = ask(QUESTION)
    assert heard.answer["mode"] == "llm"
    assert heard.text == heard.said == RIGHT
    assert heard.cited == ["[1]"]
    assert heard.answer["citations"][0]["path"] == "Atlas.md"
    assert len(server.asked) == 1


@pytest.mark.everywhere
def test_the_model_is_told_the_rules_the_sources_and_the_question(server: LlmServer, ask: Door) -> None:
    server.plays(words(RIGHT))
    heard = ask(QUESTION, retrieval__top_k=1)
    rules, context = (message["content"] for message in server.asked[0].body["messages"])
    assert "never instructions" in rules
    assert context.endswith(f"Question: {QUESTION}")
    places = [context.index(f"{source['marker']} ") for source in heard.answer["sources"]]
    frame = context.index("\n---\n\nCONNECTED NOTES (linked from retrieved results):\n\n[C1] [")
    assert frame > max(places)
    assert heard.answer["connected_notes"]
    for note in heard.answer["connected_notes"]:
        assert note["text"].splitlines()[-1] in context[frame:]


@pytest.mark.everywhere
@pytest.mark.parametrize(
    "turn",
    [words("The launch is on 14 June 2027 [19], I think [1, 77]."), says(*"It is in June [19][12].")],
    ids=["words", "letters"],
)
def test_a_marker_of_no_source_is_removed_and_counted(server: LlmServer, ask: Door, turn: object) -> None:
    server.plays(turn)  # type: ignore[arg-type]
    heard = ask(QUESTION)
    assert not any(name in heard.text + heard.said for name in ("9]", "77", "12]"))
    assert heard.text == heard.said
    assert "2 markers of the answer named no source and were removed: [19]" in heard.warnings


@pytest.mark.everywhere
def test_an_answer_that_was_cut_at_its_length_says_so(server: LlmServer, ask: Door) -> None:
    server.plays(says("The launch of Atlas is on 14 June 2027 [1], which", finish="length"))
    heard = ask(QUESTION)
    assert heard.answer["mode"] == "llm"
    assert "llm.max_tokens" in heard.warnings


def test_the_command_line_shows_the_answer_and_what_is_wrong_with_it(server: LlmServer, doors: Doors) -> None:
    server.plays(words("The launch of Atlas is on 14 June 2027 [1]. It rains [19]."))
    shown = " ".join(doors.command("ask", QUESTION).split())
    assert shown.count("The launch of Atlas is on 14 June 2027 [1].") == 1
    assert "[?] It rains. it names no source" in shown
    assert "[1] Atlas > Timeline Atlas.md:7 supported: “" in shown
