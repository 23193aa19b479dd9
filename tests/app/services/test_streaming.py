"""An answer in events is the answer: sources first, the text as it comes, the whole at the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponseGen

from notehop import open_vault
from tests.support.product import (
    Answer,
    DoneEvent,
    ErrorEvent,
    SourcesEvent,
    StreamEvent,
    TokenEvent,
    VaultHandle,
)
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"


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


class AtOnce(ScriptedLLM):
    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError


def test_a_model_that_cannot_stream_answers_at_once(indexed: tuple[Path, Path]) -> None:
    with asked(indexed, AtOnce(says="In June [1]. So it is.")) as vault:
        events = list(vault.stream(QUESTION))
    assert done(events).answer == text_of(events) == "In June [1]. So it is."
    assert done(events).mode == "llm"


def test_nothing_is_done_once_it_is_cancelled(opened: VaultHandle) -> None:
    assert list(opened.stream(QUESTION, cancelled=lambda: True)) == []


def test_what_goes_wrong_is_the_last_event(opened: VaultHandle) -> None:
    [event] = list(opened.stream("atlas after:soon"))
    assert isinstance(event, ErrorEvent)
    assert (event.problem.status, event.problem.type) == (422, "urn:notehop:problem:query")
