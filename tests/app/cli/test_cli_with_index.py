"""The commands that need an index, on a small vault with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.support.product import app

pytestmark = pytest.mark.model


@pytest.fixture
def where(indexed: tuple[Path, Path]) -> list[str]:
    return ["--vault", str(indexed[0]), "--index-dir", str(indexed[1])]


def call(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result


def test_ask_shows_citations_and_then_connected_notes(where: list[str]) -> None:
    shown = call("ask", "When is the launch of Atlas?", "-k", "1", "--order", "rank", *where)
    answer, citations = shown.stdout.split("\nCitations\n")
    assert "14 June 2027" in answer
    assert "[1]" in answer
    cited, connected = citations.split("\nConnected notes  context, not evidence\n")
    assert "[1] Atlas > Timeline  Atlas.md:6-7" in cited
    assert "[C1]" in connected
    assert "linked from source 1" in connected
    assert shown.stderr == ""


def test_notes_that_may_have_changed(indexed: tuple[Path, Path], where: list[str]) -> None:
    extra = indexed[0] / "New.md"
    extra.write_text("A new note.\n")
    try:
        shown = call("search", "sourdough", *where)
    finally:
        extra.unlink()
    assert shown.stderr == (
        "warning: 1 note may have changed since the index was made; run: notehop index\n"
    )
