"""The file of the lexical index: it comes back as it was, or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.config.errors import IndexDamaged, IndexUnwritable
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.stores.lexical_file import read_about
from notehop.indexing.stores.model import FieldTokens

DOCS: dict[str, FieldTokens] = {
    "0b": {"title": ("apollo",), "content": ("moon", "moon", "crew")},
    "0a": {"h1": ("黑猫", "🎉"), "content": ("crew",)},
    "0c": {},
}


def saved(folder: Path, generation: int = 1, docs: dict[str, FieldTokens] = DOCS) -> Path:
    LexicalIndex.build(docs.items()).save(folder, generation, "all of it")
    return folder / "postings.bin"


@pytest.mark.parametrize("docs", [{}, DOCS], ids=["empty", "three"])
def test_what_is_saved_is_loaded(tmp_path: Path, docs: dict[str, FieldTokens]) -> None:
    saved(tmp_path / "made" / "for it", 7, docs)
    index, generation, fingerprint = LexicalIndex.load(tmp_path / "made" / "for it")
    fresh = LexicalIndex.build(docs.items())
    query = ["crew", "moon", "黑猫", "🎉"]
    assert (generation, fingerprint) == (7, "all of it")
    assert index.ids() == sorted(docs)
    assert index.top(query, 9) == fresh.top(query, 9)
    changes = (["0b"], [("0d", {"content": ("moon", "new")})])
    index.update(*changes)
    fresh.update(*changes)
    assert index.top([*query, "new"], 9) == fresh.top([*query, "new"], 9)


@given(
    ids=st.lists(st.text(min_size=1), unique=True, max_size=5),
    tokens=st.lists(st.text(st.characters(), min_size=1), max_size=5),
    fingerprint=st.text(),
)
def test_any_string_comes_back(
    tmp_path_factory: pytest.TempPathFactory, ids: list[str], tokens: list[str], fingerprint: str
) -> None:
    folder = tmp_path_factory.mktemp("lexical")
    index = LexicalIndex.build((id_, {"content": tuple(tokens)}) for id_ in ids)
    index.save(folder, 2, fingerprint)
    loaded, _, print_ = LexicalIndex.load(folder)
    assert (loaded.ids(), print_) == (sorted(ids), fingerprint)
    assert loaded.top(tokens, 9) == index.top(tokens, 9)


def test_weights_are_those_asked_for_when_loading(tmp_path: Path) -> None:
    saved(tmp_path)
    index, _, _ = LexicalIndex.load(tmp_path, {"content": 0}, k1=0.5, b=0)
    same = LexicalIndex.build(DOCS.items(), {"content": 0}, k1=0.5, b=0)
    assert index.top(["apollo", "crew"], 9) == same.top(["apollo", "crew"], 9)
    assert [id_ for id_, _ in index.top(["apollo", "crew"], 9)] == ["0b"]


def test_any_changed_byte_is_noticed(tmp_path: Path) -> None:
    file = saved(tmp_path)
    whole = file.read_bytes()
    for at in (*range(16), *range(16, len(whole) - 4, 5), *range(len(whole) - 4, len(whole))):
        damaged = bytearray(whole)
        damaged[at] ^= 0x10
        file.write_bytes(damaged)
        with pytest.raises(IndexDamaged, match=r"postings\.bin"):
            LexicalIndex.load(tmp_path)


def test_any_missing_end_is_noticed(tmp_path: Path) -> None:
    file = saved(tmp_path)
    whole = file.read_bytes()
    for size in (*range(20), *range(20, len(whole), 5), len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(IndexDamaged, match="run: notehop index"):
            LexicalIndex.load(tmp_path)


@pytest.mark.parametrize("docs", [{}, DOCS], ids=["empty", "three"])
def test_its_beginning_tells_what_it_is_of(tmp_path: Path, docs: dict[str, FieldTokens]) -> None:
    file = saved(tmp_path, 7, docs)
    assert read_about(tmp_path) == (7, "all of it")
    whole = file.read_bytes()
    for harmed in (b"", whole[:9], whole[:40], whole[:-1], whole + b"x", b"x" + whole[1:]):
        file.write_bytes(harmed)
        with pytest.raises(IndexDamaged, match=r"postings\.bin.*run: notehop index"):
            read_about(tmp_path)
    file.unlink()
    with pytest.raises(IndexDamaged, match="No such file"):
        read_about(tmp_path)


def test_a_missing_file_is_damage(tmp_path: Path) -> None:
    with pytest.raises(IndexDamaged, match="No such file"):
        LexicalIndex.load(tmp_path)


def test_a_folder_in_place_of_the_file_is_damage(tmp_path: Path) -> None:
    (tmp_path / "postings.bin").mkdir()
    with pytest.raises(IndexDamaged, match="directory"):
        LexicalIndex.load(tmp_path)


class Killed(BaseException):
    """Stands for the end of the process: nothing after it is run but `finally`."""


STEPS = {"fsync": (os, "fsync"), "rename": (Path, "replace")}


@pytest.mark.parametrize(("owner", "name"), STEPS.values(), ids=STEPS)
def test_a_crash_leaves_the_old_index_and_the_next_save_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    saved(tmp_path, 1)
    with monkeypatch.context() as patch:

        def die(*_: object) -> None:
            raise Killed

        patch.setattr(owner, name, die)
        with pytest.raises(Killed):
            saved(tmp_path, 2)
    assert (tmp_path / "postings.bin.new").exists()
    assert LexicalIndex.load(tmp_path)[1] == 1
    saved(tmp_path, 3)
    assert LexicalIndex.load(tmp_path)[1] == 3
    assert [file.name for file in tmp_path.iterdir()] == ["postings.bin"]


def test_a_crash_after_the_rename_leaves_the_new_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, 1)
    replace = Path.replace

    def replace_and_die(self: Path, target: Path) -> None:
        replace(self, target)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace_and_die)
        with pytest.raises(Killed):
            saved(tmp_path, 2)
    assert LexicalIndex.load(tmp_path)[1] == 2


def test_a_full_disk_is_said_and_the_old_index_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, 1)
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(os, "fsync", full)
        with pytest.raises(IndexUnwritable, match=r"postings\.bin.*No space left.*free space"):
            saved(tmp_path, 2)
    assert LexicalIndex.load(tmp_path)[1] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["postings.bin"]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(IndexUnwritable, match="cannot be written"):
        saved(tmp_path / "file" / "lexical")
