"""Items are taken from a source that may block; who wants no more is not held by it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextvars import ContextVar

import pytest

from notehop.app.answer.pulled import AHEAD, pulled

SOON = 20
"""Seconds after which something that should have happened is taken not to."""

WHERE: ContextVar[str] = ContextVar("where", default="nowhere")


def test_items_come_in_order_and_end() -> None:
    assert list(pulled(lambda _: (n for n in range(AHEAD * 2)), lambda: False)) == [
        *range(AHEAD * 2)
    ]


def test_what_the_source_raises_is_raised_after_what_it_gave() -> None:
    def source(_: object) -> Generator[int, None, None]:
        yield 1
        raise ValueError("no more")

    taken = pulled(source, lambda: False)
    assert next(taken) == 1
    with pytest.raises(ValueError, match="no more"):
        next(taken)


def test_the_source_keeps_the_context_of_who_asked() -> None:
    def source(_: object) -> Generator[str, None, None]:
        yield WHERE.get()

    WHERE.set("here")
    assert list(pulled(source, lambda: False)) == ["here"]


class Blocked:
    """A source that gives one item and then waits, as a model does that has stopped talking."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def __call__(self, unwanted: Callable[[], bool]) -> Generator[str, None, None]:
        try:
            yield "one"
            while not unwanted():
                self.ended.wait(0.001)
        finally:
            self.ended.set()


@pytest.mark.parametrize("how", ["closed", "cancelled"])
def test_a_source_that_waits_hears_that_nobody_does(how: str) -> None:
    source, left = Blocked(), threading.Event()
    taken = pulled(source, left.is_set)
    assert next(taken) == "one"
    if how == "closed":
        taken.close()
    else:
        left.set()
        assert list(taken) == []
    assert source.ended.wait(SOON)


def test_who_is_listened_to_is_told_so() -> None:
    def source(unwanted: Callable[[], bool]) -> Generator[bool, None, None]:
        yield unwanted()

    assert list(pulled(source, lambda: False)) == [False]


def test_a_source_waits_for_its_reader() -> None:
    given: list[int] = []

    def source(_: object) -> Generator[int, None, None]:
        for number in range(AHEAD * 3):
            given.append(number)
            yield number

    taken = pulled(source, lambda: False)
    next(taken)
    assert len(given) < AHEAD * 3
    assert len(list(taken)) == AHEAD * 3 - 1


def test_a_library_that_panics_does_not_leave_its_reader_waiting() -> None:
    class Panic(BaseException):
        pass

    def source(_: object) -> Generator[int, None, None]:
        yield 1
        raise Panic

    until = threading.Event()
    timer = threading.Timer(SOON, until.set)
    timer.start()
    try:
        with pytest.raises(Panic):
            list(pulled(source, until.is_set))
    finally:
        timer.cancel()
