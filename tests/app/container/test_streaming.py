"""An answer in events is the answer: sources first, the text as it comes, the whole at the end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen
from pydantic import Field, PrivateAttr

from notehop import open_vault
from tests.support.product import (
    Answer,
    DoneEvent,
    ErrorEvent,
    QueryError,
    SourcesEvent,
    StreamEvent,
    TokenEvent,
    VaultHandle,
)
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"


class Speaking(ScriptedLLM):
    """Says each of ``pieces`` when it is asked for, and remembers whether it was closed."""

    pieces: list[str] = Field(default_factory=list)
    breaks_after: int | None = None

    _closed: threading.Event = PrivateAttr(default_factory=threading.Event)
    _said: list[str] = PrivateAttr(default_factory=list)
    _hold: threading.Event = PrivateAttr(default_factory=threading.Event)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.says = "".join(self.pieces)
        return super().complete(prompt, formatted, **kwargs)

    def stream_complete(
        self,
        prompt: str,  # noqa: ARG002
        formatted: bool = False,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> CompletionResponseGen:
        def say() -> CompletionResponseGen:
            text = ""
            try:
                for at, piece in enumerate(self.pieces):
                    if at == self.breaks_after:
                        raise ConnectionError("hung up")
                    if piece == "…wait":
                        self._hold.wait(30)
                        continue
                    self._said.append(piece)
                    text += piece
                    yield CompletionResponse(text=text, delta=piece)
            finally:
                self._closed.set()

        return say()


@pytest.fixture(scope="module")
def opened(indexed: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(indexed[0], index_dir=indexed[1]) as vault:
        yield vault


def asked(indexed: tuple[Path, Path], llm: ScriptedLLM) -> VaultHandle:
    return open_vault(indexed[0], index_dir=indexed[1], llm=llm)


def kinds(events: list[StreamEvent]) -> list[str]:
    return [event.event for event in events]


def text_of(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TokenEvent))


def done(events: list[StreamEvent]) -> Answer:
    assert isinstance(events[-1], DoneEvent)
    return events[-1].answer


def same(one: Answer, other: Answer) -> bool:
    untimed = {"timings_ms": {}, "pending": None}
    return one.model_copy(update=untimed) == other.model_copy(update=untimed)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (QUESTION, {}),
        (QUESTION, {"explain": True, "top_k": 2, "connected": {"order": "rank"}}),
        ("What is the boiling point of ethanol?", {}),
        ("path:people", {}),
        ("tag:none atlas", {}),
    ],
)
def test_quotes_are_streamed_by_the_sentence(
    opened: VaultHandle, question: str, options: dict[str, Any]
) -> None:
    events = list(opened.stream(question, **options))
    answer = opened.ask(question, **options)
    assert kinds(events)[:2] == ["sources", "connected"]
    assert set(kinds(events)[2:-1]) == {"token"}
    assert same(done(events), answer)
    assert text_of(events) == answer.answer
    assert isinstance(events[0], SourcesEvent)
    assert events[0].sources == answer.sources


def test_what_a_model_says_is_handed_on_as_it_comes(indexed: tuple[Path, Path]) -> None:
    pieces = [
        " In",
        " June",
        " [",
        "1",
        "]",
        ", as [",
        "C1",
        "]",
        " or [",
        "9",
        "]",
        " so",
        ".",
        " ",
    ]
    llm = Speaking(pieces=pieces)
    with asked(indexed, llm) as vault:
        events = list(vault.stream(QUESTION, top_k=1, connected={"order": "rank"}))
        answer = vault.ask(QUESTION, top_k=1, connected={"order": "rank"})
    assert answer.answer == "In June [1], as [C1] or so."
    assert text_of(events) == answer.answer
    assert same(done(events), answer)
    assert answer.mode == "llm"
    assert len([one for one in events if isinstance(one, TokenEvent)]) >= 7


def test_the_sources_are_there_before_the_model_is_asked(indexed: tuple[Path, Path]) -> None:
    llm = Speaking(pieces=["In June [1]."])
    with asked(indexed, llm) as vault:
        events = vault.stream(QUESTION)
        assert next(events).event == "sources"
        assert next(events).event == "connected"
        assert llm._said == []
        assert kinds(list(events)) == ["token", "done"]


@pytest.mark.parametrize("after", [0, 2])
def test_a_model_that_breaks_off_leaves_the_quotes(indexed: tuple[Path, Path], after: int) -> None:
    llm = Speaking(pieces=["In ", "June ", "or "], breaks_after=after)
    with asked(indexed, llm) as vault:
        answer = done(list(vault.stream(QUESTION)))
    assert answer.mode == "extractive"
    assert "14 June 2027" in answer.answer
    assert any("ConnectionError: hung up" in warning for warning in answer.warnings)


def test_a_model_that_says_nothing_leaves_the_quotes(indexed: tuple[Path, Path]) -> None:
    with asked(indexed, Speaking(pieces=[" ", "\n"])) as vault:
        events = list(vault.stream(QUESTION))
    assert done(events).mode == "extractive"
    assert text_of(events) == done(events).answer
    assert any("it said nothing" in warning for warning in done(events).warnings)


class AtOnce(ScriptedLLM):
    """A model that cannot stream."""

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError


def test_a_model_that_cannot_stream_answers_at_once(indexed: tuple[Path, Path]) -> None:
    with asked(indexed, AtOnce(says="In June [1]. So it is.")) as vault:
        events = list(vault.stream(QUESTION))
    assert done(events).answer == text_of(events) == "In June [1]. So it is."
    assert done(events).mode == "llm"


def test_closing_the_events_closes_the_model(indexed: tuple[Path, Path]) -> None:
    llm = Speaking(pieces=[f"word {n}\n" for n in range(10_000)])
    with asked(indexed, llm) as vault:
        events = vault.stream(QUESTION)
        while next(events).event != "token":
            pass
        events.close()  # type: ignore[attr-defined]
        assert llm._closed.wait(10)
    assert len(llm._said) < 1_000


def test_a_cancelled_answer_ends_and_closes_the_model(indexed: tuple[Path, Path]) -> None:
    llm = Speaking(pieces=[f"word {n}\n" for n in range(10_000)])
    gone = threading.Event()
    with asked(indexed, llm) as vault:
        events: list[StreamEvent] = []
        for event in vault.stream(QUESTION, cancelled=gone.is_set):
            events.append(event)
            if event.event == "token":
                gone.set()
        assert llm._closed.wait(10)
    assert kinds(events)[-1] == "token"
    assert len(llm._said) < 1_000


def test_a_model_that_hangs_holds_nobody_up(indexed: tuple[Path, Path]) -> None:
    llm = Speaking(pieces=["In", "…wait", " June"])
    gone = threading.Event()
    with asked(indexed, llm) as vault:
        events = []
        for event in vault.stream(QUESTION, cancelled=gone.is_set):
            events.append(event)
            if event.event == "token":
                threading.Timer(0.1, gone.set).start()
        assert kinds(events) == ["sources", "connected", "token"]
        assert not llm._closed.is_set()
        llm._hold.set()
        assert llm._closed.wait(10)
    assert llm._said in (["In"], ["In", " June"])


def test_nothing_is_done_once_it_is_cancelled(opened: VaultHandle) -> None:
    assert list(opened.stream(QUESTION, cancelled=lambda: True)) == []


@pytest.mark.parametrize("text", ["", " ", "x" * 100_000])
def test_a_question_that_cannot_be_asked_is_refused_at_once(opened: VaultHandle, text: str) -> None:
    with pytest.raises(QueryError):
        opened.stream(text)
    with pytest.raises(QueryError):
        opened.stream(QUESTION, colour=1)


def test_what_goes_wrong_is_the_last_event(opened: VaultHandle) -> None:
    [event] = list(opened.stream("atlas after:soon"))
    assert isinstance(event, ErrorEvent)
    assert (event.problem.status, event.problem.type) == (422, "urn:notehop:problem:query")


def test_what_nobody_foresaw_is_not_told(
    opened: VaultHandle, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(opened._machinery, "retrieve", broken)
    [event] = list(opened.stream(QUESTION))
    assert isinstance(event, ErrorEvent)
    assert event.problem.status == 500
    assert "secret" not in event.problem.model_dump_json()
    assert "secret" in caplog.text
