"""Settings: their layers, and secrets, which are never shown."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.product import (
    SWITCHES,
    ChromaSettings,
    LlmSettings,
    PrivacySettings,
    ProviderError,
    SettingsError,
    is_declared,
    load_settings,
    provider_key,
    server_token,
)
from tests.support.tables import rows


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "config"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (folder / "notehop").mkdir(parents=True)
    return folder / "notehop"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def test_each_layer_wins_over_the_one_before(
    home: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "notehop.toml").write_text(
        "[retrieval]\ntop_k = 11\n[retrieval.weights]\nrecent = 1\nrecency = 1\n[connected]\nmax = 1\n"
    )
    (vault / "notehop.toml").write_text(
        "[retrieval.weights]\nrecent = 2\nrecency = 2\n[connected]\nmax = 2\n"
    )
    monkeypatch.setenv("NOTEHOP_RETRIEVAL__WEIGHTS__RECENT", "4")
    monkeypatch.setenv("NOTEHOP_CONNECTED__MAX", "4")
    of = load_settings(vault=vault, overrides={"retrieval.weights.recent": 5})
    weights = of.retrieval.weights
    assert (weights.recent, of.connected.max, weights.recency) == (5, 4, 2)
    assert of.retrieval.top_k == 11


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        *rows(__file__, "a_wrong_setting_is_named"),
        pytest.param({"connected.gate": float("nan")}, r"gate = nan: must be a finite", id="nan"),
    ],
)
def test_a_wrong_setting_is_named(overrides: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(overrides=overrides)
    assert re.search(said, str(caught.value))


@pytest.mark.parametrize(("text", "said"), rows(__file__, "the_file_of_a_mistake_is_named"))
def test_the_file_of_a_mistake_is_named(vault: Path, text: str, said: str) -> None:
    (vault / "notehop.toml").write_text(text)
    with pytest.raises(SettingsError, match=said):
        load_settings(vault=vault)


def test_a_list_in_a_variable_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEHOP_VAULT__EXCLUDE", "Archive")
    with pytest.raises(SettingsError, match="NOTEHOP_VAULT__EXCLUDE = 'Archive': must be JSON"):
        load_settings()


def test_a_vault_may_name_a_model_but_not_bring_one(vault: Path) -> None:
    (vault / "notehop.toml").write_text("[embedding]\nmodel = 'org/model'\n")
    assert load_settings(vault=vault).embedding.model == "org/model"
    (vault / "notehop.toml").write_text(f"[embedding]\nmodel = '{vault}'\n")
    with pytest.raises(SettingsError, match=r"embedding\.model = .* cannot be set by a vault"):
        load_settings(vault=vault)


@pytest.mark.parametrize("name", ["apikey", "openai_api_key", "token"])
def test_a_secret_under_a_wrong_name_is_not_shown(tmp_path: Path, name: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f"[llm]\n{name} = 'sk-very-secret'\n")
    with pytest.raises(SettingsError, match=rf"unknown setting llm\.{name}; ") as in_file:
        load_settings(config_file=file)
    assert "sk-very" not in str(in_file.value)


@pytest.mark.parametrize(
    ("text", "said", "max_tokens"), rows(__file__, "a_key_of_the_release_before_is_told")
)
def test_a_key_of_the_release_before_is_told(
    home: Path, text: str, said: str, max_tokens: int, caplog: pytest.LogCaptureFixture
) -> None:
    (home / "notehop.toml").write_text(text)
    settings = load_settings()
    assert f"{home / 'notehop.toml'}: {said}" in caplog.text
    assert settings.llm.max_tokens == max_tokens
    assert settings.lexical.k1 == 1.5
    caplog.clear()
    # An evaluation compares values of it.
    assert load_settings(overrides={"lexical.k1": 3}).lexical.k1 == 3
    assert "argument" not in caplog.text
    # A vault's own file may hold it, too.
    (home / "notehop.toml").rename(home / "vault.toml")
    (home / "vault").mkdir()
    (home / "vault.toml").rename(home / "vault" / "notehop.toml")
    if said.endswith("more"):
        load_settings(vault=home / "vault")
        assert "has no effect any more" in caplog.text


def llm(provider: str) -> LlmSettings:
    return load_settings(overrides={"llm.provider": provider}).llm


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


@pytest.mark.parametrize("provider", ["ollama", "openai-compatible"])
def test_others_can_do_without(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-2")
    assert provider_key(llm(provider)) is None
    monkeypatch.setenv("NOTEHOP_LLM__API_KEY", "mine")
    key = provider_key(llm(provider))
    assert key is not None
    assert key.get_secret_value() == "mine"


@pytest.mark.parametrize("key", ["llm.api_key", "chroma.token", "server.token"])
def test_a_key_stands_in_no_file_and_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    file = tmp_path / "mine.toml"
    section, name = key.split(".")
    file.write_text(f'[{section}]\n{name} = "sk-in-a-file"\n')
    variable = f"NOTEHOP_{section}__{name}".upper()
    with pytest.raises(SettingsError, match=variable) as caught:
        load_settings(config_file=file)
    assert "sk-in-a-file" not in str(caught.value)
    monkeypatch.setenv(variable, "sk-secret")
    told = load_settings().model_dump(mode="json")
    assert "sk-secret" not in str(told)


def test_a_vault_chooses_no_provider_and_allows_no_host() -> None:
    keys = [f"llm.{name}" for name in LlmSettings.model_fields]
    keys += [f"privacy.{name}" for name in PrivacySettings.model_fields]
    keys += ["vectors.engine", *(f"chroma.{name}" for name in ChromaSettings.model_fields)]
    assert not any(is_declared(key, "vault") for key in keys)


@pytest.mark.parametrize("url", rows(__file__, "an_address_is_one_and_holds_no_secret"))
@pytest.mark.parametrize("key", ["llm.base_url", "chroma.url"])
def test_an_address_is_one_and_holds_no_secret(url: str, key: str) -> None:
    with pytest.raises(SettingsError, match="must be an address like") as caught:
        load_settings(overrides={key: url})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("host", ["https://a.b", "a.b:443", "*.a.b", "a.b/c", "", " ", "*"])
def test_what_is_no_host(host: str) -> None:
    with pytest.raises(SettingsError, match="must be a host name or an address"):
        load_settings(overrides={"privacy.allow_hosts": [host]})


TOKEN = "0123456789abcdef-swordfish"


@pytest.mark.parametrize("text", ["short", "a" * 15, "swordfish swordfish", "swordfish-swordfish-ü"])
def test_what_is_no_token_is_refused_and_not_shown(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEHOP_SERVER__TOKEN", TOKEN)
    assert server_token(load_settings().server) == TOKEN
    monkeypatch.setenv("NOTEHOP_SERVER__TOKEN", text)
    with pytest.raises(SettingsError, match="openssl rand") as caught:
        server_token(load_settings().server)
    assert "swordfish" not in str(caught.value)


def test_a_file_of_a_token_is_refused_and_leaves_no_server_open(
    home: Path, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remedy = r'server\.token_file .*; set NOTEHOP_SERVER__TOKEN="\$\(cat FILE\)"'
    for folder in (vault, home):
        file = folder / "notehop.toml"
        file.write_text("[server]\ntoken_file = '/run/token'\n")
        with pytest.raises(SettingsError, match=f"notehop\\.toml: {remedy}"):
            load_settings(vault=vault)
        file.unlink()
    monkeypatch.setenv("NOTEHOP_SERVER__TOKEN_FILE", "/run/token")
    with pytest.raises(SettingsError, match=f"NOTEHOP_SERVER__TOKEN_FILE: {remedy}"):
        load_settings()


@pytest.mark.parametrize(("module", "said"), rows(__file__, "it_is_off_before_a_library_is_loaded"))
def test_it_is_off_before_a_library_is_loaded(module: str, said: str | None) -> None:
    given = {name: said for name in SWITCHES if said is not None}
    kept = {name: value for name, value in os.environ.items() if name not in SWITCHES}
    tells = (
        f"import sys, os; sys.modules['onnxruntime'] = None; import {module}, notehop.config.errors\n"
        f"print({{name: os.environ[name] for name in {list(SWITCHES)}}})"
    )
    told = subprocess.run(
        [sys.executable, "-c", tells], env={**kept, **given}, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str(SWITCHES)
