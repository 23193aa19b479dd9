"""The day in the name of a note, as daily notes and numbered notes are named."""

from __future__ import annotations

import pytest

from indexing.vault.dates import day_in_name


@pytest.mark.parametrize(
    ("path", "day"),
    [
        pytest.param("Daily/2026-10-07.md", "2026-10-07", id="daily"),
        pytest.param("2026_10_07.md", "2026-10-07", id="underscores"),
        pytest.param("2026.10.07.md", "2026-10-07", id="dots"),
        pytest.param("Meetings/1-1 Bram 2026-08-27.md", "2026-08-27", id="at the end"),
        pytest.param("2026-10-07 to 2026-10-09.md", "2026-10-07", id="the first of two"),
        pytest.param("2026-13-07 2026-10-09.md", "2026-10-09", id="the first that exists"),
        pytest.param("20261007.md", "2026-10-07", id="compact"),
        pytest.param("202610071430 Eels.md", "2026-10-07", id="with a time"),
        pytest.param("20261007143059 Eels.md", "2026-10-07", id="with seconds"),
        pytest.param("2026-10-07/Notes.md", None, id="a folder's day is not the note's"),
        pytest.param("Invoice 20261007.md", None, id="compact, not at the start"),
        pytest.param("2026100712.md", None, id="another number"),
        pytest.param("30001007.md", None, id="a number of another kind"),
        pytest.param("2026-02-30.md", None, id="no day"),
        pytest.param("2026-10_07.md", None, id="two signs"),
        pytest.param("12026-10-071.md", None, id="within a number"),
        pytest.param("2026-10.md", None, id="a month"),
        pytest.param("Eels.md", None, id="none"),
    ],
)
def test_the_day_in_a_name(path: str, day: str | None) -> None:
    found = day_in_name(path)
    assert (found and found.isoformat()) == day
