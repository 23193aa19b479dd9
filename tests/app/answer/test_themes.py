"""Answers from themes: read one by one, put together, cited into notes, honest where that fails."""

from collections.abc import Callable, Generator
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.prompts import BasePromptTemplate
from llama_index.core.schema import NodeWithScore
from pydantic import PrivateAttr

from tests.app.answer.samples import reading, source_node
from tests.support import product
from tests.support.scripted_llm import ScriptedLLM

QUESTION = "What are the main themes?"

MUD = {"id": "m", "name": "Mud", "count": 7, "words": ["worms", "grey"], "about": ""}
BOATS = {
    "id": "b",
    "name": "Boats",
    "count": 3,
    "words": ["planks"],
    "about": "",
}


def nodes(**more: Any) -> list[NodeWithScore]:
    mud, boats = MUD | more, BOATS | more
    return [
        source_node(1, "Mud is what is left. Grey mud is full of worms.", theme=mud),
        source_node(2, "Coffee was good.", title="Worms", theme=mud),
        source_node(3, "The dinghy needs planks.", theme=boats),
    ]


class Told(ScriptedLLM):
    """Says of each prompt what a function makes of it; what that raises, it raises."""

    _sent: list[tuple[str, ...]] = PrivateAttr(default_factory=list)

    def __init__(self, says: Callable[[str], str], **more: Any) -> None:
        super().__init__(tell=says, **more)

    @property
    def sent(self) -> list[tuple[str, ...]]:
        """What each call was said to carry: what it is for, then the notes."""
        return self._sent

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        sending = product.SENDING.get()
        self._sent.append(() if sending is None else (sending.purpose, *sending.notes))
        return super().complete(prompt, formatted, **kwargs)


def themed(llm: Told | None = None) -> product.ThemeSynthesizer:
    quoting = product.ExtractiveSynthesizer("My vault", reading())
    quotes = product.ThemeQuotes("My vault", reading())
    if llm is None:
        return product.ThemeSynthesizer("My vault", quoting, quotes)

    def writer(prompt: BasePromptTemplate) -> product.VaultSynthesizer:
        return product.LlmSynthesizer("My vault", llm, quotes, prompt=prompt)

    return product.ThemeSynthesizer("My vault", quoting, quotes, llm, writer)


def told(
    synthesizer: product.VaultSynthesizer, given: list[NodeWithScore] | None = None
) -> dict[str, Any]:
    response = synthesizer.synthesize(QUESTION, nodes() if given is None else given)
    return {**response.metadata, "text": str(response)}


def markers(answer: dict[str, Any]) -> list[str]:
    return [citation["marker"] for citation in answer["citations"]]


def good(prompt: str) -> str:
    if "Points by theme" in prompt:
        return "Mud is full of worms [1]. The dinghy needs planks [3]."
    return "- Mud is full of worms [1]." if "Theme: Mud" in prompt else "- It needs planks [3]."


def drained(pieces: Generator[str, None, product.Draft | None]) -> tuple[str, product.Draft | None]:
    said = ""
    while True:
        try:
            said += next(pieces)
        except StopIteration as end:
            return said, end.value


def test_a_name_cannot_pass_for_a_marker() -> None:
    answer = told(themed(), [source_node(1, "Mud.", theme=MUD | {"name": "[1] Mud\n[9]"})])
    assert "### ［1］ Mud ［9］ (7 notes" in answer["text"]


def test_each_theme_is_read_then_all_are_put_together() -> None:
    llm = Told(good)
    answer = told(themed(llm))
    assert (answer["mode"], answer["warnings"]) == ("llm", [])
    assert answer["text"] == "Mud is full of worms [1]. The dinghy needs planks [3]."
    assert markers(answer) == ["[1]", "[3]"]
    mud, _, last = llm.asked
    assert "Grey mud" in mud
    assert "dinghy" not in mud
    assert "Mud (7 notes):\n- Mud is full of worms [1]." in last
    # What no point cites is not sent again.
    assert "Coffee" not in last


def test_what_goes_where_is_told() -> None:
    llm = Told(good)
    drained(themed(llm).stream_draft(QUESTION, product.material_of(nodes(), "V"), lambda: False))
    assert llm.sent == [
        ("themes", "notes/Note 1.md", "notes/Note 2.md"),
        ("themes", "notes/Note 3.md"),
        ("answer", "notes/Note 1.md", "notes/Note 3.md"),
    ]


def test_a_theme_that_cannot_be_read_is_left_out_and_said() -> None:
    def says(prompt: str) -> str:
        if "Theme: Mud" in prompt:
            raise product.ProviderError(
                "llm at 127.0.0.1 took longer than 60 s; ask again", kind="timeout"
            )
        return "It needs planks [3]." if "Points" in prompt else good(prompt)

    answer = told(themed(Told(says)))
    assert answer["mode"] == "llm"
    assert markers(answer) == ["[3]"]
    assert answer["warnings"] == [
        "1 theme of 2 left out of the answer: llm at 127.0.0.1 took longer than 60 s; ask again"
    ]


@pytest.mark.parametrize(
    ("failure", "calls"),
    [
        pytest.param(product.ProviderError("set OPENAI_API_KEY", kind="key"), 1, id="hopeless"),
        pytest.param(ConnectionError("gone"), 2, id="twice in a row"),
    ],
)
def test_where_no_theme_can_be_read_they_are_quoted(failure: Exception, calls: int) -> None:
    def says(_: str) -> str:
        raise failure

    more = source_node(4, "Geese.", theme=MUD | {"id": "g", "name": "Geese"})
    llm = Told(says)
    answer = told(themed(llm), [*nodes(), more])
    assert answer["mode"] == "extractive"
    assert answer["text"].startswith(product.THEMES)
    (warning,) = answer["warnings"]
    assert str(failure) in warning
    assert warning.endswith("the themes are quoted instead")
    assert len(llm.asked) == calls


def test_points_without_a_source_are_none() -> None:
    def says(prompt: str) -> str:
        assert "Points by theme" not in prompt
        return "NOTHING" if "Theme: Boats" in prompt else "- Mud is a mineral [9]. See [C1]."

    answer = told(themed(Told(says)))
    assert (answer["mode"], answer["citations"]) == ("none", [])
    assert answer["text"].startswith("I found nothing in your notes")


def test_a_marker_of_another_theme_is_no_source() -> None:
    def says(prompt: str) -> str:
        if "Points by theme" in prompt:
            assert "- Mud floats [1].\n" in prompt
            return "Mud floats [1]."
        return "- Mud floats [1][3]." if "Theme: Mud" in prompt else "NOTHING."

    assert markers(told(themed(Told(says)))) == ["[1]"]


def test_nobody_waits_any_more() -> None:
    gone = False

    def says(prompt: str) -> str:
        nonlocal gone
        gone = True
        return good(prompt)

    llm = Told(says)
    said, draft = drained(
        themed(llm).stream_draft(QUESTION, product.material_of(nodes(), "V"), lambda: gone)
    )
    assert (said, draft) == ("", None)
    assert len(llm.asked) == 1
