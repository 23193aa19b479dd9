"""A conversation without a language model: what a follow-up is about, and where that is said."""

import itertools
import json
from pathlib import Path

import pytest

from tests.support.commands import call, options
from tests.support.product import DoneEvent, TokenEvent, VaultHandle
from tests.support.tables import rows

pytestmark = pytest.mark.model

FIRST = "What is Pell Sluice?"
TALKS = itertools.count()


@pytest.mark.parametrize(
    ("first", "follow_up", "subject", "holds"),
    rows(__file__, "a_follow_up_without_a_subject_is_about_the_last"),
)
def test_a_follow_up_without_a_subject_is_about_the_last(
    vault: VaultHandle, first: str, follow_up: str, subject: str, holds: str
) -> None:
    talk = f"a{next(TALKS)}"
    vault.ask(first, conversation_id=talk)
    answer = vault.ask(follow_up, conversation_id=talk)
    assert answer.conversation is not None
    assert answer.conversation.subject == subject
    assert answer.conversation.question == f"{follow_up.rstrip('?')} ({subject})?"
    assert answer.answer.startswith(f"Taken as a question about *{subject}*.\n\n")
    assert holds in " ".join(answer.answer.split())
    for claim in answer.claims:
        assert answer.answer[slice(*claim.span)] == claim.text


@pytest.mark.parametrize("follow_up", rows(__file__, "a_follow_up_with_its_own_subject_is_taken_as_it_is"))
def test_a_follow_up_with_its_own_subject_is_taken_as_it_is(vault: VaultHandle, follow_up: str) -> None:
    talk = f"b{next(TALKS)}"
    vault.ask(FIRST, conversation_id=talk)
    answer = vault.ask(follow_up, conversation_id=talk)
    assert answer.conversation is not None
    assert (answer.conversation.question, answer.conversation.subject) == (None, None)
    assert answer.answer == vault.ask(follow_up).answer
    assert answer.warnings == []


@pytest.mark.parametrize(("asked", "question", "holds"), rows(__file__, "a_talk_goes_on"))
def test_a_talk_goes_on(vault: VaultHandle, asked: list[str], question: str | None, holds: str) -> None:
    talk = f"e{next(TALKS)}"
    *_, answer = told = [vault.ask(one, conversation_id=talk) for one in asked]
    assert answer.conversation is not None
    assert answer.conversation.question == question
    assert holds in " ".join(answer.answer.split())
    # More never repeats a passage.
    more = [one for said, one in zip(asked, told, strict=True) if said in (asked[0], "more")]
    shown = [one.id for turn in more for one in turn.citations]
    assert len(shown) == len({*shown})


def test_a_stream_begins_with_it(vault: VaultHandle) -> None:
    list(vault.stream(FIRST, conversation_id="d"))
    events = list(vault.stream("and who makes it?", conversation_id="d"))
    text = "".join(event.text for event in events if isinstance(event, TokenEvent))
    assert text.startswith("Taken as a question about *Pell Sluice*.")
    assert isinstance(events[-1], DoneEvent)
    assert events[-1].answer.answer == text.strip()


def test_in_the_terminal(demo: tuple[Path, Path]) -> None:
    shown = call("chat", *options(*demo), input=f"{FIRST}\nand who makes it?\n/new\nand when?\n")
    assert shown.exit_code == 0
    second = shown.output.index("Taken as a question about *Pell Sluice*.")
    assert second < shown.output.index("Zeeland", second)
    assert "understood as" not in shown.output
    assert shown.output.count("Taken as a question") == 1


def test_a_subject_from_a_note_that_is_gone_is_forgotten(demo: tuple[Path, Path], vault: VaultHandle) -> None:
    asked = vault.ask("how does the gate that needs no electricity work?", conversation_id="f")
    note = demo[0] / asked.citations[0].path
    # With its time, for the vault is that of others.
    aside = note.rename(demo[0].parent / note.name)
    try:
        later = vault.ask("and who makes it?", conversation_id="f")
    finally:
        aside.rename(note)
    assert json.dumps(later.model_dump()).count(asked.citations[0].title) == 0
