"""Names of files are shown on one line, whatever their writer put into them."""

from __future__ import annotations

import pytest

from notehop.indexing.shown import counted, on_one_line


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028"])
def test_a_line_break_in_a_name_is_shown_as_a_sign(line_break: str) -> None:
    assert on_one_line(f"a{line_break}error: b.md") == "a␊error: b.md"


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 notes"), (1, "1 note"), (2, "2 notes"), (1_200, "1,200 notes")]
)
def test_one_is_not_many(count: int, told: str) -> None:
    assert counted(count, "note") == told
