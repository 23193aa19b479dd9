"""A note of nothing but blanks is indexed like any other: its time grows with its length alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.notes import Bench

MANY = 200_000

NOTES = {
    "word": "a" + " " * MANY,
    "item": "x\n\n- " + " " * MANY + "a",
    "tabs": "a" + "\t" * MANY,
    "lines": "a" + "\n" * MANY + "b",
    "no-break": "a" + "\u00a0" * MANY + "b",
    "blank lines": "a\n" + "   \n" * (MANY // 4) + "b",
    "headings": "# a\n" + " " * (MANY // 2) + "\n" + " " * (MANY // 2) + "b",
    "ideographic": "a" + "\u3000" * MANY + "b",
    "links": "a [[word]]" + " " * MANY + "[[tabs]] b",
}


@pytest.mark.timeout(100)
def test_blanks_are_indexed_in_no_time(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    for name, text in NOTES.items():
        bench.write(f"{name}.md", text)
    report = bench.index()
    assert report.added == len(NOTES)
    assert [link.raw_target for link in bench.links("links.md")] == ["word", "tabs"]
