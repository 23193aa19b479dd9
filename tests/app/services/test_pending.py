"""Changes since the index was made are counted beside the queries, not in their way."""

from __future__ import annotations

import threading

from tests.support.product import FRESH, PendingCount, VaultError


class Clock:
    """Stands still until it is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_count_is_kept_for_a_while() -> None:
    clock, counts = Clock(), iter([3, 4])
    count = PendingCount(lambda: next(counts), clock)
    count.begin()
    assert count.value() == 3
    clock.now += FRESH - 0.1
    count.begin()
    assert count.value() == 3
    clock.now += 0.2
    count.begin()
    assert count.value() == 4


def test_a_count_under_way_is_dropped_when_the_index_moves() -> None:
    generation, go, ended = [1], threading.Event(), threading.Event()

    def tally() -> int:
        if generation[0] == 1:
            go.wait(10)
            ended.set()
            return 3
        return 0

    count = PendingCount(tally, Clock(), lambda: generation[0])
    count.begin()
    [old] = [one for one in threading.enumerate() if one.name == "notehop-scan"]
    generation[0] = 2
    assert count.value() == 0
    go.set()
    old.join(10)
    assert ended.is_set()
    assert count.value() == 0


def test_a_slow_count_holds_nobody_up() -> None:
    go = threading.Event()

    def slow() -> int:
        go.wait(10)
        return 7

    count = PendingCount(slow, wait=0.01)
    count.begin()
    count.begin()
    assert count.value() is None
    [counting] = [one for one in threading.enumerate() if one.name == "notehop-scan"]
    go.set()
    counting.join(10)
    assert count.value() == 7


def test_a_vault_that_cannot_be_listed_is_no_failure() -> None:
    def fail() -> int:
        raise VaultError("gone")

    count = PendingCount(fail)
    count.begin()
    assert count.value() is None
