"""What is said of one note: what the index knows of it, or why it knows nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.notes import built
from tests.support.product import Place, UsageError, note_status, show_status

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


def test_a_note_that_keeps_itself_out(place: Place) -> None:
    told = note_status(place, "Secret")
    assert (told.status, told.reason, told.next_run) == (
        "skipped",
        "private: true in its front matter",
        None,
    )
    assert told.chunks == []


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


@pytest.mark.parametrize(
    ("change", "note", "path", "reason", "does"),
    [
        pytest.param(write_new, "New", "New.md", "new since the last run", "read", id="new"),
        pytest.param(write_private, "New", "New.md", "notehop: false", "leave_out", id="private"),
        pytest.param(
            write_large, "New.md", "New.md", "(vault.max_note_bytes)", "leave_out", id="too large"
        ),
        pytest.param(
            write_excluded,
            "Templates/New",
            "Templates/New.md",
            "excluded by the setting vault.exclude: Templates",
            "leave_out",
            id="excluded by a glob",
        ),
        pytest.param(
            write_hidden,
            ".trash/New.md",
            ".trash/New.md",
            ".trash: names that begin with a dot are no part of a vault",
            None,
            id="in a hidden folder",
        ),
        pytest.param(
            link_outside, "New", "New.md", "symbolic link that leaves the vault", None, id="symlink"
        ),
        pytest.param(
            link_folder,
            "Alias/Draft",
            "Alias/Draft.md",
            "below Alias: symbolic link to the folder Old",
            None,
            id="behind a symlink",
        ),
        pytest.param(None, "map.png", "map.png", "not a note: ", None, id="attachment"),
        pytest.param(None, "Old", "Old", "a folder, not a note", None, id="folder"),
    ],
)
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


def test_a_note_that_cannot_be_read_will_fail(place: Place) -> None:
    write_new(place)
    (place.vault / "New.md").chmod(0)
    if os.access(place.vault / "New.md", os.R_OK):
        pytest.skip("who runs this reads everything")
    told = note_status(place, "New")
    assert told.next_run is not None
    assert told.next_run.does == "fail"
    assert "check its permissions" in (told.reason or "")


def test_a_note_that_changed(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    (place.vault / "Plan.md").write_text("# Plan\nThe beta starts in April.\n")
    told = note_status(place, "Plan")
    assert (told.status, told.next_run and told.next_run.does) == ("indexed", "read")
    assert "the next run indexes it as it is now; run: notehop index" in shown(
        place, "Plan", capsys
    )


def test_a_note_that_was_saved_as_it_was(place: Place) -> None:
    os.utime(place.vault / "Plan.md", (1, 1))
    assert note_status(place, "Plan").next_run is None


def test_a_note_that_became_private(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    (place.vault / "Plan.md").write_text("---\nprivate: true\n---\n")
    told = note_status(place, "Plan")
    assert (told.status, told.next_run and told.next_run.does) == ("indexed", "leave_out")
    assert "the next run leaves it out: private: true" in shown(place, "Plan", capsys)


def test_a_note_that_is_gone(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    (place.vault / "Plan.md").unlink()
    told = note_status(place, "Plan")
    assert (told.status, told.next_run and told.next_run.does) == ("indexed", "forget")
    assert "its file is gone, and the next run forgets it" in shown(place, "Plan", capsys)


def test_a_rule_of_the_app_that_is_new(place: Place) -> None:
    (place.vault / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["Old/"]}')
    told = note_status(place, "Draft")
    assert told.status == "indexed"
    assert told.next_run is not None
    assert (told.next_run.does, told.next_run.reason) == (
        "leave_out",
        "excluded in the app's settings: Old/",
    )


def test_a_vault_that_cannot_be_listed_leaves_what_the_index_knows(place: Place) -> None:
    (place.vault / ".obsidian" / "app.json").write_text("{")
    told = note_status(place, "Plan")
    assert (told.status, told.next_run) == ("indexed", None)


@pytest.mark.parametrize(
    ("note", "says"),
    [
        pytest.param("Atlsa", "did you mean Atlas.md?", id="letters swapped"),
        pytest.param("old draft", "did you mean Old/Draft.md?", id="other marks"),
        pytest.param("Projekt A", "did you mean Atlas.md?", id="near an alias"),
        pytest.param("Draf", "did you mean Old/Draft.md?", id="a part"),
        pytest.param("zzz", "name it by its path", id="nothing like it"),
    ],
)
def test_no_such_note(place: Place, note: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        note_status(place, note)
    assert says in str(caught.value)


def test_two_notes_of_one_name(tmp_path: Path) -> None:
    place = built(tmp_path, {"a/Plan.md": "One.\n"})
    (place.vault / "b").mkdir()
    (place.vault / "b" / "Plan.md").write_text("Two.\n")
    with pytest.raises(UsageError, match=r"2 notes: a/Plan\.md, b/Plan\.md"):
        note_status(place, "Plan")


def test_an_absent_note_says_so_to_people(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    write_new(place)
    assert shown(place, "New", capsys) == (
        "New  New.md\n"
        "  state    not in the index: new since the last run\n"
        "  file     the next run indexes it as it is now; run: notehop index\n"
    )


def test_paths_from_the_current_folder(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.vault / "Old")
    assert note_status(place, "Draft.md").path == "Old/Draft.md"
