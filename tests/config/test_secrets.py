"""A token comes from the environment or from a file that only its user can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.product import SettingsError, load_settings, server_token

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


@pytest.mark.parametrize("key", ["token_file", "allow_origins", "allow_hosts", "metrics"])
def test_a_vault_may_not_open_the_server(tmp_path: Path, key: str) -> None:
    values = {"allow_origins": '["http://evil.example"]', "allow_hosts": '["evil.example"]'}
    said = values.get(key, '"/tmp/x"' if key == "token_file" else "true")
    (tmp_path / "notehop.toml").write_text(f"[server]\n{key} = {said}\n")
    with pytest.raises(SettingsError, match="cannot be set by a vault"):
        load_settings(vault=tmp_path)


def test_a_misspelt_variable_shows_no_token(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("NOTEHOP_SERVR__TOKEN", TOKEN)
    load_settings()
    assert "passed over: NOTEHOP_SERVR__TOKEN;" in caplog.text
    assert TOKEN not in caplog.text
