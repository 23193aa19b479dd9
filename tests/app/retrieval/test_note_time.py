"""The time of a note, from what it says and from its file."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from notehop.app.retrieval.note_time import newest, own_day, says_its_time, worked_on
from notehop.indexing.stores.model import NoteRow, NoteStatus


def at(day: str, hour: int = 12) -> float:
    return datetime.fromisoformat(day).replace(hour=hour, tzinfo=UTC).timestamp()


FILE = at("2026-11-20")


def note(path: str, *, created: str | None = None, modified: str | None = None) -> NoteRow:
    return NoteRow(
        path,
        path,
        NoteStatus.INDEXED,
        created=None if created is None else at(created),
        modified=FILE if modified is None else at(modified),
        mtime_ns=int(FILE * 1e9),
    )


@pytest.mark.parametrize(
    ("row", "worked", "day", "says"),
    [
        pytest.param(note("Plan.md"), FILE, None, False, id="only a file"),
        pytest.param(
            note("Daily/2026-10-07.md", modified="2026-11-01"),
            at("2026-10-07"),
            at("2026-10-07"),
            True,
            id="a daily note that a tool has touched",
        ),
        pytest.param(
            note("2010-05-01.md", created="2026-01-01"),
            at("2010-05-01"),
            at("2010-05-01"),
            True,
            id="a journal that was brought in",
        ),
        pytest.param(
            note("Plan.md", created="2026-01-05", modified="2026-10-01"),
            at("2026-10-01"),
            at("2026-01-05"),
            True,
            id="created and modified",
        ),
        pytest.param(
            note("Plan.md", created="2026-01-05"),
            at("2026-01-05"),
            at("2026-01-05"),
            True,
            id="created, and a file of another day",
        ),
        pytest.param(
            note("Plan.md", modified="2026-10-01"), at("2026-10-01"), None, True, id="modified"
        ),
    ],
)
def test_times(row: NoteRow, worked: float, day: float | None, says: bool) -> None:
    assert (worked_on(row), own_day(row), says_its_time(row)) == (worked, day, says)


def test_what_is_to_come_is_not_the_newest() -> None:
    now = at("2026-10-08")
    assert newest([at("2026-10-01"), at("2026-10-09", 6), at("2099-01-01")], now) == at(
        "2026-10-09", 6
    )
    assert newest([at("2099-01-01")], now) is None
    assert newest([], now) is None
