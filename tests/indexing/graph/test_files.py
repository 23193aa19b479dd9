"""The index of a vault's files, by itself."""

from __future__ import annotations

import pytest

from notehop.indexing.graph.files import VaultFiles


def test_paths_come_sorted_and_once() -> None:
    files = VaultFiles(["b.md", "a.md", "b.md"], excluded=["z/c.md", "a.md"])
    assert list(files) == ["a.md", "b.md", "z/c.md"]
    assert len(files) == 3
    assert [files.is_excluded(path) for path in files] == [True, False, True]
    assert not files.is_excluded("gone.md")
    assert "z/c.md" in files
    assert "c.md" not in files


def test_files_are_found_under_every_ending_of_their_path() -> None:
    files = VaultFiles(["x/y/N.md", "N.md"])
    assert [file.path for file in files.ending("n.md")] == ["x/y/N.md"]
    assert [file.path for file in files.ending("y/n.md")] == ["x/y/N.md"]
    assert files.ending("x/y/n.md") == ()
    assert [file.path for file in files.at("x/y/n.md")] == ["x/y/N.md"]
    assert files.at("y/n.md") == ()


def test_aliases_of_excluded_notes_do_not_count() -> None:
    files = VaultFiles(["a.md"], excluded=["b.md"], aliases={"a.md": ["X"], "b.md": ["X", "Y"]})
    assert files.carriers("x ") == ["a.md"]
    assert files.carriers("Y") == []
    assert files.aliases_of("b.md") == ("X", "Y")


def test_an_alias_written_twice_in_one_note_counts_once() -> None:
    files = VaultFiles(["a.md"], aliases={"a.md": ["X", "x", " X", "", " "]})
    assert files.carriers("X") == ["a.md"]
    assert files.carriers("") == []


def test_nothing_is_left_of_a_removed_file() -> None:
    files = VaultFiles(["a.md", "d/a.md"], aliases={"d/a.md": ["X"]})
    assert len(files.pool("a.md").nearest) == 1
    files.remove("d/a.md")
    files.remove("d/a.md")
    assert files.ending("a.md") == ()
    assert files.carriers("X") == []
    assert list(files) == ["a.md"]


def test_a_pool_follows_changes() -> None:
    files = VaultFiles(["x/a.md", "y/a.md"])
    assert [file.path for file in files.pool("a.md").nearest] == ["x/a.md", "y/a.md"]
    files.add("w/a.md")
    files.rename("x/a.md", "x/b.md")
    assert [file.path for file in files.pool("a.md").nearest] == ["w/a.md", "y/a.md"]


def test_a_renamed_note_keeps_aliases_and_flag() -> None:
    files = VaultFiles(["a.md"], excluded=["b.md"], aliases={"a.md": ["X"]})
    files.rename("a.md", "d/A.md")
    files.rename("b.md", "d/B.md")
    assert files.carriers("X") == ["d/A.md"]
    assert files.is_excluded("d/B.md")
    assert list(files) == ["d/A.md", "d/B.md"]


def test_adding_again_replaces() -> None:
    files = VaultFiles(["a.md"], aliases={"a.md": ["X"]})
    files.add("a.md", excluded=True, aliases=["Y"])
    assert files.is_excluded("a.md")
    assert files.aliases_of("a.md") == ("Y",)
    assert len(files.at("a.md")) == 1


def test_folder_pool_stops_at_the_folder() -> None:
    """``a-b`` and ``a0`` sort around ``a/``: neither is below ``a``."""
    files = VaultFiles(["a-b/n.md", "a/n.md", "a/c/n.md", "a0/n.md", "ab/n.md"])
    assert [file.path for file in files.pool("n.md").under("a/")] == ["a/n.md", "a/c/n.md"]


@pytest.mark.parametrize("path", ["gone.md", "picture.png"])
def test_aliases_belong_to_notes_of_the_vault(path: str) -> None:
    files = VaultFiles(["picture.png"])
    with pytest.raises(ValueError, match=path):
        files.set_aliases(path, ["X"])


def test_renaming_what_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"gone\.md"):
        VaultFiles([]).rename("gone.md", "a.md")
