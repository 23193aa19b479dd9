"""A model in a GGUF file: what is said of a wrong one, and how a right one is asked.

llama.cpp itself is no part of the tests, since it has to be built; a small class stands for it.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from llama_index.core.base.llms.types import ChatMessage

from tests.support.product import ProviderError, Settings, load_llm, load_settings, sending


class FakeLlama:
    """Answers each question with three words; knows a window of 2,048 tokens."""

    made: ClassVar[list[dict[str, Any]]] = []
    template = True
    fails: str | None = None

    def __init__(self, **options: Any) -> None:
        type(self).made.append(options)
        if self.fails:
            raise ValueError(self.fails)
        self.metadata = {"general.architecture": "llama", "llama.context_length": "2048"}
        if self.template:
            self.metadata["tokenizer.chat_template"] = "{{ messages }}"

    def tokenize(self, text: bytes, **_: Any) -> list[int]:
        return list(text.split())  # type: ignore[arg-type]

    def reset(self) -> None:
        """Forget."""

    def create_chat_completion(self, **options: Any) -> Iterator[dict[str, Any]]:
        type(self).made.append(options)
        for word in ("On ", "8 ", "April"):
            yield {"choices": [{"delta": {"content": word}, "finish_reason": None}]}
        yield {"choices": [{"delta": {}, "finish_reason": "length"}]}


@pytest.fixture
def llama(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FakeLlama]]:
    """The class that stands for llama.cpp, in the place of the library."""

    class Fake(FakeLlama):
        made: ClassVar[list[dict[str, Any]]] = []

    library: Any = types.ModuleType("llama_cpp")
    library.__spec__ = importlib.machinery.ModuleSpec("llama_cpp", None)
    library.Llama = Fake
    library.llama_log_callback = lambda function: function
    library.llama_log_set = lambda *_: None
    library._utils = types.SimpleNamespace(suppress_stdout_stderr=type("Muting", (), {}))
    monkeypatch.setitem(sys.modules, "llama_cpp", library)
    yield Fake
    for name in ("notehop.indexing.llm.gguf", "notehop.indexing.llm.by_llama_cpp"):
        sys.modules.pop(name, None)


def settings(file: Path, **llm: Any) -> Settings:
    return load_settings(
        overrides={
            "llm.provider": "llama-cpp",
            "llm.model": str(file),
            **{f"llm.{key}": value for key, value in llm.items()},
        }
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny-instruct.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00")
    return path


def test_a_file_that_is_none(tmp_path: Path, llama: type[FakeLlama]) -> None:
    with pytest.raises(ProviderError, match=r"no\.gguf: cannot be read \(No such file") as caught:
        load_llm(settings(tmp_path / "no.gguf"))
    assert caught.value.kind == "model"
    (tmp_path / "page.gguf").write_bytes(b"<html>")
    with pytest.raises(ProviderError, match="no GGUF file"):
        load_llm(settings(tmp_path / "page.gguf"))
    with pytest.raises(ProviderError, match="cannot be read"):
        load_llm(settings(tmp_path))
    assert llama.made == []


def test_the_extra_is_missing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(ProviderError, match=r"pip install 'notehop\[llama-cpp\]'"):
        load_llm(settings(file))


def test_it_is_loaded_when_it_is_asked(file: Path, llama: type[FakeLlama]) -> None:
    llm = load_llm(settings(file, max_tokens=50, threads=3))
    assert llm is not None
    assert llama.made == []
    with sending(["a.md"], purpose="answer") as sent:
        said = [one.delta for one in llm.stream_chat([ChatMessage(content="When?")])]
    assert said == ["On ", "8 ", "April", ""]
    assert sent.notices == [
        "the answer of tiny-instruct.gguf was cut off at 50 tokens; a larger llm.max_tokens lets "
        "it say more"
    ]
    vocabulary, model, asked = llama.made
    assert vocabulary["vocab_only"]
    assert model | {"n_ctx": 2_048, "n_threads": 3, "n_gpu_layers": 0} == model
    assert asked["messages"] == [{"role": "user", "content": "When?"}]
    assert (asked["max_tokens"], asked["temperature"]) == (50, 0.1)
    assert llm.complete("When?").text == "On 8 April"


@pytest.mark.parametrize("how", ["achat", "acomplete", "astream_chat", "astream_complete"])
def test_the_event_loop_goes_on_while_it_answers(
    file: Path, llama: type[FakeLlama], how: str
) -> None:
    """The model waits for the loop: were the loop to wait for the model, neither would go on."""
    goes_on = threading.Event()
    real = llama.create_chat_completion

    def slow(self: FakeLlama, **options: Any) -> Iterator[dict[str, Any]]:
        for piece in real(self, **options):
            assert goes_on.wait(10), "the loop is held up"
            yield piece

    llama.create_chat_completion = slow  # type: ignore[method-assign]
    llm = load_llm(settings(file))
    assert llm is not None
    given: Any = [ChatMessage(content="When?")] if how.endswith("chat") else "When?"

    async def asked() -> str:
        asyncio.get_running_loop().call_later(0.05, goes_on.set)
        reply = await getattr(llm, how)(given)
        if not how.startswith("astream"):
            return str(getattr(reply, "text", None) or reply.message.content)
        return "".join([one.delta or "" async for one in reply])

    assert asyncio.run(asked()) == "On 8 April"


def test_one_that_is_not_waited_for_ends(file: Path, llama: type[FakeLlama]) -> None:  # noqa: ARG001
    llm = load_llm(settings(file))
    assert llm is not None
    given_up: list[bool] = []
    with sending([], purpose="answer", cancelled=lambda: bool(given_up)):
        pieces = iter(llm.stream_complete("When?"))
        next(pieces)
        given_up.append(True)
        with pytest.raises(ProviderError) as caught:
            next(pieces)
    assert caught.value.kind == "cancelled"
    # And the next one need not wait for it.
    assert llm.complete("When?").text == "On 8 April"
