"""The state of an index, and what it knows of a note, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.container.place import Place, locate
from app.container.status import index_status, note_status
from config.errors import IndexMissing, UsageError

pytestmark = pytest.mark.model


@pytest.fixture
def place(indexed: tuple[Path, Path]) -> Place:
    return locate(indexed[0], index_dir=indexed[1])


def test_the_index(place: Place) -> None:
    told = index_status(place)
    assert told.notes == {"indexed": 4, "skipped": 1}
    assert [(one.path, "private" in one.reason) for one in told.skipped] == [
        ("people/Secret.md", True)
    ]
    assert told.links == {"excluded": 1, "resolved": 2, "unresolved": 1}
    assert told.pending is not None
    assert (told.pending.read, told.pending.skip, told.pending.gone) == (0, 0, 0)
    assert told.made_with["model"] == "all-MiniLM-L6-v2"
    assert told.bytes > 0


def test_a_note(place: Place) -> None:
    told = note_status(place, "Project A")
    assert (told.path, told.status, told.changed) == ("Atlas.md", "indexed", False)
    assert [(chunk.heading, chunk.lines) for chunk in told.chunks][-1] == ("Timeline", (6, 7))
    assert [link.target for link in told.links] == ["Plan.md", "people/Priya 1-1.md"]
    assert [link.source for link in note_status(place, "Plan").backlinks] == ["Atlas.md"]


def test_a_skipped_note_says_why(place: Place) -> None:
    told = note_status(place, "people/Secret")
    assert told.status == "skipped"
    assert "private" in (told.reason or "")
    assert told.chunks == []


def test_no_index(vault: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="notehop index"):
        index_status(locate(vault, index_dir=tmp_path / "none"))


def test_no_such_note(place: Place) -> None:
    with pytest.raises(UsageError, match="no note"):
        note_status(place, "zzz")
