"""What was captured a moment ago is found by its own words, in a vault with templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.notes import write_notes
from tests.support.product import CaptureQuery, is_skeleton
from tests.support.real_index import real_index

LINES = frozenset({"weight", "plot"})


@pytest.mark.model
def test_a_one_line_capture_is_first_for_its_own_words(tmp_path: Path) -> None:
    notes = {
        f"Walk {at}.md": f"Walk {at} went to the pump house, and the key hung there."
        for at in range(9)
    }
    notes["Templates/Daily.md"] = "## Plot\n## Weight\n"
    vault = write_notes(tmp_path / "Vault", notes)
    real_index(vault, tmp_path / "index")
    text = "Ask Bram about marker 4 again."
    with open_vault(vault, index_dir=tmp_path / "index") as opened:
        kept = opened.capture(CaptureQuery(text=text))
        real_index(vault, tmp_path / "index")
        hit = opened.search(text, explain=True).hits[0]
    assert (hit.path, hit.held_back) == (kept.filename, None)


@pytest.mark.parametrize(
    ("text", "title", "skeleton"),
    [
        ("Ask Bram again.", "2026-11-22 1554 Ask Bram again", False),
        ("# Ask Bram\n## Weight", "Ask Bram", True),
        ("## Plot\n\n- Weight:", "Monday", True),
        ("## Plot\n- Weight: 80.5", "Monday", False),
        ("## Plot\nThey meet.", "Monday", False),
        ("", "Monday", False),
    ],
)
def test_a_skeleton_has_a_line_of_a_template(text: str, title: str, skeleton: bool) -> None:
    assert is_skeleton(text, title, LINES) is skeleton
