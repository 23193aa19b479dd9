"""Keys come from the environment alone, and a vault sends nothing anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.product import (
    LlmSettings,
    PrivacySettings,
    ProviderError,
    SettingsError,
    load_settings,
    provider_key,
    vault_may_set,
)


def llm(provider: str) -> LlmSettings:
    """The settings of a provider."""
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


def test_a_vault_chooses_no_provider_and_allows_no_host(tmp_path: Path) -> None:
    keys = [f"llm.{name}" for name in LlmSettings.model_fields]
    keys += [f"privacy.{name}" for name in PrivacySettings.model_fields]
    assert not any(map(vault_may_set, keys))
    for text in (
        '[llm]\nprovider = "openai"\n',
        '[llm]\nbase_url = "https://evil.example/v1"\n',
        '[privacy]\nallow_hosts = ["evil.example"]\n',
    ):
        (tmp_path / "notehop.toml").write_text(text)
        with pytest.raises(SettingsError, match="cannot be set by a vault"):
            load_settings(vault=tmp_path)


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
