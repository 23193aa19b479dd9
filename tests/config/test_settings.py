"""The layers of the settings, and what is said of a wrong one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.product import SettingsError, load_settings


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "config"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
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
        "[connected]\nmax = 1\ngate = 0.1\nrrf_k = 11\norder='rank'\n"
    )
    (vault / "notehop.toml").write_text("[connected]\nmax = 2\ngate = 0.2\nrrf_k = 12\n")
    monkeypatch.setenv("NOTEHOP_CONNECTED__MAX", "4")
    monkeypatch.setenv("NOTEHOP_CONNECTED__GATE", "0.4")
    connected = load_settings(vault=vault, overrides={"connected.max": 5}).connected
    assert (connected.max, connected.gate, connected.rrf_k, connected.order) == (5, 0.4, 12, "rank")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        pytest.param(
            {"embedding.modle": "x"},
            r"argument: unknown setting embedding\.modle = 'x'; did you mean model\?.*batch_size",
            id="unknown-key-with-near-miss",
        ),
        pytest.param({"foo.x": 1}, r"unknown setting foo.*connected, .*embedding", id="unknown-section"),
        pytest.param(
            {"retrieval.weights.x": 1},
            r"keys of \[retrieval\.weights\]: graph, lexical",
            id="nested",
        ),
        pytest.param(
            {"connected.order": "best"},
            r"argument: connected\.order = 'best': must be 'context' or 'rank'",
            id="allowed-values",
        ),
        pytest.param({"connected.max": -1}, r"max = -1: must be greater than or equal to 0", id="range"),
        pytest.param({"connected": 3}, r"connected = 3: must be a table with keys of: max", id="table"),
        pytest.param({"connected.gate": float("nan")}, r"gate = nan: must be a finite", id="nan"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_named(overrides: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(overrides=overrides)
    assert re.search(said, str(caught.value))


def test_the_file_of_a_wrong_value_is_named(vault: Path) -> None:
    (vault / "notehop.toml").write_text("[connected]\nmax = 70000\n")
    with pytest.raises(
        SettingsError, match=r"vault/notehop\.toml: connected\.max = 70000: must be"
    ):
        load_settings(vault=vault)


def test_broken_toml_names_file_and_place(vault: Path) -> None:
    (vault / "notehop.toml").write_text("[server\n")
    with pytest.raises(SettingsError, match=r"notehop\.toml: not valid TOML: .*line 1"):
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


def test_one_signal_must_vote() -> None:
    weights = {"retrieval.weights.semantic": 0, "retrieval.weights.lexical": 0}
    with pytest.raises(SettingsError, match=r"retrieval\.weights.*may not both be 0"):
        load_settings(overrides=weights)


@pytest.mark.parametrize("name", ["apikey", "openai_api_key", "token"])
def test_a_secret_under_a_wrong_name_is_not_shown(tmp_path: Path, name: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f"[llm]\n{name} = 'sk-very-secret'\n")
    with pytest.raises(SettingsError, match=rf"unknown setting llm\.{name}; ") as in_file:
        load_settings(config_file=file)
    assert "sk-very" not in str(in_file.value)


def test_a_section_in_capitals_is_not_passed_over(vault: Path) -> None:
    (vault / "notehop.toml").write_text("[Privacy]\nallow_hosts = ['a.example']\n")
    with pytest.raises(SettingsError, match="unknown setting Privacy; did you mean privacy"):
        load_settings(vault=vault)


@pytest.mark.parametrize(
    ("text", "said", "max_tokens"),
    [
        pytest.param("[llm]\nthreads = 2\nmax_tokens = 99\n", "llm.threads is passed over", 99, id="gone"),
        pytest.param("[lexical]\nk1 = 2.0\n", "lexical.k1 is a constant by now", 1000, id="constant"),
    ],
)  # fmt: skip
def test_a_key_of_the_release_before_is_told(
    home: Path, text: str, said: str, max_tokens: int, caplog: pytest.LogCaptureFixture
) -> None:
    (home / "notehop.toml").write_text(text)
    settings = load_settings()
    assert f"{home / 'notehop.toml'}: {said}" in caplog.text
    assert settings.llm.max_tokens == max_tokens
    assert settings.lexical.k1 == (2.0 if "k1" in text else 1.5)
    caplog.clear()
    load_settings(overrides={"lexical.k1": 3})
    assert "argument" not in caplog.text
