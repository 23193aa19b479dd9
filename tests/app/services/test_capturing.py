"""A text is kept whatever becomes of the look-up, and what it has to do with is named."""

from __future__ import annotations

import logging
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.notes import write_notes
from tests.support.product import CaptureKept as Kept
from tests.support.product import (
    CaptureQuery,
    Connection,
    Find,
    IndexMissing,
    Place,
    capture,
    locate,
)

NOW = datetime(2026, 11, 22, 9, 31)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return locate(
        write_notes(tmp_path / "v", {"A.md": "x"}),
        index_dir=tmp_path / "ix",
        overrides={"capture.timeout_s": 0.2},
    )


def connection(number: int) -> Connection:
    return Connection(
        path=f"{number}.md",
        title=f"{number}",
        folder="",
        heading="",
        snippet="",
        score=0.1,
        link=f"[[{number}]]",
        uri="obsidian://open",
    )


def kept(
    place: Place, open_index: Any, text: str = "Tea", *, turns: Any = None, **fields: Any
) -> Any:
    turns = turns or threading.BoundedSemaphore(4)
    return capture(place, CaptureQuery(text=text, **fields), open_index, now=NOW, turns=turns)


def test_a_note_and_what_it_has_to_do_with(place: Place) -> None:
    asked: list[Kept] = []

    def find(one: Kept) -> list[Connection]:
        asked.append(one)
        return [connection(1), connection(2)]

    found = kept(place, lambda: find, title="Sea wall", tags=["site"])
    assert found.filename == "Inbox/2026-11-22 0931 Sea wall.md"
    assert found.message == f"Captured as {found.filename}; 2 related notes."
    assert [one.path for one in found.connections] == ["1.md", "2.md"]
    assert [one.path for one in asked] == [found.filename]
    assert (place.vault / found.filename).read_text() == (
        '---\ncreated: 2026-11-22T09:31:00\ntags:\n  - "site"\n---\n\nTea\n'
    )


def fails(_: Kept) -> list[Connection]:
    raise RuntimeError("no luck\nat all")


def missing() -> Find:
    raise IndexMissing("nothing is indexed yet; run: notehop index")


@pytest.mark.parametrize(
    ("open_index", "reason"),
    [
        pytest.param(lambda: fails, "RuntimeError: no luck", id="fails"),
        pytest.param(missing, "nothing is indexed yet; run: notehop index", id="no-index"),
    ],
)
def test_a_look_up_that_fails_is_logged_and_no_error(
    place: Place, caplog: pytest.LogCaptureFixture, open_index: Any, reason: str
) -> None:
    with caplog.at_level(logging.WARNING):
        found = kept(place, open_index)
    assert found.connections == []
    assert found.message.endswith(f"; related notes could not be looked up: {reason}")
    assert (place.vault / found.filename).exists()
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert reason in record.getMessage()


def test_look_ups_that_take_too_long_are_not_waited_for_and_do_not_pile_up(place: Place) -> None:
    let_go, turns = threading.Event(), threading.BoundedSemaphore(1)

    def slow(_: object) -> list[Connection]:
        let_go.wait(30)
        return []

    assert "it took longer than 0.2 s" in kept(place, lambda: slow, turns=turns).message
    found = kept(place, lambda: lambda _: [], turns=turns)
    assert "earlier ones are still under way" in found.message
    assert (place.vault / found.filename).exists()
    let_go.set()
    assert kept(place, lambda: lambda _: [connection(1)], turns=turns).connections


def test_the_folder_is_a_setting(place: Place) -> None:
    settings = place.settings.with_overrides({"capture.folder": "New/Box"})
    other = Place(place.vault, settings, place.layout)
    assert kept(other, None).filename == "New/Box/2026-11-22 0931 Tea.md"
