"""What is said of one note: what the index knows of it, or why it knows nothing."""

import os
from pathlib import Path

import pytest

from tests.support.notes import built
from tests.support.product import Place, note_status, show_status
from tests.support.tables import rows

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


@pytest.mark.parametrize(
    ("files", "note", "path", "reason", "does"),
    rows(__file__, "a_note_that_the_index_does_not_know"),
)
def test_a_note_that_the_index_does_not_know(
    files: dict[str, str], note: str, path: str, reason: str, does: str | None, tmp_path: Path
) -> None:
    place = built(tmp_path, NOTES, vault__exclude=["Templates"], vault__max_note_bytes=120)
    for name, text in files.items():
        (place.vault / name).parent.mkdir(exist_ok=True)
        if text.startswith("-> "):
            (place.vault / name).symlink_to(text[3:])
        else:
            (place.vault / name).write_text(text)
    told = note_status(place, note)
    assert (told.path, told.status) == (path, "absent")
    assert reason in (told.reason or "")
    assert (told.next_run.does if told.next_run else None) == does


@pytest.mark.parametrize(("text", "does", "says"), rows(__file__, "a_note_that_is_another_one_now"))
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


def test_a_note_that_was_never_read_has_no_time(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert note_status(place, "Secret").modified is None
    assert "modified" not in shown(place, "Secret", capsys)


def test_chunks_are_listed_by_line(tmp_path: Path) -> None:
    note = "---\nlead: Ann\ngenre: Saga\n---\nIt begins.\n\n## When\nIn June.\n"
    lines = [one.lines for one in note_status(built(tmp_path, {"Atlas.md": note}), "Atlas").chunks]
    assert lines == sorted(lines)
    assert lines[0] == (2, 3)


def test_a_rule_of_the_app_that_is_new(place: Place) -> None:
    (place.vault / ".obsidian" / "app.json").write_text('{"userIgnoreFilters": ["Old/"]}')
    told = note_status(place, "Draft")
    assert told.status == "indexed"
    assert (told.next_run.does, told.next_run.reason) == (
        "leave_out",
        "excluded in the app's settings: Old/",
    )


def test_a_note_that_was_saved_as_it_was(place: Place) -> None:
    os.utime(place.vault / "Plan.md", (1, 1))
    assert note_status(place, "Plan").next_run is None
    # Nor does the next run do anything about one that keeps itself out as before.
    (place.vault / "Secret.md").write_text("---\nprivate: true\n---\nSomething else.\n")
    assert note_status(place, "Secret").next_run is None
