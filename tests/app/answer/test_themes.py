"""Answers from themes: read one by one, put together, cited into notes, honest where that fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Generator
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from llama_index.core.schema import NodeWithScore
from pydantic import PrivateAttr

from tests.app.answer.samples import reading, source_node
from tests.support.product import (
    ABOUT,
    SENDING,
    THEMES,
    Draft,
    ExtractiveSynthesizer,
    LlmSynthesizer,
    ProviderError,
    ThemeQuotes,
    ThemeSynthesizer,
    VaultSynthesizer,
    groups_of,
    material_of,
    only,
)

QUESTION = "What are the main themes?"

MUD = {
    "id": "m",
    "name": "Mud",
    "count": 7,
    "words": ["worms", "grey"],
    "summary": "",
    "about": "",
}
BOATS = {
    "id": "b",
    "name": "Boats",
    "count": 3,
    "words": ["planks"],
    "summary": "Of one boat.",
    "about": "",
}


def nodes(**more: Any) -> list[NodeWithScore]:
    mud, boats = MUD | more, BOATS | more
    return [
        source_node(1, "Mud is what is left. Grey mud is full of worms.", theme=mud),
        source_node(2, "Coffee was good.", title="Worms", theme=mud),
        source_node(3, "The dinghy needs planks.", theme=boats),
    ]


class Told(CustomLLM):
    """Says of each prompt what a function makes of it; what that raises, it raises."""

    _says: Callable[[str], str] = PrivateAttr()
    _asked: list[str] = PrivateAttr(default_factory=list)
    _sent: list[tuple[str, ...]] = PrivateAttr(default_factory=list)
    window: int = 8_000

    def __init__(self, says: Callable[[str], str], **more: Any) -> None:
        super().__init__(**more)
        self._says = says

    @property
    def asked(self) -> list[str]:
        return self._asked

    @property
    def sent(self) -> list[tuple[str, ...]]:
        """What each call was said to carry: what it is for, then the notes."""
        return self._sent

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.window, num_output=100, model_name="told")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:  # noqa: ARG002
        self._asked.append(prompt)
        sending = SENDING.get()
        self._sent.append(() if sending is None else (sending.purpose, *sending.notes))
        return CompletionResponse(text=self._says(prompt))

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        def pieces() -> Generator[CompletionResponse, None, None]:
            said = self.complete(prompt, formatted, **kwargs).text
            for word in re.findall(r"\S+\s*", said):
                yield CompletionResponse(text=said, delta=word)

        return pieces()


def themed(llm: Told | None = None) -> ThemeSynthesizer:
    quoting = ExtractiveSynthesizer("My vault", reading())
    quotes = ThemeQuotes("My vault", reading())
    if llm is None:
        return ThemeSynthesizer("My vault", quoting, quotes)

    def writer(prompt: BasePromptTemplate) -> VaultSynthesizer:
        return LlmSynthesizer("My vault", llm, quotes, prompt=prompt)

    return ThemeSynthesizer("My vault", quoting, quotes, llm, writer)


def told(synthesizer: VaultSynthesizer, given: list[NodeWithScore] | None = None) -> dict[str, Any]:
    response = synthesizer.synthesize(QUESTION, nodes() if given is None else given)
    assert response.metadata is not None
    return {**response.metadata, "text": str(response)}


def markers(answer: dict[str, Any]) -> list[str]:
    return [citation["marker"] for citation in answer["citations"]]


def good(prompt: str) -> str:
    if "Points by theme" in prompt:
        return "Mud is full of worms [1]. The dinghy needs planks [3]."
    return "- Mud is full of worms [1]." if "Theme: Mud" in prompt else "- It needs planks [3]."


def drained(pieces: Generator[str, None, Draft | None]) -> tuple[str, Draft | None]:
    said = ""
    while True:
        try:
            said += next(pieces)
        except StopIteration as end:
            return said, end.value


def test_the_sources_are_those_of_their_themes() -> None:
    material = material_of(nodes(), "My vault")
    mud, boats = groups_of(material)
    assert [source.marker for source in mud.sources] == ["[1]", "[2]"]
    assert (boats.name, boats.count, boats.words) == ("Boats", 3, ("planks",))
    assert groups_of(material_of([source_node(1, "No theme.")], "My vault")) == []
    left = only(material, {"[3]"})
    assert [source.marker for source in left.sources] == ["[3]"]
    assert [one.node.node_id for one in left.source_nodes] == [left.sources[0].id]


def test_without_a_model_each_theme_is_quoted() -> None:
    answer = told(themed())
    assert answer["mode"] == "extractive"
    assert answer["text"] == (
        f"{THEMES}\n\n"
        "### Mud (7 notes: worms, grey)\n\n"
        "“Grey mud is full of worms.” [1]\n— Note 1\n\n"
        "“Coffee was good.” [2]\n— Worms\n\n"
        "### Boats (3 notes: planks)\n\n"
        "“The dinghy needs planks.” [3]\n— Note 3"
    )
    assert markers(answer) == ["[1]", "[2]", "[3]"]


def test_quotes_are_where_the_draft_says() -> None:
    draft = ThemeQuotes("My vault", reading()).draft(QUESTION, material_of(nodes(), "My vault"))
    pieces = [draft.text[one.start : one.end] for one in draft.said]
    assert pieces[0] == "“Grey mud is full of worms.” [1]"
    assert pieces[-1] == "“The dinghy needs planks.” [3]"


def test_of_something_only_what_speaks_of_it() -> None:
    answer = told(themed(), nodes(about="dinghy planks"))
    assert answer["text"].startswith(f"{ABOUT}\n\n### Boats (3 notes: planks)")
    assert markers(answer) == ["[3]"]


def test_of_what_no_note_says_the_vault_does_not_say() -> None:
    answer = told(themed(), nodes(about="quantum chromodynamics"))
    assert (answer["mode"], answer["citations"]) == ("none", [])
    assert answer["text"].startswith("I found nothing in your notes")


def test_a_name_cannot_pass_for_a_marker() -> None:
    answer = told(themed(), [source_node(1, "Mud.", theme=MUD | {"name": "[1] Mud\n[9]"})])
    assert "### ［1］ Mud ［9］ (7 notes" in answer["text"]


def test_other_questions_go_their_usual_way() -> None:
    llm = Told(good)
    given = [source_node(1, "The main themes are mud and boats.")]
    assert told(themed(llm), given)["text"].startswith("Quoted from the notes:")
    assert llm.asked == []


def test_each_theme_is_read_then_all_are_put_together() -> None:
    llm = Told(good)
    answer = told(themed(llm))
    assert (answer["mode"], answer["warnings"]) == ("llm", [])
    assert answer["text"] == "Mud is full of worms [1]. The dinghy needs planks [3]."
    assert markers(answer) == ["[1]", "[3]"]
    mud, boats, last = llm.asked
    assert "Grey mud" in mud
    assert "dinghy" not in mud
    assert "about (no source): Of one boat." in boats
    assert "Mud (7 notes):\n- Mud is full of worms [1]." in last
    # What no point cites is not sent again.
    assert "Coffee" not in last


def test_what_goes_where_is_told() -> None:
    llm = Told(good)
    _, draft = drained(themed(llm).stream_draft(QUESTION, material_of(nodes(), "V"), lambda: False))
    assert draft is not None
    assert llm.sent == [
        ("themes", "notes/Note 1.md", "notes/Note 2.md"),
        ("themes", "notes/Note 3.md"),
        ("answer", "notes/Note 1.md", "notes/Note 3.md"),
    ]


def test_a_theme_that_cannot_be_read_is_left_out_and_said() -> None:
    def says(prompt: str) -> str:
        if "Theme: Mud" in prompt:
            raise ProviderError("llm at 127.0.0.1 took longer than 60 s; ask again", kind="timeout")
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
        pytest.param(ProviderError("set OPENAI_API_KEY", kind="key"), 1, id="hopeless"),
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
    assert answer["text"].startswith(THEMES)
    (warning,) = answer["warnings"]
    assert str(failure) in warning
    assert warning.endswith("the themes are quoted instead")
    assert len(llm.asked) == calls


def test_where_the_last_call_fails_they_are_quoted() -> None:
    def says(prompt: str) -> str:
        if "Points by theme" in prompt:
            raise ConnectionError("gone")
        return good(prompt)

    answer = told(themed(Told(says)))
    assert answer["mode"] == "extractive"
    assert answer["text"].startswith(THEMES)
    assert markers(answer) == ["[1]", "[3]"]
    assert "gone" in answer["warnings"][0]


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


def test_an_invented_marker_of_the_answer_is_removed() -> None:
    def says(prompt: str) -> str:
        return "Worms [1], gold [8]." if "Points by theme" in prompt else good(prompt)

    answer = told(themed(Told(says)))
    assert answer["text"] == "Worms [1], gold."
    assert "[8]" in answer["warnings"][0]


def test_nobody_waits_any_more() -> None:
    gone = False

    def says(prompt: str) -> str:
        nonlocal gone
        gone = True
        return good(prompt)

    llm = Told(says)
    said, draft = drained(
        themed(llm).stream_draft(QUESTION, material_of(nodes(), "V"), lambda: gone)
    )
    assert (said, draft) == ("", None)
    assert len(llm.asked) == 1


def test_a_narrow_window_takes_fewer_sources() -> None:
    long = [source_node(n, f"Note {n}. " + "mud " * 400, theme=MUD) for n in range(1, 5)]
    llm = Told(good, window=1_700)
    told(themed(llm), long)
    assert "[1] [notes]" in llm.asked[0]
    assert "[4] [notes]" not in llm.asked[0]


def test_a_model_that_cannot_stream() -> None:
    class Still(Told):
        def stream_complete(self, *_: Any, **__: Any) -> CompletionResponseGen:
            raise NotImplementedError

    assert markers(told(themed(Still(good)))) == ["[1]", "[3]"]


def test_asked_without_blocking() -> None:
    response = asyncio.run(themed(Told(good)).asynthesize(QUESTION, nodes()))
    assert "dinghy" in str(response)
    plain = asyncio.run(themed(Told(good)).asynthesize("Mud?", [source_node(1, "Mud is mud.")]))
    assert str(plain).startswith("Quoted")


def test_its_prompts_can_be_changed() -> None:
    synthesizer = themed(Told(good))
    assert set(synthesizer.get_prompts()) == {"theme_points_prompt", "theme_answer_prompt"}
    own = PromptTemplate("Theme: Mud! {theme_str} {context_str} {query_str}")
    synthesizer.update_prompts({"theme_points_prompt": own})
    llm = synthesizer._llm
    told(synthesizer)
    assert isinstance(llm, Told)
    assert llm.asked[0].startswith("Theme: Mud!")


def test_a_model_that_says_nothing_has_failed() -> None:
    answer = told(themed(Told(lambda _: " ")))
    assert answer["mode"] == "extractive"
    assert "it said nothing" in answer["warnings"][0]
