"""The day in the name of a note, as daily notes and numbered notes are named."""

from __future__ import annotations

import pytest

from tests.support.product import day_in_name


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
        pytest.param("Tagebuch/07.10.2026.md", "2026-10-07", id="points"),
        pytest.param("7. 10. 2026 Mittwoch.md", "2026-10-07", id="points and blanks"),
        pytest.param("Mittwoch, 7. Oktober 2026.md", "2026-10-07", id="german"),
        pytest.param("7. März 2026.md", "2026-03-07", id="an umlaut"),
        pytest.param("October 7th, 2026.md", "2026-10-07", id="month first"),
        pytest.param("Wed 7 Oct 2026.md", "2026-10-07", id="cut short"),
        pytest.param("7 octobre 2026.md", "2026-10-07", id="french"),
        pytest.param("7 de octubre de 2026.md", "2026-10-07", id="spanish"),
        pytest.param("2026 October 7.md", "2026-10-07", id="year first"),
        pytest.param("Journal/2026/10/07.md", "2026-10-07", id="over folders"),
        pytest.param("2026/10-October/07 Wed.md", "2026-10-07", id="over named folders"),
        pytest.param("Journal/2026/2026-10/10-07.md", "2026-10-07", id="folders that repeat"),
        pytest.param("Films/2026/10/12 angry men.md", None, id="looks like a day"),
        pytest.param("Docs/2026/10/Report 07.md", None, id="a number in a dated folder"),
        pytest.param("07-10-2026.md", None, id="two days in one"),
        pytest.param("1.1.10.2026.md", None, id="a version"),
        pytest.param("31. Foo 2026.md", None, id="no month"),
    ],
)
def test_the_day_in_a_name(path: str, day: str | None) -> None:
    found = day_in_name(path)
    assert (found and found.isoformat()) == day
