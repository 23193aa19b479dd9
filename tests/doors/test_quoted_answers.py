"""Answers without a language model, as people see them: what is quoted, what never is, and when
nothing is. Over a small vault of notes like those on which answers went wrong."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import options, printed
from tests.support.notes import notes_of
from tests.support.product import Answer, VaultHandle
from tests.support.real_index import opened_with, vault_of_rows
from tests.support.tables import rows

pytestmark = pytest.mark.model

NOTES = notes_of("quotes")


def said(answer: Answer) -> str:
    lines = [line.removeprefix("> ") for line in answer.answer.split("\n")[1:]]
    return " ".join(" ".join(line for line in lines if not line.startswith("— ")).split())


@pytest.mark.parametrize(
    ("question", "begins"), rows(__file__, "a_definition_is_the_first_sentence_that_defines")
)
def test_a_definition_is_the_first_sentence_that_defines(
    vault: VaultHandle, question: str, begins: str
) -> None:
    """Not a link list, an embed, a tag, a heading, the title of a callout or what a plugin replaces."""
    answer = vault.ask(question)
    assert said(answer).startswith(begins)
    for never in ("mind-map", "#philosophy", "Philosophy of mind", "- [[", "TABLE"):
        assert never not in said(answer)


def test_an_abbreviation_is_spelt_out_by_the_name_of_its_note(vault: VaultHandle) -> None:
    answer = vault.ask("What does BIID stand for?")
    assert answer.mode == "extractive"
    assert said(answer).startswith("Body integrity identity disorder: “People who have it")
    assert answer.citations[0].path == "Body integrity identity disorder.md"
    assert [claim.flag for claim in answer.claims if claim.flag] == []


def test_steps_come_with_the_sentence_above_them(vault: VaultHandle) -> None:
    told = said(vault.ask("How can I pair the label printer?"))
    for step in ("Hold the blue button", "Open the list of devices", "Choose Brother"):
        assert step in told
    assert "blinks red" not in told


def test_what_depends_is_quoted_with_what_it_depends_on(vault: VaultHandle) -> None:
    told = said(vault.ask("How long is the retention period?"))
    assert "Free plans keep versions for one month, paid plans for twelve months." in told


def test_a_sentence_that_leans_on_another_comes_with_it(vault: VaultHandle) -> None:
    told = said(vault.ask("How many hours a week does a team have for meetings about tooling?"))
    assert "a team has two hours" in told
    assert told.startswith("“A reader has an hour")


def test_a_no_that_answers_something_else_is_not_quoted(vault: VaultHandle) -> None:
    told = said(vault.ask("Can several people share a remote vault?"))
    assert "Yes. Invite them" in told
    assert "No." not in told


def test_a_list_is_quoted_with_its_items_and_their_names(vault: VaultHandle) -> None:
    told = said(vault.ask("Which plugins could I not work without?"))
    for name in ("Dataview", "Templater", "Excalidraw"):
        assert name in told
    assert "…" not in told


def test_steps_are_quoted_in_order(vault: VaultHandle) -> None:
    told = said(vault.ask("How do I insert a template?"))
    places = [told.index(step) for step in ("Open the note", "Press Ctrl", "Choose the template")]
    assert places == sorted(places)


def test_what_a_linked_note_says_is_quoted_as_a_source_of_its_own(vault: VaultHandle) -> None:
    """Connected notes are no citations: the one that answers becomes a source."""
    answer = vault.ask("At which level does the gate of the sluice shut?", top_k=1)
    assert "2.1 m" in said(answer)
    cited = next(one for one in answer.citations if one.path == "Float.md")
    assert cited.marker in answer.answer
    assert "2.1 m" in cited.quote
    assert cited in [type(cited)(**{**dict(cited), **dict(one)}) for one in answer.sources]
    assert "Float.md" not in [note.path for note in answer.connected_notes]


@pytest.mark.parametrize(
    ("question", "missing"), rows(__file__, "where_nothing_answers_that_is_said_and_which_words_no_note_has")
)
def test_where_nothing_answers_that_is_said_and_which_words_no_note_has(
    vault: VaultHandle, question: str, missing: list[str]
) -> None:
    answer = vault.ask(question)
    assert answer.mode == "none"
    assert answer.answer.startswith("I found nothing in your notes that answers this. No note has")
    for word in missing:
        assert f"“{word}”" in answer.answer
    assert answer.citations == []
    assert answer.connected_notes == []
    assert answer.sources
    near = next((one.title for one in answer.sources if not one.weak), None)
    assert (f"Nearest: {near}" if near else "No passage is near it.") in answer.answer
    assert str(answer).count("\n[") == min(3, sum(not one.weak for one in answer.sources))


def test_a_quote_says_where_it_stands_and_not_that_it_is_right(
    vault: VaultHandle, where: tuple[Path, Path]
) -> None:
    answer = vault.ask("What is panpsychism?")
    [citation] = answer.citations
    assert citation.support is None
    assert citation.quote.startswith("Panpsychism is the view")
    assert citation.quote_lines == (11, 11)
    assert {claim.support for claim in answer.claims} == {None}
    shown = printed("ask", "What is panpsychism?", *options(*where), "--json")
    assert json.loads(shown)["citations"][0]["support"] is None


@pytest.fixture(scope="module")
def glossary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    with opened_with(tmp_path_factory.mktemp("glossary"), notes_of("glossary")) as opened:
        yield opened


@pytest.mark.parametrize(("question", "begins"), rows(__file__, "it_is_spelt_out"))
def test_it_is_spelt_out(glossary: VaultHandle, question: str, begins: str) -> None:
    answer = glossary.ask(question)
    assert answer.mode == "extractive"
    assert " ".join(answer.answer.split("\n", 1)[1].split()).startswith(begins)


def test_a_note_that_only_uses_it_does_not_say_it(glossary: VaultHandle) -> None:
    answer = glossary.ask("What does GDPR stand for?")
    assert answer.mode == "none"
    assert "Privacy" in answer.answer


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultHandle]:
    with opened_with(tmp_path_factory.mktemp("manual"), notes_of("manual")) as opened:
        yield opened


@pytest.mark.parametrize(("question", "begins", "never"), rows(__file__, "of_a_manual"))
def test_of_a_manual(manual: VaultHandle, question: str, begins: str, never: str) -> None:
    answer = manual.ask(question)
    told = answer.answer
    told = told if begins.startswith("I ") else told.split("\n", 1)[1].strip()
    labels = {line.split(" > ")[-1] for line in told.split("\n") if line.startswith("— ")}
    assert {(one.heading or one.title).split(" > ")[-1] for one in answer.citations} <= {
        one.removeprefix("— ") for one in labels
    }
    assert told.startswith(begins)
    assert not never or never not in told
    # Of a block of code that is cut in two, the rest is code, too.
    hits = manual.search("keep_daily keep_weekly").hits
    hit = next(one for one in hits if "keep_weekly" in one.text)
    lines = notes_of("manual")["Copies.md"].split("\n")
    assert hit.text.split("\n")[:2] == ["```", lines[hit.lines[0] - 1]]


village = vault_of_rows(__file__, "village")


@pytest.mark.parametrize(("question", "begins", "says", "never"), rows(__file__, "of_a_village"))
def test_of_a_village(village: VaultHandle, question: str, begins: str, says: str, never: str) -> None:
    """Titles and lines together, times that are no dates, and the year that is asked for."""
    told = village.ask(question).answer
    assert told.startswith(begins)
    assert says in told
    assert not never or never not in told
