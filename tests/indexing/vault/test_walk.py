"""Which files of a vault are found, and what becomes of those that are odd."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.product import (
    VaultError,
    Walk,
    outermost,
    read_ignore_filters,
    walk,
    walk_within,
)


def make(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(b"text")
    return root


def paths(found: Walk) -> list[str]:
    return [file.path for file in found.files]


def test_notes_and_attachments_sorted_by_path(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/c.MD", "a/b/d.md", "a.png", "x.canvas", "Z.md", "no extension")
    found = walk(tmp_path)
    assert [(file.path, file.kind) for file in found.files] == [
        ("Z.md", "note"),
        ("a.png", "attachment"),
        ("a/b/d.md", "note"),
        ("a/c.MD", "note"),
        ("b.md", "note"),
        ("no extension", "attachment"),
        ("x.canvas", "attachment"),
    ]
    assert found.problems == ()
    first = found.files[0]
    stat = (tmp_path / "Z.md").stat()
    assert (first.size, first.mtime_ns, first.excluded) == (4, stat.st_mtime_ns, None)


def test_what_starts_with_a_dot_is_no_part_of_the_vault(tmp_path: Path) -> None:
    make(tmp_path, ".obsidian/app.json", ".trash/old.md", ".git/x.md", "a/.hidden/x.md", "a/.x.md")
    assert walk(tmp_path) == Walk((), ())


def test_odd_names(tmp_path: Path) -> None:
    names = ["new\nline.md", "🌊.md", "cafe\u0301.md", "100%.md", "a#b.md", "back\\slash.md"]
    make(tmp_path, *names)
    assert paths(walk(tmp_path)) == sorted(names)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_utf8_is_named(tmp_path: Path) -> None:
    make(tmp_path, "good.md")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.md")).write_bytes(b"x")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/folder\xfe")).mkdir()
    found = walk(tmp_path)
    assert paths(found) == ["good.md"]
    assert found.problems == (
        ("bad\\xff.md", "its name is not valid UTF-8; rename it"),
        ("folder\\xfe", "its name is not valid UTF-8; rename it"),
    )


def test_symbolic_links(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "secret.md")
    root = make(tmp_path / "vault", "a/note.md", "b/other.md", ".hidden/h.md")
    (root / "a/loop").symlink_to(root)
    (root / "a/up").symlink_to("..")
    (root / "a/self").symlink_to("self")
    (root / "b/a").symlink_to(root / "a")
    (root / "file.md").symlink_to(root / "b/other.md")
    (root / "gone.md").symlink_to(root / "nothing.md")
    (root / "out").symlink_to(outside)
    (root / "out.md").symlink_to(outside / "secret.md")
    found = walk(root)
    assert paths(found) == ["a/note.md", "b/other.md", "file.md"]
    assert {path: reason.split(":")[0] for path, reason in found.problems} == {
        "a/loop": "symbolic link to the folder . of this vault; not followed",
        "a/self": "symbolic link that leads nowhere",
        "a/up": "symbolic link to the folder . of this vault; not followed",
        "b/a": "symbolic link to the folder a of this vault; not followed",
        "gone.md": "symbolic link that leads nowhere",
        "out": "symbolic link that leaves the vault",
        "out.md": "symbolic link that leaves the vault",
    }


def test_a_link_to_an_excluded_note_is_excluded_too(tmp_path: Path) -> None:
    root = make(tmp_path, "private/secret.md")
    (root / "open.md").symlink_to(root / "private/secret.md")
    assert {f.path: f.excluded is not None for f in walk(root, exclude=["private"]).files} == {
        "open.md": True,
        "private/secret.md": True,
    }


def test_the_vault_itself_may_be_a_link(tmp_path: Path) -> None:
    make(tmp_path / "real", "a/n.md")
    (tmp_path / "vault").symlink_to(tmp_path / "real")
    assert paths(walk(tmp_path / "vault")) == ["a/n.md"]


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert walk(tmp_path) == Walk((), (("pipe.md", "not a regular file"),))


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    make(tmp_path, "a/n.md", "b.md")
    (tmp_path / "a").chmod(0)
    try:
        found = walk(tmp_path)
    finally:
        (tmp_path / "a").chmod(0o700)
    assert paths(found) == ["b.md"]
    assert found.problems == (("a", "Permission denied"),)


def test_a_path_too_long_for_the_system_is_a_problem(tmp_path: Path) -> None:
    make(tmp_path, "b.md")
    there = Path.cwd()
    try:
        os.chdir(tmp_path)
        for _ in range(25):  # made step by step: as one path the system would refuse it
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
    finally:
        os.chdir(there)
    found = walk(tmp_path)
    assert paths(found) == ["b.md"]
    assert [reason for _, reason in found.problems] == ["File name too long"]


def test_no_vault(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="there is no such folder"):
        walk(tmp_path / "missing")
    make(tmp_path, "file.md")
    with pytest.raises(VaultError, match="not a folder"):
        walk(tmp_path / "file.md")


def test_exclusion_names_its_reason(tmp_path: Path) -> None:
    make(tmp_path, "Templates/t.md", "Archive/a.md", "n.md")
    found = walk(tmp_path, exclude=["Templates"], ignore_filters=["Archive/"])
    assert {file.path: file.excluded for file in found.files} == {
        "Archive/a.md": "excluded in the app's settings: Archive/",
        "Templates/t.md": "excluded by the setting vault.exclude: Templates",
        "n.md": None,
    }


def test_ignore_filters_of_the_app(tmp_path: Path) -> None:
    assert read_ignore_filters(tmp_path) == []
    settings = tmp_path / ".obsidian/app.json"
    settings.parent.mkdir()
    for content, expected in (
        ({}, []),
        ([], []),
        ({"userIgnoreFilters": None}, []),
        ({"userIgnoreFilters": ["Archive/", "/\\.draft/", 3, ""]}, ["Archive/", "/\\.draft/"]),
    ):
        settings.write_text(json.dumps(content))
        assert read_ignore_filters(tmp_path) == expected


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000], ids=["cut", "bytes", "deep"])
def test_app_settings_that_cannot_be_read_are_an_error(tmp_path: Path, content: bytes) -> None:
    settings = tmp_path / ".obsidian/app.json"
    settings.parent.mkdir()
    settings.write_bytes(content)
    with pytest.raises(VaultError, match=r"app\.json: cannot be read"):
        read_ignore_filters(tmp_path)


def test_a_part_of_a_vault_is_walked_as_the_whole_is(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "deep/b.md", "deep/er/c.md", "deep b/d.md", ".obsidian/x.md")
    (tmp_path / "deep" / "link.md").symlink_to("b.md")
    (tmp_path / "deep" / "out.md").symlink_to("/etc/hosts")
    (tmp_path / "folder").symlink_to("deep")
    whole = walk(tmp_path, exclude=["er"])
    for named in (["deep"], ["deep/er"], ["deep/b.md", "a.md"], ["nowhere", "deep/link.md"], [""]):
        below = tuple(path + "/" for path in named if path)
        found = walk_within(tmp_path, named, exclude=["er"])

        def inside(path: str) -> bool:
            return "" in named or path in named or path.startswith(below)  # noqa: B023

        assert found.files == tuple(file for file in whole.files if inside(file.path))
        assert found.problems == tuple(told for told in whole.problems if inside(told[0]))


def test_what_is_no_part_of_a_vault_is_none_when_named(tmp_path: Path) -> None:
    make(tmp_path, "deep/b.md", ".obsidian/x.md", "deep/.hidden/y.md")
    (tmp_path / "folder").symlink_to("deep")
    paths = [".obsidian/x.md", "deep/.hidden/y.md", "deep/.hidden", "folder/b.md", "deep/b.md/z.md"]
    assert walk_within(tmp_path, paths) == Walk((), ())


def test_a_vault_that_is_not_there_is_no_empty_one(tmp_path: Path) -> None:
    for paths in ([], ["a.md"], [""]):
        with pytest.raises(VaultError, match="no such folder"):
            walk_within(tmp_path / "nowhere", paths)


def test_outermost_goes_by_folders() -> None:
    assert outermost(["a/b", "a", "a b", "a/c/d", "b/c"]) == ["a", "a b", "b/c"]
    assert outermost(["a", ""]) == [""]
    assert outermost([]) == []


@pytest.mark.parametrize("list_it", [walk, lambda root: walk_within(root, ["a.md"])])
def test_a_disk_that_is_gone_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, list_it: Callable[[Path], Walk]
) -> None:
    """A network disk that is gone answers with an error instead of "not there"."""

    def gone(path: Path, **_: object) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected", str(path))

    monkeypatch.setattr(Path, "stat", gone)
    with pytest.raises(VaultError, match="cannot be entered: Transport endpoint"):
        list_it(tmp_path)


def test_what_stands_at_a_path_that_cannot_be_looked_at_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, "a/b.md")

    def broken(_: Path) -> bool:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Path, "is_symlink", broken)
    assert walk_within(tmp_path, ["a/b.md"]).unlisted == ("a/b.md",)
