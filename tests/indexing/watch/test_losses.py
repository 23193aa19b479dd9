"""Deletions that come one after the other count together."""

from __future__ import annotations

from notehop.indexing.watch.losses import WINDOW, Losses


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_losses_add_up_and_what_came_makes_up_for_them() -> None:
    losses = Losses(Clock())
    losses.add(20, 0)
    losses.add(20, 5)
    assert losses.count() == 35
    # The rest of a move whose first half was taken for a deletion.
    losses.add(0, 35)
    assert losses.count() == 0


def test_notes_that_came_before_make_no_room() -> None:
    losses = Losses(Clock())
    losses.add(0, 30)
    assert losses.count() == 0
    losses.add(40, 0)
    assert losses.count() == 40


def test_a_loss_is_forgotten_after_a_while() -> None:
    clock = Clock()
    losses = Losses(clock)
    losses.add(20, 0)
    clock.now = WINDOW - 1
    losses.add(20, 0)
    assert losses.count() == 40
    clock.now = WINDOW + 1
    assert losses.count() == 20


def test_while_a_deletion_is_held_nothing_is_forgotten_and_then_everything() -> None:
    clock = Clock()
    losses = Losses(clock)
    losses.add(20, 0)
    losses.hold()
    clock.now = 10 * WINDOW
    assert losses.count() == 20
    losses.add(0, 0)
    assert losses.count() == 0
