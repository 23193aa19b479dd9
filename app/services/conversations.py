"""Remembers the last turns of some conversations, in memory alone and not for long."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from notehop.app.answer.conversation import Turn
from notehop.config.settings import ConversationSettings


@dataclass(slots=True)
class _Talk:
    turns: tuple[Turn, ...]
    count: int
    used: float


class Conversations:
    """Turns by the id of their conversation. Threads may share it.

    An id that is not known, or no more, begins a conversation. Kept are those that were used last,
    and of each its last turns.
    """

    def __init__(
        self, settings: ConversationSettings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """:param clock: gives seconds."""
        self._settings = settings
        self._clock = clock
        self._talks: OrderedDict[str, _Talk] = OrderedDict()
        self._busy = threading.Lock()

    def turns(self, name: str) -> tuple[Turn, ...]:
        """The turns of a conversation, oldest first; none if it is not known."""
        with self._busy:
            self._forget()
            talk = self._talks.get(name)
            return () if talk is None else talk.turns

    def add(self, name: str, turn: Turn) -> int:
        """Remember a turn, and for it forget what is too much or too old.

        :returns: its number, from 1, in the order in which turns came.
        """
        with self._busy:
            self._forget()
            before = self._talks.pop(name, None)
            turns = (*(before.turns if before else ()), turn)[-self._settings.turns :]
            count = 1 + (before.count if before else 0)
            self._talks[name] = _Talk(turns, count, self._clock())
            while len(self._talks) > self._settings.max:
                self._talks.popitem(last=False)
            return count

    def forget(self, name: str) -> bool:
        """Forget a conversation; False if it is not known."""
        with self._busy:
            return self._talks.pop(name, None) is not None

    def _forget(self) -> None:
        """Forget those that nobody went on with: the first are the oldest."""
        oldest = self._clock() - self._settings.keep_minutes * 60
        while self._talks and next(iter(self._talks.values())).used < oldest:
            self._talks.popitem(last=False)
