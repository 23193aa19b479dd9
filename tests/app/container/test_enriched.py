"""Summaries are shown where notes are shown in a line, and say who wrote them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from notehop.app.cli.show_browse import show_browse
from notehop.app.cli.show_status import show_status
from notehop.app.container.handle import VaultHandle
from notehop.app.container.opening import open_place
from notehop.app.container.status import index_status
from notehop.app.mcp.shaping import browse_reply, note_reply
from notehop.app.mcp.text import browse_text, note_text
from notehop.app.models import BrowseQuery
from notehop.config import Settings
from notehop.config.errors import ProviderError
from notehop.indexing.enrich.scribe import Scribe
from notehop.indexing.enrich.step import enrich
from notehop.indexing.llm.tokens import Estimate
from tests.app.container.built import built, indexer
from tests.indexing.enrich.telling_llm import TellingLLM

LONG = "It is made of clay that lies one winter, and of nothing else at all. " * 4

NOTES = {
    "Hub.md": "See [[Wall]], [[Gate]], [[Own]] and [[Pump]].\n",
    "Wall.md": f"The wall keeps the tide out. {LONG}\n",
    "Gate.md": f"The gate opens inwards. {LONG}\n",
    "Own.md": f"---\nsummary: In my own words.\n---\nThe owner wrote. {LONG}\n",
    "Pump.md": "The pump is small.\n",
}


def tell(prompt: str) -> str:
    if "Gate" in prompt:
        raise ProviderError("the note is too long for the model", "overflow")
    return "A model's view of the <b>wall</b>."


def scribe(_settings: Settings, _folder: Path) -> Scribe:
    return Scribe(TellingLLM(tell=tell), Estimate(), model="told-1", host="this machine")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[VaultHandle]:
    asked: dict[str, Any] = {
        "enrich__summaries": "llm",
        "llm__provider": "openai-compatible",
        "llm__model": "told-1",
        "llm__base_url": "http://127.0.0.1:9/v1",
    }
    place = built(tmp_path, NOTES, **asked)
    assert enrich(indexer(place), lambda _: None, load=scribe) is not None
    with open_place(place) as vault:
        yield vault


def test_browsed_notes_say_who_summed_them_up(
    opened: VaultHandle, capsys: pytest.CaptureFixture[str]
) -> None:
    query = BrowseQuery(seeds=["Hub"])
    found = opened.browse(query)
    told = {note.path: (note.text, note.written_by) for note in found.notes}
    assert told["Wall.md"] == ("A model's view of the wall.", "told-1")
    assert told["Own.md"] == ("In my own words.", None)
    # Where the model gave nothing, the note's own sentences.
    assert told["Gate.md"][0].startswith("The gate opens inwards.")
    assert told["Gate.md"][1] is None
    assert told["Pump.md"] == ("The pump is small.", None)
    show_browse(found, query, lambda: "")
    assert "A model's view of the wall. (written by told-1)\n" in capsys.readouterr().out
    text = browse_text(browse_reply(found, 4_000))
    assert "> A model's view of the wall.\n(written by the model told-1, not in the note)" in text


def test_a_note_is_read_with_its_summary(opened: VaultHandle) -> None:
    view = opened.note("Wall")
    assert (view.summary, view.summary_by) == ("A model's view of the wall.", "told-1")
    assert "A model's view" not in view.text
    outline = note_text(note_reply(view, 4_000, outline_only=True))
    assert "Summary:\n> A model's view of the wall.\n(written by the model told-1" in outline
    assert opened.note("Own").summary == "In my own words."


def test_a_note_that_changed_has_no_summary_until_it_is_indexed(opened: VaultHandle) -> None:
    (opened.place.vault / "Wall.md").write_text("Something else stands here now.\n")
    assert opened.note("Wall").summary is None
    found = opened.browse(BrowseQuery(seeds=["Hub"]))
    wall = next(note for note in found.notes if note.path == "Wall.md")
    assert wall.written_by is None


def test_chunks_are_never_a_model_s(opened: VaultHandle) -> None:
    found = opened.browse(BrowseQuery(seeds=["Hub"], results="chunks"))
    assert all(note.written_by is None for note in found.notes)
    assert not any("model's view" in note.text for note in found.notes)


def test_status_counts_what_is_written_waiting_and_failed(
    opened: VaultHandle, capsys: pytest.CaptureFixture[str]
) -> None:
    told = index_status(opened.place)
    assert told.enrichment is not None
    counts = {one.kind: (one.have, one.lack) for one in told.enrichment.texts}
    assert counts == {"extract": (4, 0), "summary": (1, 1)}
    assert [(one.path, one.reason) for one in told.enrichment.failed] == [
        ("Gate.md", "the note is too long for the model")
    ]
    show_status(told)
    shown = capsys.readouterr().out
    assert "1 of 2 summaries by the model" in shown
    assert "1 failed" in shown
    assert "Gate.md  summary: the note is too long for the model" in shown
