"""The seal tells which files are other than the last run left them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from notehop.indexing.stores import seal
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.seal import PARTS, break_seal, doubts, put_seal, read_seal

FILES = (
    "catalog.sqlite",
    "chroma/chroma.sqlite3",
    "chroma/a/header.bin",
    "vectors/chunks-1.npy",
    "vectors/chunks.json",
    "lexical/postings.bin",
    "model/door.json",
)


@pytest.fixture
def layout(tmp_path: Path) -> IndexLayout:
    layout = IndexLayout(tmp_path / "index")
    for name in FILES:
        file = layout.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    put_seal(layout, 3, "stamp")
    return layout


def found(layout: IndexLayout) -> dict[str, set[str]]:
    return {part: set(names) for part, names in doubts(layout, read_seal(layout)).items()}


def test_what_was_sealed_is_not_in_doubt(layout: IndexLayout) -> None:
    sealed = read_seal(layout)
    assert sealed is not None
    assert (sealed.generation, sealed.stamp, set(sealed.files)) == (3, "stamp", set(FILES))
    assert found(layout) == {}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_other_bytes(layout: IndexLayout, name: str) -> None:
    file = layout.root / name
    file.write_text(name.swapcase())
    # Whatever the clock of the disk can tell.
    os.utime(file, ns=(1, 1))
    part = "catalog" if name.startswith("catalog") else name.split("/")[0]
    assert found(layout) == {part: {name}}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_gone(layout: IndexLayout, name: str) -> None:
    (layout.root / name).unlink()
    part = "catalog" if name.startswith("catalog") else name.split("/")[0]
    assert found(layout) == {part: {name}}


def test_another_time_alone_is_in_doubt_only_where_files_are_written_in_place(
    layout: IndexLayout,
) -> None:
    for name in FILES:
        os.utime(layout.root / name, ns=(1, 1))
    assert found(layout) == {
        "catalog": {"catalog.sqlite"},
        "chroma": {"chroma/chroma.sqlite3", "chroma/a/header.bin"},
    }


def test_a_new_file_is_in_doubt_only_where_files_are_written_in_place(layout: IndexLayout) -> None:
    for name in (
        "chroma/new.bin",
        "vectors/chunks-2.npy",
        "vectors/chunks.new",
        "catalog.sqlite-wal",
    ):
        (layout.root / name).write_text("new")
    assert found(layout) == {"catalog": {"catalog.sqlite-wal"}, "chroma": {"chroma/new.bin"}}


def test_a_journal_without_a_byte_says_nothing(layout: IndexLayout) -> None:
    for suffix in ("-wal", "-shm"):
        (layout.root / f"catalog.sqlite{suffix}").touch()
    (layout.root / "catalog.sqlite-shm").write_text("mapped by whoever reads")
    assert found(layout) == {}


def test_without_a_seal_everything_is_in_doubt(layout: IndexLayout) -> None:
    layout.seal.unlink()
    break_seal(layout, ("chroma",))
    assert found(layout) == {part: set() for part in PARTS}


def test_a_broken_seal_puts_all_files_of_a_part_in_doubt(layout: IndexLayout) -> None:
    break_seal(layout, ("vectors", "model"))
    assert found(layout) == {
        "vectors": {"vectors/chunks-1.npy", "vectors/chunks.json"},
        "model": {"model/door.json"},
    }
    put_seal(layout, 3, "stamp")
    assert found(layout) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 1}', "\0"])
def test_a_seal_that_cannot_be_read_is_none(layout: IndexLayout, text: str) -> None:
    layout.seal.write_text(text)
    assert read_seal(layout) is None
    put_seal(layout, 4, "stamp")
    assert found(layout) == {}


def test_files_that_stand_are_not_read_again(
    layout: IndexLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    real = seal._crc

    def crc(path: str) -> int:
        read.append(Path(path).name)
        return real(path)

    monkeypatch.setattr(seal, "_crc", crc)
    (layout.vectors / "chunks-2.npy").write_text("new")
    put_seal(layout, 4, "stamp")
    assert read == ["chunks-2.npy"]
    assert found(layout) == {}


def test_a_full_disk_keeps_the_old_seal(
    layout: IndexLayout, monkeypatch: pytest.MonkeyPatch
) -> None:
    (layout.vectors / "chunks-1.npy").write_text("longer than it was")

    def refuse(self: Path, *_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", refuse)
        put_seal(layout, 4, "stamp")
    assert found(layout) == {"vectors": {"vectors/chunks-1.npy"}}
