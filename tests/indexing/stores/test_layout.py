"""Where an index lives, and that nothing else is ever removed with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from platformdirs import user_data_path

from tests.support.product import IndexLayout, IndexUnwritable, UsageError, index_dir_for


def test_the_default_lies_in_the_users_data(tmp_path: Path) -> None:
    vault = tmp_path / "My notes"
    chosen = index_dir_for(vault)
    assert chosen.parent == user_data_path("notehop").resolve()
    assert chosen.name.startswith("My-notes-")
    assert len(chosen.name) == len("My-notes-") + 8


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


def test_a_folder_beside_the_vault_with_its_name_as_a_start(tmp_path: Path) -> None:
    assert index_dir_for(tmp_path / "vault", tmp_path / "vault-index").name == "vault-index"


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    made = IndexLayout(tmp_path / "deep" / "index")
    made.create(tmp_path / "vault")
    return made


def test_making_an_index_marks_it(layout: IndexLayout, tmp_path: Path) -> None:
    said = layout.marker.read_text()
    assert str(tmp_path / "vault") in said
    assert "notehop index" in said
    layout.create(tmp_path / "vault")


def test_all_paths_lie_in_the_folder(layout: IndexLayout) -> None:
    paths = [
        layout.catalog,
        layout.chroma,
        layout.vectors,
        layout.lexical,
        layout.model,
        layout.lock,
        layout.lock_holder,
        layout.sweep_mark,
        layout.run_record,
        layout.marker,
    ]
    assert {path.parent for path in paths} == {layout.root}
    assert len({path.name for path in paths}) == len(paths)


def test_the_catalog_is_the_first_of_what_an_index_holds(layout: IndexLayout) -> None:
    names = [path.name for path in layout.contents]
    assert names[0] == layout.catalog.name
    assert len(set(names)) == len(names)
    assert not {layout.marker.name, layout.lock.name, layout.run_record.name} & set(names)


def test_a_folder_of_something_else_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    layout = IndexLayout(tmp_path)
    with pytest.raises(UsageError, match="not of an index"):
        layout.create(tmp_path / "vault")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_only_has_our_lock_is_empty(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    layout.lock.touch()
    layout.lock_holder.touch()
    layout.create(tmp_path / "vault")
    assert layout.marker.is_file()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for root in (tmp_path / "file", tmp_path / "file" / "index"):
        with pytest.raises(UsageError, match="is no folder"):
            IndexLayout(root).create(tmp_path / "vault")


def test_a_folder_that_cannot_be_made() -> None:
    root = Path("/proc/notehop-index")
    if not root.parent.is_dir():
        pytest.skip("needs a file system that refuses folders")
    with pytest.raises(IndexUnwritable, match="--index-dir"):
        IndexLayout(root).create(Path("/vault"))
