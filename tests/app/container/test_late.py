"""A vault that is opened when it is needed, and says how far its first index is."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from notehop.app.container import locate
from notehop.app.container.first_index import FirstIndex
from notehop.app.container.late import LateVault
from notehop.config.errors import IndexMissing


@pytest.fixture
def late(tmp_path: Path) -> LateVault:
    (tmp_path / "vault").mkdir()
    return LateVault(locate(tmp_path / "vault", index_dir=tmp_path / "index"), "a test")


def first(late: LateVault, program: str) -> FirstIndex:
    made = FirstIndex(late.place, program=(sys.executable, "-c", program))
    late._first = made
    return made


def test_without_an_index_it_says_what_makes_one(late: LateVault) -> None:
    with pytest.raises(IndexMissing, match="notehop index"):
        late.open()
    assert not late.opened


def test_while_the_first_index_is_made_it_says_how_far_that_is(late: LateVault) -> None:
    said = (
        "import sys,time; print('embedding: 3 of 9', file=sys.stderr, flush=True); time.sleep(60)"
    )
    making = first(late, said)
    thread = threading.Thread(target=making.run)
    thread.start()
    while making.said == "just begun":
        thread.join(0.01)
    with pytest.raises(IndexMissing, match=r"\(embedding: 3 of 9\); ask again in a minute"):
        late.open()
    late.stop()
    thread.join(10)
    assert not making.running


def test_if_it_fails_the_reason_is_told(late: LateVault) -> None:
    first(late, "import sys; sys.exit('error: the disk is full')").run()
    with pytest.raises(IndexMissing, match="it failed here: the disk is full"):
        late.open()


def test_it_is_opened_once(late: LateVault) -> None:
    opened: list[Any] = []

    def open_place(place: object) -> Any:
        opened.append(place)
        return object()

    again = LateVault(late.place, "a test", open_place=open_place)
    assert not again.opened
    assert again.open() is again.open()
    assert opened == [late.place]
    assert again.opened
