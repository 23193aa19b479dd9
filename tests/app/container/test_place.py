"""The vault is the one named, else the setting, else the current folder if it is a vault."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.product import SettingsError, UsageError, locate


def test_the_named_vault_wins(vault: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NOTEHOP_VAULT__PATH", str(tmp_path))
    assert locate(vault).vault == vault.resolve()
    assert locate(vault).name == "My vault"


def test_the_vaults_own_settings_are_read(vault: Path) -> None:
    (vault / "notehop.toml").write_text("[retrieval]\ntop_k = 9\n")
    assert locate(vault).settings.retrieval.top_k == 9
    assert locate(vault, overrides={"retrieval.top_k": 2}).settings.retrieval.top_k == 2
    (vault / "notehop.toml").write_text("[retrieval]\ntop_n = 9\n")
    with pytest.raises(SettingsError, match="top_n"):
        locate(vault)


def test_the_index_is_where_it_is_said_to_be(vault: Path, tmp_path: Path) -> None:
    assert locate(vault, index_dir=tmp_path / "ix").layout.root == tmp_path / "ix"
    assert locate(vault, overrides={"index.dir": str(tmp_path / "iy")}).layout.root.name == "iy"
    with pytest.raises(UsageError, match="inside the vault"):
        locate(vault, index_dir=vault / "ix")
