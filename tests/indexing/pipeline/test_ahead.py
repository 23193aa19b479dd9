"""Embedding ahead: what is embedded where and when, and what happens when it fails."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from notehop.config.errors import ModelError
from notehop.indexing.embed.embedder import OnBatch, Vectors
from notehop.indexing.pipeline.ahead import EmbedAhead
from notehop.indexing.pipeline.doors import SMALL_CHANGE
from notehop.indexing.pipeline.meter import Meter
from tests.indexing.pipeline.readable_model import ReadableModel

MANY = SMALL_CHANGE // 10
"""Texts of ten letters that are more than a small change together with one more."""


class Shown:
    """Progress that adds up."""

    def __init__(self) -> None:
        self.notes = 0

    def stage(self, name: str, total: int, unit: str) -> None: ...

    def advance(self, count: int) -> None:
        assert count > 0
        self.notes += count

    def message(self, text: str) -> None: ...

    def close(self) -> None: ...


class Model(ReadableModel):
    """Tells which thread it was called in; waits in others than the main one until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[bool, int]] = []
        self.may_go_on = threading.Event()
        self.fails = False

    def embed(self, texts: Sequence[str], on_batch: OnBatch | None = None) -> Vectors:
        aside = threading.current_thread() is not threading.main_thread()
        self.calls.append((aside, len(texts)))
        if aside:
            assert self.may_go_on.wait(20)
        if self.fails:
            raise ModelError("it failed")
        self.asked += texts
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for at, text in enumerate(texts):
            rows[at, hash(text) % self.dimensions] = 1
            if on_batch is not None:
                on_batch(at + 1)
        return rows


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def shown() -> Shown:
    return Shown()


@pytest.fixture
def meter(model: Model, shown: Shown) -> Meter:
    meter = Meter(shown)
    meter.watch(model)
    return meter


def many(name: str) -> list[str]:
    return [f"{name}{number:09d}" for number in range(MANY + 1)]


def test_few_texts_are_embedded_at_once_by_the_caller(model: Model, meter: Meter) -> None:
    with EmbedAhead(meter) as ahead:
        for name in "abc":
            ahead.want([name], 1)
        found = ahead.take(["c", "a"])
    assert model.calls == [(False, 1)] * 3
    assert found.argmax(axis=1).tolist() == [hash(t) % model.dimensions for t in "ca"]


def test_many_texts_are_embedded_aside_once_the_model_is_open(
    model: Model, meter: Meter, shown: Shown
) -> None:
    first, second = many("a"), many("b")
    with EmbedAhead(meter) as ahead:
        ahead.want(first, 10)
        ahead.want(second, 10)
        assert model.calls[0] == (False, len(first))
        # The second is not done, and the first can be had.
        assert len(ahead.take(first)) == len(first)
        assert shown.notes == 10
        model.may_go_on.set()
        rows = ahead.take(second[:3])
    assert model.calls[1:] == [(True, len(second))]
    assert rows.argmax(axis=1).tolist() == [hash(t) % model.dimensions for t in second[:3]]
    assert shown.notes == 20
    assert meter.texts == 2 * len(first)


def test_a_text_that_is_wanted_twice_is_embedded_once(model: Model, meter: Meter) -> None:
    with EmbedAhead(meter) as ahead:
        ahead.want(["a", "b", "a"], 1)
        ahead.want(["b", "c"], 1)
        ahead.take(["a", "b", "c"])
    assert model.asked == ["a", "b", "c"]


def test_a_text_that_nobody_wanted_is_embedded_when_it_is_taken(model: Model, meter: Meter) -> None:
    with EmbedAhead(meter) as ahead:
        ahead.want(["a"], 1)
        assert len(ahead.take(["a", "b"])) == 2
        # What was taken is forgotten: the index knows it by then.
        ahead.take(["a"])
    assert model.asked == ["a", "b", "a"]


def test_a_model_that_fails_aside_fails_who_takes(model: Model, meter: Meter) -> None:
    with EmbedAhead(meter) as ahead:
        ahead.want(many("a"), 1)
        model.fails = True
        model.may_go_on.set()
        ahead.want(many("b"), 1)
        with pytest.raises(ModelError, match="it failed"):
            ahead.take(["b000000000"])


def test_a_run_that_fails_waits_for_one_pass_only(model: Model, meter: Meter) -> None:
    def run() -> None:
        with EmbedAhead(meter) as ahead:
            ahead.want(many("a"), 1)
            ahead.want(many("b"), 1)
            ahead.want(many("c"), 1)
            # The pass that is under way ends only after the run has failed.
            threading.Timer(0.05, model.may_go_on.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()
    assert model.calls == [(False, MANY + 1), (True, MANY + 1)]
    assert meter.texts == MANY + 1, "the second ended at its first pass"


def test_the_meter_shows_no_note_twice(meter: Meter, shown: Shown) -> None:
    meter.embed(["a", "b"], 4)
    assert shown.notes == 4
    meter.reached(3)
    assert shown.notes == 4
    meter.reached(6)
    assert shown.notes == 6


def test_the_meter_counts_the_texts_that_this_run_cut(shown: Shown) -> None:
    model = Model()
    model.cut = 5
    meter = Meter(shown)
    assert meter.warnings() == []
    meter.watch(model)
    assert meter.warnings() == []
    model.cut = 7
    assert meter.warnings() == [
        "2 texts were longer than the model's window; their ends have no vector"
    ]
