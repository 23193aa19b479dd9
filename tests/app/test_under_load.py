"""Twenty clients ask a real server while its vault changes; the long form is in ``tests/soak``."""

import time
from pathlib import Path
from urllib.error import HTTPError

import pytest

from tests.soak.changing import Notes, code
from tests.soak.load import Clients, get
from tests.support.processes import notehop_serve, until
from tests.support.real_index import lend_query_model


def is_up_to_date(url: str) -> bool:
    try:
        status = get(url, "/status")
    except HTTPError:
        return False  # its first index is being made
    pending, watcher = status["pending"], status["watcher"]
    waits = pending is None or any(pending.values())
    return bool(not waits and watcher and watcher["state"] == "following")


@pytest.mark.slow
@pytest.mark.model
def test_sixty_changes_under_load(tmp_path: Path) -> None:
    vault, index = tmp_path / "vault", tmp_path / "index"
    lend_query_model(vault, index)
    notes = Notes(vault, 60, seed=0)
    with notehop_serve(vault, index, watch=True) as (url, _):
        until(lambda: is_up_to_date(url))
        with Clients(url, notes, 20) as during:
            for _ in range(60):
                notes.change()
                time.sleep(notes.chance.uniform(0, 0.04))
            time.sleep(1)
        with Clients(url, notes, 20) as after:
            time.sleep(1)
        until(lambda: is_up_to_date(url))
        for clients in (during, after):
            assert clients.tally.wrong == []
            assert clients.tally.shown > 0
        # Each changed note is found by the word of its last version, no deleted one by any.
        for number in sorted(notes.changed & notes.paths.keys()):
            word = code(number, notes.versions[number])
            hits = get(url, "/search", {"query": word})["hits"]
            found = [hit["path"] for hit in hits if word in hit["text"]]
            assert found == [notes.paths[number]], word
        for number in sorted(notes.deleted):
            word = code(number, notes.versions[number])
            told = get(url, "/search", {"query": word})
            assert not any(word in hit["text"] for hit in told["hits"])
            assert told["warnings"] == []
