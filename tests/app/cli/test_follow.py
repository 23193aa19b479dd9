"""The commands that follow a vault, as processes over real files with the real model."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.processes import environment, notehop_serve, until
from tests.support.product import Catalog, IndexLayout, read_watch_state
from tests.support.real_index import lend_query_model

pytestmark = [pytest.mark.model, pytest.mark.slow]

LONG = 90.0


def test_a_server_builds_follows_and_takes_its_follower_with_it(tmp_path: Path) -> None:
    vault, layout = tmp_path / "vault", IndexLayout(tmp_path / "index")
    vault.mkdir()
    (vault / "tides.md").write_text("# Tides\nThe divers wait for the neap tide.")
    lend_query_model(vault, layout.root)
    (vault / "walls.md").write_text("# Walls\nStones for the harbour wall. See [[tides]].")
    with notehop_serve(vault, layout.root, watch=True, ends=signal.SIGKILL) as (url, _):
        until(lambda: (s := read_watch_state(layout)) and s.state == "following")
        (vault / "tides.md").write_text("# Tides\nThe surveyors wait for the spring tide.")
        (vault / "boats.md").write_text("# Boats\nThe ferry sails at nine.")
        until(lambda: _knows(layout, "boats.md", "nine"))
        until(lambda: _knows(layout, "tides.md", "surveyors"))
        found = httpx.post(f"{url}/search", json={"query": "who waits for the tide?"}, timeout=30)
        hits = found.json()["hits"]
        assert "surveyors" in hits[0]["text"]
        assert not any("divers" in hit["text"] for hit in hits)
        state = read_watch_state(layout)
        assert state.command == "notehop serve"
    # Killed, it cannot say goodbye: the follower ends all the same.
    until(lambda: not psutil.pid_exists(state.pid))


def test_indexing_that_goes_on(tmp_path: Path) -> None:
    """``index --watch``: the report, then a line for each change on stderr, until it is told to stop."""
    vault, layout = tmp_path / "vault", IndexLayout(tmp_path / "index")
    vault.mkdir()
    # Enough of a language: once it is known, what the index knows is not cut anew.
    (vault / "a.md").write_text("The divers wait for the neap tide, and then they go to the wall.")
    lend_query_model(vault, layout.root)
    command = [sys.executable, "-m", "notehop", "index", str(vault), "--watch", "--json"]
    with subprocess.Popen(
        [*command, "--index-dir", str(layout.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        try:
            until(lambda: (s := read_watch_state(layout)) and s.state == "following")
            (vault / "b.md").write_text("Another sentence.")
            until(lambda: _knows(layout, "b.md", "Another"))
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=LONG)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert json.loads(out)["added"] == 1
    assert " 1 added: 2 notes" in err
    assert "Traceback" not in err


def _knows(layout: IndexLayout, path: str, word: str) -> bool:
    with Catalog.open(layout.catalog, read_only=True) as catalog:
        return any(word in chunk.text for chunk in catalog.chunks_of(path))
