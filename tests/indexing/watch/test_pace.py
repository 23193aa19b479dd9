"""When a follower runs, looks at everything and tidies up."""

from __future__ import annotations

from indexing.watch.pace import QUIET, SLEPT, Pace


class Clocks:
    def __init__(self) -> None:
        self.steady = 100.0
        self.wall = 1_000_000.0

    def pass_(self, steady: float, wall: float | None = None) -> None:
        self.steady += steady
        self.wall += steady if wall is None else wall

    def pace(self, rescan_s: float = 600) -> Pace:
        return Pace(rescan_s, lambda: self.steady, lambda: self.wall)


def test_a_wait_ends() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    assert pace.may_run()
    pace.wait(2)
    pace.wait(1)
    assert not pace.may_run()
    assert pace.until_run() == 2
    clocks.pass_(2)
    assert pace.may_run()


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
    pace.rescanned()
    assert not pace.rescan_due()


def test_a_vault_is_quiet_some_time_after_the_last_work() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    assert not pace.quiet()
    clocks.pass_(QUIET)
    assert pace.quiet()
    pace.worked()
    assert not pace.quiet()


def test_reports_are_asked_for_again_after_a_while() -> None:
    clocks = Clocks()
    pace = clocks.pace()
    assert pace.may_listen()
    pace.listen_later(2)
    assert not pace.may_listen()
    clocks.pass_(2)
    assert pace.may_listen()
