"""Progress: bars on a terminal, plain lines elsewhere, and neither on standard output."""

from __future__ import annotations

import io

import pytest

from notehop.indexing.terminal import EVERY, PlainProgress, TerminalProgress, terminal_progress


class Terminal(io.StringIO):
    """Says that it is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("stream", "kind"), [(Terminal(), TerminalProgress), (io.StringIO(), PlainProgress)]
)
def test_the_stream_decides(stream: io.StringIO, kind: type) -> None:
    assert isinstance(terminal_progress(stream), kind)


def test_plain_lines() -> None:
    out, clock = io.StringIO(), Clock()
    progress = PlainProgress(out, clock)
    progress.stage("Scanning", 0, "files")
    progress.stage("Indexing", 1_000, "notes")
    for _ in range(4):
        clock.now += EVERY / 2
        progress.advance(50)
    progress.message("language: en")
    clock.now += EVERY
    progress.close()
    progress.close()
    assert out.getvalue().splitlines() == [
        "Scanning",
        "Indexing: 1,000 notes",
        "Indexing: 100 of 1,000 notes, 20.0/s, 45 s left",
        "Indexing: 200 of 1,000 notes, 20.0/s, 40 s left",
        "language: en",
        "Indexing took 15 s",
    ]


def test_a_quick_stage_is_one_line() -> None:
    out = io.StringIO()
    progress = PlainProgress(out, Clock())
    progress.stage("Indexing", 3, "notes")
    progress.advance(3)
    progress.close()
    assert out.getvalue() == "Indexing: 3 notes\n"


def test_a_bar_shows_stage_and_units_and_goes() -> None:
    out = Terminal()
    progress = TerminalProgress(out)
    progress.stage("Indexing [x]", 10, "notes")
    progress.advance(4)
    progress.message("a note [named] so")
    progress.stage("Deriving", 0, "")
    progress.close()
    progress.close()
    shown = out.getvalue()
    assert "Indexing [x]" in shown
    assert "a note [named] so" in shown
    assert "notes" in shown


def test_advancing_nothing_is_nothing() -> None:
    out = io.StringIO()
    PlainProgress(out, Clock()).advance(1)
    TerminalProgress(out).advance(1)
    assert out.getvalue() == ""
