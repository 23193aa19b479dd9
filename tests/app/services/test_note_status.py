"""What is said of one note: what the index knows of it, or why it knows nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.notes import built
from tests.support.product import Place, note_status, show_status

NOTES = {
    "Atlas.md": "---\naliases: [Project A]\n---\nIt is planned in [[Plan]].\n\n## When\nIn June.\n",
    "Plan.md": "# Plan\nThe beta starts in May. ![[map.png]]\n",
    "Secret.md": "---\nprivate: true\n---\nNobody reads this.\n",
    "Old/Draft.md": "A draft.\n",
    "map.png": "no picture",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return built(tmp_path, NOTES)


def shown(place: Place, note: str, capsys: pytest.CaptureFixture[str]) -> str:
    show_status(note_status(place, note))
    return capsys.readouterr().out


def test_an_indexed_note(place: Place) -> None:
    told = note_status(place, "Project A")
    assert (told.path, told.status, told.reason, told.next_run) == (
        "Atlas.md",
        "indexed",
        None,
        None,
    )
    assert [chunk.lines for chunk in told.chunks] == [(4, 7)]
    assert [link.target for link in told.links] == ["Plan.md"]
    assert [link.source for link in note_status(place, "Plan").backlinks] == ["Atlas.md"]


def write_new(place: Place) -> None:
    (place.vault / "New.md").write_text("Written just now.\n")


def write_private(place: Place) -> None:
    (place.vault / "New.md").write_text("---\nnotehop: false\n---\nWritten just now.\n")


def write_large(place: Place) -> None:
    (place.vault / "New.md").write_text("word " * 200)


def write_excluded(place: Place) -> None:
    (place.vault / "Templates").mkdir()
    (place.vault / "Templates" / "New.md").write_text("{{date}}\n")


def write_hidden(place: Place) -> None:
    (place.vault / ".trash").mkdir()
    (place.vault / ".trash" / "New.md").write_text("Thrown away.\n")


def link_outside(place: Place) -> None:
    (place.vault.parent / "Elsewhere.md").write_text("Not here.\n")
    (place.vault / "New.md").symlink_to(place.vault.parent / "Elsewhere.md")


def link_folder(place: Place) -> None:
    (place.vault / "Alias").symlink_to(place.vault / "Old")


ABSENT = {
    "new": (write_new, "New", "New.md", "new since the last run", "read"),
    "private": (write_private, "New", "New.md", "notehop: false", "leave_out"),
    "too large": (write_large, "New.md", "New.md", "(vault.max_note_bytes)", "leave_out"),
    "excluded by a glob": (
        write_excluded,
        "Templates/New",
        "Templates/New.md",
        "excluded by the setting vault.exclude: Templates",
        "leave_out",
    ),
    "in a hidden folder": (
        write_hidden,
        ".trash/New.md",
        ".trash/New.md",
        ".trash: names that begin with a dot are no part of a vault",
        None,
    ),
    "symlink": (link_outside, "New", "New.md", "symbolic link that leaves the vault", None),
    "behind a symlink": (
        link_folder,
        "Alias/Draft",
        "Alias/Draft.md",
        "below Alias: symbolic link to the folder Old",
        None,
    ),
    "attachment": (None, "map.png", "map.png", "not a note: ", None),
    "folder": (None, "Old", "Old", "a folder, not a note", None),
}


@pytest.mark.parametrize(("change", "note", "path", "reason", "does"), ABSENT.values(), ids=ABSENT)
def test_a_note_that_the_index_does_not_know(
    change: object, note: str, path: str, reason: str, does: str | None, tmp_path: Path
) -> None:
    place = built(tmp_path, NOTES, vault__exclude=["Templates"], vault__max_note_bytes=900)
    if callable(change):
        change(place)
    told = note_status(place, note)
    assert (told.path, told.status) == (path, "absent")
    assert reason in (told.reason or "")
    assert (told.next_run.does if told.next_run else None) == does


@pytest.mark.parametrize(
    ("text", "does", "says"),
    [
        ("# Plan\nIn April.\n", "read", "indexes it as it is now; run: notehop index"),
        ("---\nprivate: true\n---\n", "leave_out", "leaves it out: private: true"),
        (None, "forget", "forgets it"),
    ],
)
def test_a_note_that_is_another_one_now(
    place: Place, capsys: pytest.CaptureFixture[str], text: str | None, does: str, says: str
) -> None:
    if text is None:
        (place.vault / "Plan.md").unlink()
    else:
        (place.vault / "Plan.md").write_text(text)
    told = note_status(place, "Plan")
    assert (told.status, told.next_run and told.next_run.does) == ("indexed", does)
    assert f"the next run {says}" in shown(place, "Plan", capsys)


def test_a_rule_of_the_app_that_is_new(place: Place) -> None:
    (place.vault / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["Old/"]}')
    told = note_status(place, "Draft")
    assert told.status == "indexed"
    assert (told.next_run.does, told.next_run.reason) == (
        "leave_out",
        "excluded in the app's settings: Old/",
    )


def test_a_note_that_keeps_itself_out(place: Place) -> None:
    told = note_status(place, "Secret")
    assert (told.status, told.reason, told.next_run) == (
        "skipped",
        "private: true in its front matter",
        None,
    )
    assert told.chunks == []


def test_a_note_that_was_saved_as_it_was(place: Place) -> None:
    os.utime(place.vault / "Plan.md", (1, 1))
    assert note_status(place, "Plan").next_run is None
    # Nor does the next run do anything about one that keeps itself out as before.
    (place.vault / "Secret.md").write_text("---\nprivate: true\n---\nSomething else.\n")
    assert note_status(place, "Secret").next_run is None
