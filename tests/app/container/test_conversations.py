"""Conversations are remembered in memory, few of them and not for long."""

from __future__ import annotations

from notehop.app.answer.conversation import Turn
from notehop.app.container.conversations import Conversations
from notehop.config.settings import ConversationSettings


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def remembers(clock: Clock | None = None, **changed: float) -> Conversations:
    given = {"max": 3, "turns": 2, "max_tokens": 100, "keep_minutes": 10, **changed}
    return Conversations(ConversationSettings(**given), clock or Clock())


def questions(talks: Conversations, name: str) -> list[str]:
    return [turn.question for turn in talks.turns(name)]


def test_an_unknown_one_is_empty() -> None:
    assert remembers().turns("a") == ()


def test_turns_are_kept_apart_and_in_order() -> None:
    talks = remembers()
    talks.add("a", Turn("1", "x"))
    talks.add("b", Turn("2", "x"))
    talks.add("a", Turn("3", "x"))
    assert questions(talks, "a") == ["1", "3"]
    assert questions(talks, "b") == ["2"]


def test_the_oldest_turn_goes() -> None:
    talks = remembers()
    for number in "123":
        talks.add("a", Turn(number, "x"))
    assert questions(talks, "a") == ["2", "3"]


def test_the_conversation_left_first_goes() -> None:
    talks = remembers()
    for name in "abcad":
        talks.add(name, Turn(name, "x"))
    assert questions(talks, "b") == []
    assert questions(talks, "a") == ["a", "a"]


def test_what_nobody_goes_on_with_is_forgotten() -> None:
    clock = Clock()
    talks = remembers(clock)
    talks.add("a", Turn("1", "x"))
    clock.now = 599
    talks.add("b", Turn("2", "x"))
    assert questions(talks, "a") == ["1"]
    clock.now = 601
    assert questions(talks, "a") == []
    assert questions(talks, "b") == ["2"]


def test_one_can_be_forgotten() -> None:
    talks = remembers()
    talks.add("a", Turn("1", "x"))
    assert talks.forget("a")
    assert not talks.forget("a")
    assert talks.turns("a") == ()
