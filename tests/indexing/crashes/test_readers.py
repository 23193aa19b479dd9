"""Readers that go on while writers are killed see whole generations, one after the other."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from tests.indexing.crashes.forks import Forks
from tests.indexing.crashes.homes import EDITS, FIRST, Home, write
from tests.support.product import Reader

ROUNDS = 6


def test_a_generation_is_one_content_whoever_reads_it(forks: Forks, folder: Path) -> None:
    home = Home(folder)
    write(home.vault, FIRST)
    forks.index(home.path)
    seen: list[list[tuple[int, dict[str, Any]]]] = [[], []]
    failed: list[BaseException] = []
    enough = threading.Event()

    def look(told: list[tuple[int, dict[str, Any]]]) -> None:
        try:
            with Reader.open(home.layout) as reader:
                while not enough.is_set():
                    with reader.snapshot() as view:
                        chunks = {
                            path: [one.text for one in view.chunks_of(path)]
                            for path in view.paths()
                        }
                        told.append((view.generation, chunks))
        except BaseException as exc:  # noqa: BLE001 (told below)
            failed.append(exc)

    threads = [threading.Thread(target=look, args=(told,)) for told in seen]
    for thread in threads:
        thread.start()
    killed = 0
    try:
        for number in range(ROUNDS):
            write(home.vault, EDITS if number % 2 == 0 else FIRST)
            log = home.path / f"points-{number}"
            at = 3 + 4 * number
            killed += forks.run("index", home=str(home.path), log=str(log), kill_at=at).killed
            forks.index(home.path)
    finally:
        enough.set()
        for thread in threads:
            thread.join()
    assert failed == []
    assert killed >= ROUNDS - 1
    first: dict[int, dict[str, Any]] = {}
    for told in seen:
        generations = [generation for generation, _ in told]
        assert generations == sorted(generations)
        assert len(set(generations)) > 2
        for generation, chunks in told:
            assert first.setdefault(generation, chunks) == chunks
