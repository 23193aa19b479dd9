"""Each provider as its settings make it: what it sends, hands on, and says is missing."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM

from tests.support.product import (
    DEFAULT_CONTEXT_WINDOW,
    ProviderError,
    ProviderLLM,
    Settings,
    load_settings,
    sending,
)
from tests.support.tables import rows
from tests.support.wire import reply, stalling, wire

ASKED = [
    ChatMessage(role=MessageRole.SYSTEM, content="Be brief."),
    ChatMessage(role=MessageRole.USER, content="When?"),
]


def settings(provider: str, **llm: Any) -> Settings:
    given = {"model": "m", "timeout_s": 20, **llm}
    return load_settings(
        overrides={"llm.provider": provider, **{f"llm.{key}": one for key, one in given.items()}}
    )


def made(provider: str, folder: Path, **llm: Any) -> LLM:
    found = ProviderLLM(settings(provider, **llm), folder)
    found.connect()
    return found


def events(*told: dict[str, Any] | str) -> bytes:
    """Server-sent events; those of Anthropic carry their type as a name."""
    lines = []
    for one in told:
        if isinstance(one, str):
            lines.append(f"data: {one}\n\n")
        else:
            name = f"event: {one['type']}\n" if "type" in one else ""
            lines.append(f"{name}data: {json.dumps(one)}\n\n")
    return "".join(lines).encode()


def openai_stream(*words: str, finish: str = "stop") -> bytes:
    base = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunks = [
        base | {"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]}
        for word in words
    ]
    last = base | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return reply(200, events(*chunks, last, "[DONE]"), kind="text/event-stream")


def openai_whole(text: str, finish: str = "stop") -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    base = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    return reply(200, base | {"choices": [choice]})


def claude_message(text: str | None) -> dict[str, Any]:
    """The message of an answer: whole, or (None) as a stream begins."""
    base = {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None}
    usage = {"input_tokens": 1, "output_tokens": 1}
    content = [] if text is None else [{"type": "text", "text": text}]
    ended = None if text is None else "end_turn"
    return base | {"content": content, "stop_reason": ended, "usage": usage}


def claude_stream(*words: str, stop: str = "end_turn") -> bytes:
    block = {"index": 0, "content_block": {"type": "text", "text": ""}}
    deltas = [{"index": 0, "delta": {"type": "text_delta", "text": word}} for word in words]
    ended = {"stop_reason": stop, "stop_sequence": None}
    told: list[dict[str, Any]] = [
        {"type": "message_start", "message": claude_message(None)},
        {"type": "content_block_start", **block},
        {"type": "ping"},
        *({"type": "content_block_delta", **delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]
    return reply(200, events(*told), kind="text/event-stream")


def claude_whole(text: str) -> bytes:
    return reply(200, claude_message(text))


def ollama_line(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": text}, **more}


def ollama_lines(*words: str, done: str = "stop") -> bytes:
    told = [ollama_line(word, done=False) for word in words]
    told.append(ollama_line("", done=True, done_reason=done))
    body = "".join(f"{json.dumps(one)}\n" for one in told).encode()
    return reply(200, body, kind="application/x-ndjson")


def ollama_whole(text: str) -> bytes:
    return reply(200, ollama_line(text, done=True, done_reason="stop"))


STREAM = {
    "openai": openai_stream,
    "openai-compatible": openai_stream,
    "anthropic": claude_stream,
    "ollama": ollama_lines,
}
PROVIDERS = list(STREAM)
WHOLE = {
    "openai": openai_whole,
    "openai-compatible": openai_whole,
    "anthropic": claude_whole,
    "ollama": ollama_whole,
}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of the services, and what their SDKs would take from the environment by themselves."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-anthropic")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-of-another-program")
    monkeypatch.setenv("OLLAMA_API_KEY", "key-of-another-program")
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"):
        monkeypatch.setenv(name, "http://192.0.2.1:9")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_whole_and_in_pieces(provider: str, tmp_path: Path) -> None:
    with wire(WHOLE[provider]("At once."), STREAM[provider]("By ", "bits.")) as server:
        llm = made(provider, tmp_path, base_url=server.url)
        assert llm.chat(ASKED).message.content == "At once."
        assert "".join(one.delta or "" for one in llm.stream_chat(ASKED)) == "By bits."
        assert "".join(one.delta or "" for one in llm.stream_complete("When?")) == "By bits."
        assert server.header("accept-encoding") == "identity", "nothing compressed is asked for"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_that_was_cut_off_is_told(provider: str, tmp_path: Path) -> None:
    reason = {"anthropic": {"stop": "max_tokens"}, "ollama": {"done": "length"}}
    ended = reason.get(provider, {"finish": "length"})
    with (
        wire(STREAM[provider]("On 8", **ended)) as server,  # type: ignore[operator]
        sending(["a.md"], purpose="answer") as sent,
    ):
        list(made(provider, tmp_path, base_url=server.url, max_tokens=20).stream_chat(ASKED))
    assert sent.notices == [
        "the answer of m was cut off at 20 tokens; a larger llm.max_tokens lets it say more"
    ]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_goes_wrong_is_ours(provider: str, tmp_path: Path) -> None:
    with (
        wire(reply(401, {"error": {"message": "bad key sk-openai sk-anthropic"}})) as server,
        pytest.raises(ProviderError) as caught,
    ):
        made(provider, tmp_path, base_url=server.url).chat(ASKED)
    assert caught.value.kind == "key"
    assert "sk-" not in str(caught.value)
    with wire(stalling(b"")) as server, pytest.raises(ProviderError) as caught:
        list(made(provider, tmp_path, base_url=server.url, timeout_s=0.3).stream_chat(ASKED))
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_closing_the_answer_closes_the_connection(provider: str, tmp_path: Path) -> None:
    whole = STREAM[provider]("On ", "8 April ").partition(b"\r\n\r\n")[2]
    # To the end of the line, or event, with the first word.
    end = b"\n" if provider == "ollama" else b"\n\n"
    cut = whole[: whole.index(end, whole.index(b'"On "')) + len(end)]
    with wire(stalling(cut)) as server:
        pieces = made(provider, tmp_path, base_url=server.url).stream_chat(ASKED)
        while next(pieces).delta != "On ":  # type: ignore[call-overload]
            pass
        assert server.said["stream"] is True
        pieces.close()  # type: ignore[union-attr]
        assert server.left.wait(5)


def test_ollama_is_told_the_window_and_the_length(tmp_path: Path) -> None:
    with wire(ollama_whole("yes")) as server:
        made("ollama", tmp_path, base_url=server.url, max_tokens=300).chat(ASKED)
        assert server.said["options"] == {
            "temperature": 0.1,
            "num_ctx": DEFAULT_CONTEXT_WINDOW,
            "num_predict": 300,
        }
        made("ollama", tmp_path, base_url=server.url, context_window=32_768).chat(ASKED)
        assert server.said["options"]["num_ctx"] == 32_768
        assert server.header("authorization") is None


def test_a_model_that_ollama_lacks(tmp_path: Path) -> None:
    answer = reply(404, {"error": "model 'qwen3:8b' not found"})
    with wire(answer) as server, pytest.raises(ProviderError, match="run: ollama pull qwen3:8b"):
        made("ollama", tmp_path, base_url=server.url, model="qwen3:8b").chat(ASKED)


def test_the_key_of_openai_goes_to_openai_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with wire(openai_whole("yes")) as server:
        made("openai-compatible", tmp_path, base_url=server.url).chat(ASKED)
        assert server.header("authorization") is None
        monkeypatch.setenv("NOTEHOP_LLM__API_KEY", "local-key")
        made("openai-compatible", tmp_path, base_url=server.url).chat(ASKED)
        assert server.header("authorization") == "Bearer local-key"
        made("openai", tmp_path, base_url=server.url).chat(ASKED)
        assert server.header("authorization") == "Bearer sk-openai"


def test_openai_is_asked_as_its_newer_models_want(tmp_path: Path) -> None:
    with wire(openai_whole("yes")) as server:
        made("openai", tmp_path, base_url=server.url, model="gpt-99").chat(ASKED)
        assert server.said["max_completion_tokens"] == 1_000
        assert {"max_tokens", "temperature"}.isdisjoint(server.said)
        made("openai", tmp_path, base_url=server.url, temperature=0.7).chat(ASKED)
        assert server.said["temperature"] == 0.7


def test_anthropic_is_asked_as_it_wants(tmp_path: Path) -> None:
    with wire(claude_whole("yes")) as server:
        made("anthropic", tmp_path, base_url=server.url).chat(ASKED)
        assert server.said == {
            "model": "m",
            "max_tokens": 1_000,
            "system": "Be brief.",
            "messages": [{"role": "user", "content": "When?"}],
        }
        assert server.header("x-api-key") == "sk-anthropic"
        assert server.header("authorization") is None
        assert server.header("anthropic-version")


@pytest.mark.parametrize(
    ("provider", "model", "window"),
    [
        ("openai", "gpt-4o-mini", 128_000),
        ("openai", "gpt-4", 8_192),
        ("openai", "gpt-99", 128_000),
        ("anthropic", "claude-x", 200_000),
        ("ollama", "llama3.2", DEFAULT_CONTEXT_WINDOW),
    ],
)
def test_windows_by_name(provider: str, model: str, window: int, tmp_path: Path) -> None:
    metadata = made(provider, tmp_path, model=model).metadata
    assert (metadata.context_window, metadata.num_output) == (window, 1_000)
    assert metadata.is_chat_model
    assert made(provider, tmp_path, model=model, context_window=4_000).metadata.context_window == 4_000


@pytest.mark.parametrize(("provider", "library"), rows(__file__, "an_extra_is_missing"))
def test_an_extra_is_missing(
    provider: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ProviderError) as caught:
        made(provider, tmp_path, base_url="http://127.0.0.1:9")
    assert f"run: pip install 'notehop[{provider}]'" in str(caught.value)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_key_is_missing(provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"{provider.upper()}_API_KEY"
    monkeypatch.setenv(variable, " ")
    with pytest.raises(ProviderError, match=f"set the environment variable {variable}") as caught:
        made(provider, tmp_path)
    assert caught.value.kind == "key"
    monkeypatch.setenv(variable, "two words")
    with pytest.raises(ProviderError, match="cannot be sent") as caught:
        made(provider, tmp_path)
    assert "two words" not in str(caught.value)
