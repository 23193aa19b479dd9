"""Copies that sync tools make are told from notes that people call alike."""

from __future__ import annotations

import pytest

from tests.support.product import conflict_copies


@pytest.mark.parametrize(
    ("copy", "of", "tool"),
    [
        ("a/Plan.sync-conflict-20260501-101500-ABCDEF7.md", "a/Plan.md", "Syncthing"),
        ("Plan.sync-conflict-20260501-101500.md", "Plan.md", "Syncthing"),
        ("Plan (Ida's conflicted copy 2026-05-01).md", "Plan.md", "a sync tool"),
        ("Plan (conflicted copy 2026-05-01 101500).md", "Plan.md", "a sync tool"),
        ("Plan (Conflicted copy phone 202605011015).md", "Plan.md", "a sync tool"),
        ("Plan (In Konflikt stehende Kopie von Ida 2026-05-01).md", "Plan.md", "a sync tool"),
        ("Plan (Copie en conflit de Ida 2026-05-01).md", "Plan.md", "a sync tool"),
        ("Plan (Case Conflict 1).md", "Plan.md", "Dropbox"),
        ("Plan (SFConflict ida@example.org 2026-05-01-10-15-00).md", "Plan.md", "Seafile"),
        ("Plan-DESKTOP-1A2B3C4.md", "Plan.md", "OneDrive"),
        ("map.sync-conflict-20260501-101500-ABCDEF7.png", "map.png", "Syncthing"),
    ],
)
def test_names_that_tools_give(copy: str, of: str, tool: str) -> None:
    [found] = conflict_copies([of, copy], lambda *_: False)
    assert (found.path, found.of, found.tool) == (copy, of, tool)


@pytest.mark.parametrize(
    "path",
    [
        "Gulf War (conflict 1991).md",
        "Resolving a conflict.md",
        "Copies (and conflicts).md",
        "Sync-conflict.md",
        "Laptop-DESKTOP.md",
    ],
)
def test_names_that_people_give(path: str) -> None:
    assert conflict_copies([path, "Plan.md"], lambda *_: True) == []


def test_a_copy_whose_note_is_gone() -> None:
    copy = "Plan.sync-conflict-20260501-101500-ABCDEF7.md"
    [found] = conflict_copies([copy], lambda *_: False)
    assert found.of is None


def test_a_computer_name_counts_only_beside_its_note() -> None:
    assert conflict_copies(["Setup-DESKTOP-1A2B3C4.md"], lambda *_: True) == []


@pytest.mark.parametrize("name", ["Plan 2.md", "Plan (1).md"])
def test_a_number_counts_only_beside_a_note_that_says_the_same(name: str) -> None:
    assert [one.of for one in conflict_copies([name, "Plan.md"], lambda *_: True)] == ["Plan.md"]
    assert conflict_copies([name, "Plan.md"], lambda *_: False) == []
    assert conflict_copies([name, "other/Plan.md"], lambda *_: True) == []


def test_pictures_with_numbers_are_no_copies() -> None:
    assert conflict_copies(["map 2.png", "map.png"], lambda *_: True) == []
