"""When a follower runs, looks at everything and tidies up."""

from __future__ import annotations

from notehop.indexing.watch.pace import QUIET, SLEPT, Pace, Retry


class Clocks:
    def __init__(self) -> None:
        self.steady = 100.0
        self.wall = 1_000_000.0

    def pass_(self, steady: float, wall: float | None = None) -> None:
        self.steady += steady
        self.wall += steady if wall is None else wall

    def pace(self, rescan_s: float = 600) -> Pace:
        return Pace(rescan_s, lambda: self.steady, lambda: self.wall)

    def retry(self) -> Retry:
        return Retry(lambda: self.steady)


def test_a_wait_doubles_up_to_a_limit_and_ends_with_success() -> None:
    clocks = Clocks()
    retry = clocks.retry()
    assert retry.left == 0
    waits = []
    for _ in range(4):
        retry.again(2, 10)
        waits.append(retry.left)
        clocks.pass_(retry.left)
        assert retry.left == 0
    assert waits == [2, 4, 8, 10]
    retry.over()
    retry.again(2, 10)
    assert retry.left == 2


def test_a_wait_of_another_kind_is_as_long_as_that_says() -> None:
    retry = Clocks().retry()
    for _ in range(6):
        retry.again(15)
    assert retry.left == 480
    retry.again(0.5, 0.5)
    assert retry.left == 0.5
    retry.again(15)
    assert retry.left == 15


def test_news_shorten_a_wait_to_the_first_one_from_the_last_try_on() -> None:
    clocks = Clocks()
    retry = clocks.retry()
    for _ in range(4):
        retry.again(15)
    assert retry.left == 120
    clocks.pass_(5)
    retry.hurry()
    assert retry.left == 10
    clocks.pass_(20)
    assert retry.left == 0


def test_a_night_asleep_is_seen_once_whichever_clock_stood_still() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    clocks.pass_(1)
    assert not pace.overslept()
    clocks.pass_(1, wall=8 * 3600)
    assert pace.overslept()
    assert not pace.overslept()
    clocks.pass_(SLEPT + 1)
    assert pace.overslept()


def test_a_clock_that_is_set_back_is_no_sleep() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    clocks.pass_(1, wall=-3600)
    assert not pace.overslept()


def test_the_whole_vault_is_due_now_and_then() -> None:
    clocks = Clocks()
    pace = clocks.pace(rescan_s=60)
    clocks.pass_(59)
    assert not pace.rescan_due()
    clocks.pass_(1)
    assert pace.rescan_due()
    pace.rescanned(1)
    assert not pace.rescan_due()
    pace.rescan_s = 10
    clocks.pass_(10)
    assert pace.rescan_due()


def test_lost_changes_are_looked_for_soon_but_not_all_the_time() -> None:
    clocks = Clocks()
    pace = clocks.pace(rescan_s=600)
    clocks.pass_(100)
    pace.lost()
    assert pace.rescan_due()
    pace.rescanned(0.5)
    pace.lost()
    clocks.pass_(9)
    assert not pace.rescan_due()
    clocks.pass_(1)
    assert pace.rescan_due()


def test_a_vault_is_quiet_some_time_after_the_last_work() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    assert not pace.quiet()
    clocks.pass_(QUIET)
    assert pace.quiet()
    pace.worked()
    assert not pace.quiet()
