"""How far a run is, as a terminal and a log show it."""

import io
import os

import pytest

from tests.support.product import TextProgress


class Stream(io.StringIO):
    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def shown(stream: Stream) -> str:
    progress = TextProgress(stream)
    progress.stage("Indexing 3 notes", 1_200, "tokens")
    progress.message("a.md: it cannot be read")
    progress.close()
    return stream.getvalue()


def test_a_log_has_a_line_for_each_stage_and_message() -> None:
    said = "Indexing 3 notes: 1,200 tokens\na.md: it cannot be read\n"
    assert shown(Stream(terminal=False)) == said


def test_a_terminal_keeps_messages_and_no_stage() -> None:
    *kept, last = shown(Stream(terminal=True)).split("\n")
    assert [line.split("\r")[-1] for line in kept] == ["a.md: it cannot be read"]
    assert kept[0].startswith("\rIndexing 3 notes: 1,200 tokens\x1b[K\r")
    assert last.endswith("\r\x1b[K\r")


def test_a_line_is_as_wide_as_the_terminal_that_it_is_on() -> None:
    termios = pytest.importorskip("termios")
    outer, inner = os.openpty()
    termios.tcsetwinsize(inner, (24, 20))
    with os.fdopen(inner, "w") as stream:
        TextProgress(stream).stage("Indexing 3 notes", 1_200, "tokens")
        assert os.read(outer, 1_000) == b"\rIndexing 3 notes: 1\x1b[K\r"
    os.close(outer)
