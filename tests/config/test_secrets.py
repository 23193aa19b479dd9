"""Keys and tokens come from the environment or a file of one's own; nothing is told to anybody."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.product import (
    SWITCHES,
    LlmSettings,
    PrivacySettings,
    ProviderError,
    SettingsError,
    load_settings,
    provider_key,
    server_token,
    vault_may_set,
)


def llm(provider: str) -> LlmSettings:
    return load_settings(overrides={"llm.provider": provider}).llm


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("provider", "variable"), [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY")]
)
def test_a_service_has_its_own_variable(
    provider: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTEHOP_LLM__API_KEY", "of-another-server")
    with pytest.raises(ProviderError, match=variable) as caught:
        provider_key(llm(provider))
    assert caught.value.kind == "key"
    monkeypatch.setenv(variable, " sk-1 \n")
    key = provider_key(llm(provider))
    assert key is not None
    assert key.get_secret_value() == "sk-1"
    assert "sk-1" not in repr(key)


@pytest.mark.parametrize("provider", ["ollama", "openai-compatible", "llama-cpp"])
def test_others_can_do_without(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-2")
    assert provider_key(llm(provider)) is None
    monkeypatch.setenv("NOTEHOP_LLM__API_KEY", "mine")
    key = provider_key(llm(provider))
    assert key is not None
    assert key.get_secret_value() == "mine"


def test_a_key_stands_in_no_file_and_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[llm]\napi_key = "sk-in-a-file"\n')
    with pytest.raises(SettingsError, match="NOTEHOP_LLM__API_KEY") as caught:
        load_settings(config_file=file)
    assert "sk-in-a-file" not in str(caught.value)
    monkeypatch.setenv("NOTEHOP_LLM__API_KEY", "sk-secret")
    told = load_settings().model_dump(mode="json")
    assert "sk-secret" not in str(told)


def test_a_vault_chooses_no_provider_and_allows_no_host() -> None:
    keys = [f"llm.{name}" for name in LlmSettings.model_fields]
    keys += [f"privacy.{name}" for name in PrivacySettings.model_fields]
    assert not any(map(vault_may_set, keys))


@pytest.mark.parametrize(
    "url",
    [
        "api.openai.com/v1",
        "ftp://127.0.0.1/v1",
        "http://",
        "http://127.0.0.1:0/v1",
        "http://127.0.0.1:99999/v1",
        "http://127.0.0.1/v1?key=1",
        "http://user:secret@127.0.0.1/v1",
    ],
)
def test_an_address_is_one_and_holds_no_secret(url: str) -> None:
    with pytest.raises(SettingsError, match="must be an address like") as caught:
        load_settings(overrides={"llm.base_url": url})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("host", ["https://a.b", "a.b:443", "*.a.b", "a.b/c", "", " ", "*"])
def test_what_is_no_host(host: str) -> None:
    with pytest.raises(SettingsError, match="must be a host name or an address"):
        load_settings(overrides={"privacy.allow_hosts": [host]})


TOKEN = "0123456789abcdef-swordfish"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


def token_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "token"
    path.write_text(text)
    path.chmod(mode)
    return path


def of_file(path: Path) -> str | None:
    return server_token(load_settings(overrides={"server.token_file": str(path)}).server)


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEHOP_SERVER__TOKEN", TOKEN)
    settings = load_settings()
    assert server_token(settings.server) == TOKEN
    assert TOKEN not in repr(settings) + settings.model_dump_json()


def test_from_a_file(tmp_path: Path) -> None:
    assert of_file(token_file(tmp_path, f"{TOKEN}\n")) == TOKEN


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(SettingsError, match="chmod 600"):
        of_file(token_file(tmp_path, TOKEN, mode))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot be read.*server\.token_file"):
        of_file(tmp_path / "none")


@pytest.mark.parametrize(
    "text", ["", "short", "a" * 15, "swordfish swordfish", "swordfish-swordfish-ü"]
)
def test_what_is_no_token_is_refused_and_not_shown(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match="openssl rand") as caught:
        of_file(token_file(tmp_path, text))
    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize("name", ["notehop.toml", "mine.toml"])
def test_no_settings_file_may_hold_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(f'[server]\ntoken = "{TOKEN}"\n')
    vault = {"vault": tmp_path} if name == "notehop.toml" else {"config_file": tmp_path / name}
    with pytest.raises(SettingsError, match="NOTEHOP_SERVER__TOKEN") as caught:
        load_settings(**vault)  # type: ignore[arg-type]
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("notehop.config", None),
        ("notehop.config", "0"),
        ("notehop.app", "0"),
        ("notehop.indexing.embed.onnx_embedding", "0"),
    ],
)
def test_it_is_off_before_a_library_is_loaded(module: str, said: str | None) -> None:
    given = {name: said for name in SWITCHES if said is not None}
    kept = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    tells = (
        f"import sys, os; sys.modules['onnxruntime'] = None; import {module}, notehop.config.errors\n"
        f"print({{name: os.environ[name] for name in {list(SWITCHES)}}})"
    )
    told = subprocess.run(
        [sys.executable, "-c", tells],
        env={**kept, **given},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == str(SWITCHES)
