"""An opened vault answers with evidence, with the real model and a real index."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from notehop import open_vault
from tests.support.product import (
    IndexMismatch,
    IndexMissing,
    QueryError,
    VaultError,
    VaultHandle,
    locate,
    open_place,
    update_index,
)
from tests.support.real_index import real_index
from tests.support.scripted_llm import ScriptedLLM

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def opened(indexed: tuple[Path, Path]) -> Iterator[VaultHandle]:
    folder, index = indexed
    with open_vault(folder, index_dir=index) as vault:
        yield vault


def test_ask(opened: VaultHandle) -> None:
    answer = opened.ask("When is the launch of Atlas?")
    assert answer.mode == "extractive"
    assert "14 June 2027" in answer.answer
    citation = answer.citations[0]
    assert (citation.marker, citation.path, citation.heading) == ("[1]", "Atlas.md", "Timeline")
    assert citation.lines == (6, 7)
    assert citation.uri == "obsidian://open?vault=My%20vault&file=Atlas.md%23Timeline"
    assert answer.generation == 1
    assert answer.pending == 0
    assert {"semantic", "lexical", "connected", "answer", "total"} <= set(answer.timings_ms)


def test_connected_notes_are_apart_from_sources(opened: VaultHandle) -> None:
    answer = opened.ask("When is the launch of Atlas?", top_k=1, connected={"order": "rank"})
    linked = {note.path: note.linked_from for note in answer.connected_notes}
    assert set(linked) == {"people/Priya 1-1.md", "Plan.md"}
    assert {(place.path, place.line) for place in linked.values()} == {
        ("Atlas.md", 4),
        ("Atlas.md", 7),
    }
    shown = {source.path for source in answer.sources}
    assert shown.isdisjoint(note.path for note in answer.connected_notes)
    assert {citation.path for citation in answer.citations} <= shown


def test_what_the_vault_does_not_say(opened: VaultHandle) -> None:
    answer = opened.ask("What is the boiling point of ethanol?")
    assert (answer.mode, answer.citations) == ("none", [])
    assert answer.answer.startswith("I found nothing in your notes that answers this.")


def test_search_chunks_and_notes(opened: VaultHandle) -> None:
    chunks = opened.search("atlas launch", top_k=3)
    assert chunks.hits[0].path == "Atlas.md"
    assert [hit.marker for hit in chunks.hits] == ["[1]", "[2]", "[3]"]
    assert all(hit.signals is None for hit in chunks.hits)
    notes = opened.search("atlas launch", results="notes", top_k=10)
    paths = [hit.path for hit in notes.hits]
    assert len(paths) == len(set(paths)) > 1


def test_a_private_note_is_never_found(opened: VaultHandle) -> None:
    told = opened.search("Nobody reads this launch note", top_k=100)
    everything = json.dumps(told.model_dump())
    assert "Nobody reads" not in everything
    assert "Secret.md" not in {hit.path for hit in told.hits}


def test_an_alias_brings_its_note_first(opened: VaultHandle) -> None:
    assert opened.search("Project A").hits[0].path == "Atlas.md"


def test_explain(opened: VaultHandle) -> None:
    found = opened.search("atlas launch", explain=True)
    hit = found.hits[0]
    assert hit.signals is not None
    weights = {name: values["weight"] for name, values in hit.signals.items()}
    assert weights == {"semantic": 1.0, "lexical": 1.0}
    assert found.explanation is not None
    assert found.explanation.weights["recency"] == 0.0
    status = opened.search("status of Atlas", explain=True).explanation
    assert status is not None
    assert (status.intent, status.subject) == ("status", ["Atlas.md"])
    assert status.counts["fusion"]["subject"] == 1


def test_an_answer_is_explained_as_a_search_is(opened: VaultHandle) -> None:
    answer = opened.ask("What is the status of Atlas?", explain=True)
    assert answer.explanation is not None
    assert answer.explanation.about == "Atlas"
    assert answer.explanation.rule is not None
    assert all(source.signals for source in (*answer.sources, *answer.citations))


def test_the_intent_is_told_and_the_rest_only_on_request(opened: VaultHandle) -> None:
    answer = opened.ask("What is the status of Atlas?")
    assert answer.intent == "status"
    assert answer.explanation is None
    assert not any(source.signals for source in answer.sources)
    assert opened.search("atlas launch").intent == "none"


def test_an_intent_is_named_or_refused(opened: VaultHandle) -> None:
    question = "What is the status of Atlas?"
    assert opened.search(question, intent="none").intent == "none"
    assert opened.search("atlas", intent="discovery").intent == "discovery"
    named = opened.retriever(intent="status", connected={"max": 0}).retrieve("atlas")
    weights = [hit.node.metadata["signals"].get("subject", {}).get("weight") for hit in named]
    assert 50.0 in weights
    with pytest.raises(QueryError, match=r"intent: .*'timeline'"):
        opened.search(question, intent="mood")


def test_a_language_model_writes(indexed: tuple[Path, Path]) -> None:
    llm = ScriptedLLM(says="In June [1], as planned [C1], or not [9].")
    with open_vault(indexed[0], index_dir=indexed[1], llm=llm) as vault:
        answer = vault.ask("When is the launch of Atlas?", top_k=1, connected={"order": "rank"})
    assert answer.mode == "llm"
    assert answer.answer == "In June [1], as planned [C1], or not."
    assert [citation.marker for citation in answer.citations] == ["[1]"]
    assert answer.mentioned == ["C1"]
    assert "[9]" in answer.warnings[0]


def test_the_query_engine(opened: VaultHandle) -> None:
    engine = opened.query_engine(top_k=2)
    response = engine.query("When is the launch of Atlas?")
    assert "14 June 2027" in str(response)
    assert all(hit.node.metadata["role"] == "source" for hit in response.source_nodes)
    assert (response.metadata or {})["connected_notes"]
    assert str(asyncio.run(engine.aquery("When is the launch of Atlas?"))) == str(response)


def test_the_retriever(opened: VaultHandle) -> None:
    nodes = opened.retriever(top_k=1).retrieve("When is the launch of Atlas?")
    roles = [node.node.metadata["role"] for node in nodes]
    assert roles[0] == "source"
    assert set(roles[1:]) == {"connected"}
    alone = opened.retriever(top_k=2, connected={"max": 0}).retrieve("atlas launch")
    assert [node.node.metadata["role"] for node in alone] == ["source", "source"]


@pytest.mark.parametrize("text", ["", "  ", "x" * 100_000])
def test_queries_that_cannot_be_run(opened: VaultHandle, text: str) -> None:
    with pytest.raises(QueryError):
        opened.ask(text)
    with pytest.raises(QueryError):
        opened.search(text)
    with pytest.raises(QueryError):
        opened.query_engine().query(text)


def test_a_query_longer_than_the_window_is_said(opened: VaultHandle) -> None:
    told = opened.search("launch " * 400)
    assert any("longer than the 256 tokens" in warning for warning in told.warnings)


def test_a_query_without_words_is_said(opened: VaultHandle) -> None:
    assert any("no words to look for" in warning for warning in opened.search("?!").warnings)
    assert opened.search("launch?!").warnings == []


def test_changes_since_are_counted(indexed: tuple[Path, Path]) -> None:
    folder, index = indexed
    with open_vault(folder, index_dir=index) as vault:
        extra = folder / "New.md"
        extra.write_text("A new note.\n")
        try:
            assert vault.ask("atlas").pending == 1
        finally:
            extra.unlink()


def test_no_index(vault: Path, tmp_path: Path) -> None:
    with pytest.raises(IndexMissing, match="notehop index"):
        open_vault(vault, index_dir=tmp_path / "none")


def test_no_vault(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="no such folder"):
        open_vault(tmp_path / "none")


def test_other_settings_than_those_of_the_index(indexed: tuple[Path, Path]) -> None:
    folder, index = indexed
    settings = locate(folder, overrides={"chunking.max_tokens": 64}).settings
    with pytest.raises(IndexMismatch, match="--rebuild"):
        open_vault(folder, index_dir=index, settings=settings)


def test_an_empty_vault_loads_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v" / ".obsidian").mkdir(parents=True)
    place = locate(tmp_path / "v", index_dir=tmp_path / "ix")
    assert update_index(place).notes == 0

    def load(*_: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("notehop.app.container.machinery.load_query", load)
    with open_place(place) as vault:
        answer = vault.ask("anything?")
        found = vault.search("anything?")
        assert not vault.ready
    assert (answer.answer, answer.mode) == (
        "I found nothing in your notes that answers this.",
        "none",
    )
    assert any("holds no text" in warning for warning in answer.warnings)
    assert found.hits == []
    assert found.warnings == answer.warnings


def test_threads_may_share_a_vault_from_its_first_query_on(indexed: tuple[Path, Path]) -> None:
    with open_vault(indexed[0], index_dir=indexed[1]) as vault, ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: vault.ask("When is the launch of Atlas?"), range(24)))
    assert {answer.answer for answer in found} == {found[0].answer}
    assert "14 June 2027" in found[0].answer


def test_an_open_vault_follows_its_index(vault: Path, tmp_path: Path) -> None:
    place = real_index(vault, tmp_path / "ix")
    with open_place(place) as opened:
        assert opened.ask("When is the launch of Atlas?").generation == 1
        note = vault / "Atlas.md"
        note.write_text(note.read_text().replace("14 June 2027", "3 March 2028"))
        update_index(place)
        answer = opened.ask("When is the launch of Atlas?")
        assert answer.generation == 2
        assert "3 March 2028" in answer.answer


@pytest.mark.slow
def test_an_open_vault_follows_a_rebuild(vault: Path, tmp_path: Path) -> None:
    place = real_index(vault, tmp_path / "ix")
    with open_place(place) as opened:
        note = vault / "Atlas.md"
        note.write_text(note.read_text().replace("14 June 2027", "3 March 2028"))
        update_index(place, rebuild=True)
        assert "3 March 2028" in opened.ask("When is the launch of Atlas?").answer


def test_changes_that_were_indexed_are_pending_no_more(vault: Path, tmp_path: Path) -> None:
    place = real_index(vault, tmp_path / "ix")
    (vault / "New.md").write_text("A new note about tiles.\n")
    with open_place(place) as opened:
        assert opened.search("tiles").pending == 1
        update_index(place)
        assert opened.search("tiles").pending == 0
