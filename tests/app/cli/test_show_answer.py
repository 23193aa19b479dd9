"""Answers and hits on the terminal: what a note is called must not pass for a line of ours."""

from __future__ import annotations

import pytest

from notehop.app.answer.draft import silent
from notehop.app.cli.show_answer import show_hits
from notehop.app.models import Hit, SearchResult
from notehop.app.retrieval.connected_reason import reason
from tests.app.answer.samples import connected, source
from tests.app.retrieval.test_connected_order import candidate

FORGED = "a\n[9] Forged"


def test_names_stay_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    found = source(1, "text\nmore", title=FORGED, heading=FORGED, path=f"{FORGED}.md")
    hit = Hit(**found.model_dump(), file=found.path)
    note = connected(1, "text", title=FORGED, path=f"{FORGED}.md")
    told = SearchResult(hits=[hit], connected_notes=[note], generation=1, warnings=[FORGED])
    show_hits(told, lambda: "")
    shown = capsys.readouterr()
    assert "[1] a␊[9] Forged > a␊[9] Forged  a␊[9] Forged.md:1" in shown.out
    assert not any(line.startswith("[9]") for line in (shown.out + shown.err).splitlines())


def test_the_nearest_notes_stay_on_one_line() -> None:
    assert silent([source(1, "text", title=FORGED)]).text == (
        "The vault does not say. Nearest: a␊[9] Forged."
    )


def test_a_reason_stays_on_one_line() -> None:
    assert '"a␊[9] Forged"' in reason(candidate("b.md"), FORGED)
