"""The questions of the demo vault, asked of the whole product with the bundled model.

Of questions that the vault does not answer, only what must never come up is checked.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.doors.conftest import vault as vault
from tests.doors.conftest import where as where
from tests.support.product import VaultHandle, demo_questions
from tests.support.tables import read_yaml

QUESTIONS: list[dict[str, Any]] = read_yaml(demo_questions())
ANSWERS = Path(__file__).parents[1] / "answers" / "demo.jsonl"
FLOOR = (60, 47)
"""Of 70 questions: those with all notes among the sources, those with an answer that holds the fact."""

KINDS = ("linked", "direct", "alias", "filter")
ANSWERABLE = [entry for entry in QUESTIONS if entry["kind"] in KINDS]
STATUS = [entry for entry in QUESTIONS if entry["kind"] == "status"]
KEPT_OUT = [entry for entry in QUESTIONS if "context_lacks" in entry["expect"]]

pytestmark = pytest.mark.model


@pytest.mark.parametrize("entry", ANSWERABLE, ids=lambda entry: str(entry["id"]))
def test_the_context_holds_what_the_answer_needs(vault: VaultHandle, entry: dict[str, Any]) -> None:
    answer, expect = vault.ask(entry["question"]), entry["expect"]
    sources = {source.path for source in answer.sources}
    connected = {note.path for note in answer.connected_notes}
    wanted = expect.get("sources", {})
    assert set(wanted.get("all", ())) <= sources
    assert not wanted.get("any") or sources.intersection(wanted["any"])
    assert set(expect.get("connected", ())) <= connected - sources
    assert set(expect.get("context", ())) <= connected | sources
    assert not connected.intersection(citation.path for citation in answer.citations)
    text = "\n".join(part.text for part in (*answer.sources, *answer.connected_notes))
    assert [said for said in expect.get("context_contains", ()) if said not in text] == []
    assert [said for said in expect.get("answer_contains", ()) if said not in answer.answer] == []


@pytest.mark.parametrize("entry", KEPT_OUT, ids=lambda entry: str(entry["id"]))
def test_what_the_owner_keeps_out_never_comes_up(vault: VaultHandle, entry: dict[str, Any]) -> None:
    told = vault.ask(entry["question"]).model_dump_json()
    assert [said for said in entry["expect"]["context_lacks"] if said in told] == []


@pytest.mark.parametrize("results", ["chunks", "notes"])
@pytest.mark.parametrize("entry", STATUS, ids=lambda entry: str(entry["id"]))
def test_a_status_question_finds_the_last_news_and_the_hub(
    vault: VaultHandle, entry: dict[str, Any], results: str
) -> None:
    found = vault.search(entry["question"], results=results)
    paths, expect = [hit.path for hit in found.hits], entry["expect"]
    assert found.intent == "status"
    assert expect["latest"] in paths[:3]
    assert expect["hub"] in paths[:5]


@pytest.mark.parametrize("entry", STATUS, ids=lambda entry: str(entry["id"]))
def test_the_answer_to_it_stands_on_what_is_true_now(vault: VaultHandle, entry: dict[str, Any]) -> None:
    answer, expect = vault.ask(entry["question"]), entry["expect"]
    assert answer.citations[0].path == expect["latest"]
    text = [part.text for part in (*answer.sources, *answer.connected_notes)]
    assert all(any(said in one for one in text) for said in expect["context_contains"])
    for old in expect.get("stale", ()):
        # What was true once may stand there, but not before what is true now.
        first = next((at for at, one in enumerate(text) if old in one), len(text))
        news = min(at for at, one in enumerate(text) if expect["context_contains"][0] in one)
        assert news < first


def test_as_much_is_found_as_on_record(vault: VaultHandle) -> None:
    """In people's words; the hits themselves are on record in ``tests/recorded``."""
    lines = ANSWERS.read_text(encoding="utf-8").splitlines()
    asked = [one for one in map(json.loads, lines) if one["answerable"]]
    found = answered = 0
    for one in asked:
        answer = vault.ask(one["question"])
        paths = {source.path for source in answer.sources}
        wanted = [{each} if isinstance(each, str) else set(each) for each in one["notes"]]
        found += all(paths & several for several in wanted)
        answered += all(re.search(said, answer.answer, re.I) for said in one["contains"])
    assert (found >= FLOOR[0], answered >= FLOOR[1]) == (True, True), (found, answered)
