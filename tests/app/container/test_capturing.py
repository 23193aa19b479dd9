"""A text is kept whatever becomes of the look-up, and what it has to do with is named."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.notes import write_notes
from tests.support.product import (
    CaptureFailed,
    CaptureQuery,
    Connection,
    Find,
    IndexMissing,
    Place,
    QueryError,
    capture,
    capture_cold,
    locate,
)
from tests.support.product import CaptureKept as Kept

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
    place: Place,
    open_index: Any,
    text: str = "Tea",
    turns: threading.BoundedSemaphore | None = None,
    **fields: Any,
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


def test_the_note_is_there_before_anything_is_looked_up(place: Place) -> None:
    seen: list[bool] = []

    def open_index() -> Find:
        seen.append((place.vault / "Inbox" / "2026-11-22 0931 Tea.md").exists())
        return lambda _: []

    found = kept(place, open_index)
    assert seen == [True]
    assert found.message.endswith("; no related notes.")


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


@pytest.fixture
def stuck() -> Iterator[tuple[Find, threading.Event]]:
    let_go = threading.Event()

    def find(_: Kept) -> list[Connection]:
        let_go.wait(30)
        return [connection(1)]

    yield find, let_go
    let_go.set()


def test_a_look_up_that_takes_too_long_is_not_waited_for(
    place: Place, caplog: pytest.LogCaptureFixture, stuck: tuple[Find, threading.Event]
) -> None:
    found = kept(place, lambda: stuck[0])
    assert found.connections == []
    assert "it took longer than 0.2 s" in found.message
    assert "it took longer than 0.2 s" in caplog.text


def test_look_ups_that_hang_do_not_pile_up(
    place: Place, stuck: tuple[Find, threading.Event]
) -> None:
    turns = threading.BoundedSemaphore(1)
    kept(place, lambda: stuck[0], turns=turns)
    found = kept(place, lambda: lambda _: [], turns=turns)
    assert "earlier ones are still under way" in found.message
    assert (place.vault / found.filename).exists()
    stuck[1].set()
    assert kept(place, lambda: lambda _: [connection(1)], turns=turns).connections


def test_no_connections_are_looked_for_where_none_are_wanted(place: Place) -> None:
    none = Place(
        place.vault, place.settings.with_overrides({"capture.connections": 0}), place.layout
    )
    assert kept(none, missing).message == "Captured as Inbox/2026-11-22 0931 Tea.md."
    assert kept(place, None).connections == []


def test_the_folder_is_a_setting(place: Place) -> None:
    other = Place(
        place.vault, place.settings.with_overrides({"capture.folder": "New/Box"}), place.layout
    )
    assert kept(other, None).filename == "New/Box/2026-11-22 0931 Tea.md"


def test_who_keeps_what_no_search_will_find_is_told(place: Place) -> None:
    settings = place.settings.with_overrides({"vault.exclude": ["Inbox/**"]})
    told = kept(Place(place.vault, settings, place.layout), None).message
    assert "left out of the index, so no search finds it" in told
    assert "left out" not in kept(place, None).message


def test_what_cannot_be_written_is_an_error(place: Place) -> None:
    (place.vault / "Inbox").write_text("a file")
    with pytest.raises(CaptureFailed):
        kept(place, None)


def test_a_tag_that_is_none_writes_nothing(place: Place) -> None:
    with pytest.raises(QueryError, match="can be no tag"):
        kept(place, None, tags=["2026"])
    assert not (place.vault / "Inbox").exists()


def test_a_vault_that_was_never_indexed(place: Place) -> None:
    found = capture_cold(place, CaptureQuery(text="Tea"))
    assert "run: notehop index" in found.message
    assert (place.vault / found.filename).exists()
    assert not place.layout.root.exists()
