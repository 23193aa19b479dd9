"""The state of an index, and what it knows of a note, without a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.show_status import show_status
from app.container.place import Place, locate
from app.container.status import index_status, note_status
from app.container.update import update_index
from config.errors import IndexMissing, ModelError, UsageError
from indexing.stores.catalog import Catalog

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
    assert told.problem is None


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


def test_settings_that_no_longer_fit_are_the_state(
    indexed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = locate(indexed[0], index_dir=indexed[1], overrides={"chunking.max_tokens": 64})
    told = index_status(place)
    assert told.problem is not None
    assert "settings name max_tokens 64" in told.problem
    show_status(told)
    shown = capsys.readouterr().out
    assert "up to date" not in shown
    assert told.problem in shown


def test_a_model_that_is_gone_is_the_state(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(_: object) -> None:
        raise ModelError("the model is gone")

    monkeypatch.setattr("app.container.status.wanted", gone)
    assert index_status(place).problem == "the model is gone"


def test_a_first_run_that_never_kept_anything_is_no_index(vault: Path, tmp_path: Path) -> None:
    place = locate(vault, index_dir=tmp_path / "ix")
    place.layout.catalog.parent.mkdir(parents=True)
    Catalog.open(place.layout.catalog, create=True).close()
    with pytest.raises(IndexMissing, match="nothing is indexed yet; run: notehop index"):
        index_status(place)
    with pytest.raises(IndexMissing, match="nothing is indexed yet; run: notehop index"):
        note_status(place, "Atlas")


def test_files_that_are_no_part_of_the_vault_are_listed(
    vault: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "gone\n  state.md").symlink_to("nowhere")
    place = locate(vault, index_dir=tmp_path / "ix")
    update_index(place)
    told = index_status(place)
    assert [(one.path, one.reason) for one in told.passed_over] == [
        ("gone\n  state.md", "symbolic link that leads nowhere")
    ]
    show_status(told)
    shown = capsys.readouterr().out
    assert "\nPassed over  1\n  gone␊  state.md  symbolic link that leads nowhere\n" in shown


def test_an_index_that_tells_no_problems(place: Place) -> None:
    assert index_status(place).passed_over == []
