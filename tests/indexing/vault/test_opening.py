"""A file of a vault is opened by the way that was looked at, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.product import open_below, opening

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows holds no folders")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/N.md").write_text("inside")
    (tmp_path / "N.md").write_text("outside")
    return root


def read(root: Path, path: str) -> str:
    with open_below(root, path) as stream:
        return stream.read().decode()


def test_links_inside_the_vault_are_followed(root: Path) -> None:
    (root / "L.md").symlink_to("a/b/N.md")
    (root / "folder").symlink_to("a")
    assert read(root, "a/b/N.md") == "inside"
    assert read(root, "L.md") == "inside"
    assert read(root, "folder/b/N.md") == "inside"


@pytest.mark.parametrize("path", ["L.md", "out/N.md", "../N.md", "a/../../N.md", "pipe", "a", ""])
def test_what_is_no_file_of_the_vault_is_not_opened(root: Path, path: str) -> None:
    (root / "L.md").symlink_to("../N.md")
    (root / "out").symlink_to(root.parent)
    os.mkfifo(root / "pipe")
    with pytest.raises(OSError):
        open_below(root, path)


@pytest.mark.parametrize("swapped", ["a/b/N.md", "a/b", "a"])
def test_what_is_swapped_for_a_link_after_the_look_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    (root / "L.md").symlink_to("a/b/N.md")
    outside = root.parent / "elsewhere/b"
    outside.mkdir(parents=True)
    (outside / "N.md").write_text("outside")
    (root.parent / "elsewhere/N.md").write_text("outside")
    regular = opening._regular

    def late(top: Path, parts: list[str] | tuple[str, ...]) -> object:
        if len(parts) > 1:
            (root / swapped).rename(root / "old")
            target = {"a": "elsewhere", "a/b": "elsewhere/b", "a/b/N.md": "N.md"}[swapped]
            (root / swapped).symlink_to(root.parent / target)
        return regular(top, parts)

    monkeypatch.setattr(opening, "_regular", late)
    with pytest.raises(OSError):
        open_below(root, "L.md")
