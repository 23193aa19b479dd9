"""Where an index lives, and that nothing else is ever removed with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.product import IndexLayout, UsageError, index_dir_for


def test_two_vaults_of_one_name_have_two_indexes(tmp_path: Path) -> None:
    assert index_dir_for(tmp_path / "a" / "vault") != index_dir_for(tmp_path / "b" / "vault")


def test_every_way_to_write_a_vault_leads_to_one_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "link").symlink_to(vault)
    monkeypatch.chdir(tmp_path)
    chosen = index_dir_for(vault)
    assert index_dir_for(Path("vault")) == chosen
    assert index_dir_for(tmp_path / "link") == chosen
    assert index_dir_for(vault / "sub" / "..") == chosen


@pytest.mark.parametrize(
    ("name", "start"),
    [
        pytest.param("日記", "日記-", id="letters"),
        pytest.param("a\nb/../💡 c", "c-", id="newline and emoji"),
        pytest.param("...", "vault-", id="dots"),
        pytest.param("x" * 200, "x" * 60 + "-", id="long"),
    ],
)
def test_names_of_vaults_become_names_of_folders(tmp_path: Path, name: str, start: str) -> None:
    chosen = index_dir_for(tmp_path / name)
    assert chosen.name.startswith(start)
    assert len(chosen.name.encode()) < 255


def test_a_chosen_folder_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert index_dir_for(tmp_path / "vault", Path("index")) == tmp_path / "index"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert index_dir_for(tmp_path / "vault", Path("~/index")) == tmp_path / "index"


@pytest.mark.parametrize("inside", [".", "index", ".obsidian/index", "a/../b"])
def test_never_inside_the_vault(tmp_path: Path, inside: str) -> None:
    vault = tmp_path / "vault"
    with pytest.raises(UsageError, match="inside the vault"):
        index_dir_for(vault, vault / inside)


def test_never_inside_the_vault_by_a_link(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (tmp_path / "elsewhere").symlink_to(vault)
    with pytest.raises(UsageError, match="inside the vault"):
        index_dir_for(vault, tmp_path / "elsewhere" / "index")


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    made = IndexLayout(tmp_path / "deep" / "index")
    made.create(tmp_path / "vault")
    return made


def test_a_folder_of_something_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    layout = IndexLayout(tmp_path)
    with pytest.raises(UsageError, match="not of an index"):
        layout.create(tmp_path / "vault")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for root in (tmp_path / "file", tmp_path / "file" / "index"):
        with pytest.raises(UsageError, match="is no folder"):
            IndexLayout(root).create(tmp_path / "vault")
