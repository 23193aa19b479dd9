"""The model of the settings is made when it is asked, and what is missing is told in the reply."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from notehop import open_vault
from notehop.app.container import locate
from notehop.app.container.language_model import LateLLM, llm_of
from notehop.app.problems import elsewhere
from notehop.config import load_settings
from notehop.config.errors import ProviderError
from tests.app.scripted_llm import ScriptedLLM
from tests.indexing.llm.test_load import openai_stream
from tests.indexing.llm.wire import wire

QUESTION = "What is the timeline of Hollin Reach?"


def test_a_model_that_cannot_be_had_is_told_in_every_reply(
    demo: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    vault, index = demo
    chosen = load_settings(overrides={"llm.provider": "openai", "llm.model": "gpt-4o-mini"})
    with open_vault(vault, index_dir=index, settings=chosen) as opened:
        for _ in range(2):
            answer = opened.ask(QUESTION)
            assert (answer.mode, answer.model) == ("extractive", None)
            assert answer.citations
            assert any("OPENAI_API_KEY" in warning for warning in answer.warnings)
        assert not opened.search(QUESTION).warnings


def test_who_asks_from_elsewhere_is_told_no_file_of_this_machine(
    demo: tuple[Path, Path], tmp_path: Path
) -> None:
    vault, index = demo
    chosen = load_settings(
        overrides={"llm.provider": "llama-cpp", "llm.model": str(tmp_path / "no.gguf")}
    )
    with open_vault(vault, index_dir=index, settings=chosen) as opened:
        before = elsewhere.set(True)
        try:
            (told,) = opened.ask(QUESTION).warnings
        finally:
            elsewhere.reset(before)
    assert str(tmp_path) not in told
    assert "a model that this needs is missing or failed" in told


def test_the_model_of_the_settings_answers(demo: tuple[Path, Path]) -> None:
    vault, index = demo
    with wire(openai_stream("The sea wall is opened ", "on 8 April 2027 [1].")) as server:
        chosen = load_settings(
            overrides={
                "llm.provider": "openai-compatible",
                "llm.model": "m",
                "llm.base_url": server.url,
            }
        )
        try:
            with open_vault(vault, index_dir=index, settings=chosen) as opened:
                answer = opened.ask(QUESTION)
            assert (answer.mode, answer.model) == ("llm", "m")
            assert answer.answer == "The sea wall is opened on 8 April 2027 [1]."
            assert (index / "egress.jsonl").is_file()
        finally:
            (index / "egress.jsonl").unlink(missing_ok=True)


def test_a_model_that_is_handed_in_wins(demo: tuple[Path, Path]) -> None:
    vault, index = demo
    chosen = load_settings(overrides={"llm.provider": "ollama", "llm.model": "m"})
    llm = ScriptedLLM(says="On 8 April 2027 [1].")
    with open_vault(vault, index_dir=index, settings=chosen, llm=llm) as opened:
        assert opened.ask(QUESTION).mode == "llm"
    assert len(llm.asked) == 1


def test_it_is_tried_again() -> None:
    found: list[ScriptedLLM] = []

    def load() -> ScriptedLLM:
        if not found:
            found.append(ScriptedLLM(says="yes"))
            raise ProviderError("not yet", "model")
        return found[0]

    late = LateLLM(load_settings(overrides={"llm.context_window": 4_000}), load)
    assert late.metadata.context_window == 4_000
    assert late.complete("?").text == "yes"
    assert late.metadata.context_window == found[0].window


def test_none_is_set(demo: tuple[Path, Path]) -> None:
    vault, index = demo
    assert llm_of(locate(vault, index_dir=index)) is None


def test_a_search_imports_no_provider(demo: tuple[Path, Path]) -> None:
    vault, index = demo
    code = (
        "import sys\n"
        "from notehop.app import open_vault\n"
        "from notehop.config import load_settings\n"
        "chosen = load_settings(overrides={'llm.provider': 'openai', 'llm.model': 'gpt-4o'})\n"
        f"with open_vault({str(vault)!r}, index_dir={str(index)!r}, settings=chosen) as opened:\n"
        "    assert opened.search('elvers').hits\n"
        "loaded = {'openai', 'anthropic', 'ollama', 'llama_index.llms.openai', 'httpx'}\n"
        "print(sorted(loaded & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
