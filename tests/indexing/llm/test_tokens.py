"""Tokens are counted as the model does where that is known here, and else rather too many."""

from __future__ import annotations

import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.config import Settings, load_settings
from notehop.indexing.llm.tokens import Estimate, counter

PROSE = "The timeline of Hollin Reach hangs on one day, 8 April 2027, when the sea wall is opened."
CHINESE = "潮汐棱柱是指在一个潮汐周期内进出河口的水量。"


def settings(provider: str, model: str) -> Settings:
    """Settings with a model."""
    return load_settings(overrides={"llm.provider": provider, "llm.model": model})


@pytest.mark.parametrize(
    ("model", "prose", "chinese"), [("gpt-4o-mini", 25, 23), ("gpt-4", 25, 29)]
)
def test_models_of_openai_are_counted_exactly_and_offline(
    model: str, prose: int, chinese: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*_: Any, **__: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    found = counter(settings("openai", model))
    assert found.exact
    assert (found.count(PROSE), found.count(CHINESE)) == (prose, chinese)
    # As the documentation of tiktoken has it.
    assert found.count("tiktoken is great!") == 6
    assert found.count("<|endoftext|>") > 1


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("none", ""),
        ("openai", "a-model-nobody-knows"),
        ("openai-compatible", "gpt-4"),
        ("ollama", "llama3.2"),
        ("anthropic", "claude-x"),
    ],
)
def test_others_are_estimated(provider: str, model: str) -> None:
    found = counter(settings(provider, model))
    assert not found.exact
    assert found.count("") == 0


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        CHINESE,
        "Die Öffnung des Deiches verschiebt sich um sechs Wochen.",
        "| 2026-11-22 | 41 mm | 2.3 m/s |\n| 2026-11-23 | 25 mm | 1.4 m/s |",
        "def f(x): return {k: v for k, v in x.items() if v}",
        "https://example.com/a?b=c&d=e#f [[Note|shown]] ![[image.png]]",
        "На рассвете прилив дошёл до второй отметки.",
        "🦆🦆🦆",
    ],
)
def test_an_estimate_is_no_less_than_what_models_count(text: str) -> None:
    for model in ("gpt-4o-mini", "gpt-4"):
        assert Estimate().count(text) >= counter(settings("openai", model)).count(text)


@given(st.text(), st.text())
def test_more_text_is_no_fewer_tokens(one: str, other: str) -> None:
    count = Estimate().count
    assert count(one) <= count(one + other) <= count(one) + count(other)
