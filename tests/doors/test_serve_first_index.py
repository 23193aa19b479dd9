"""``notehop serve`` on a vault without an index: it answers from the start, and says how far it is."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.support.processes import environment, free_port, until
from tests.support.real_index import lend_query_model

pytestmark = [pytest.mark.model, pytest.mark.slow]

PATIENCE = 200.0


@contextmanager
def served(root: Path, *, notes: int) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server of a vault of so many notes, without an index, and its address."""
    (root / "vault" / ".obsidian").mkdir(parents=True)
    for number in range(notes):
        (root / "vault" / f"{number}.md").write_text(f"# Note {number}\nThe tide of day {number}.")
    lend_query_model(root / "vault", root / "index")
    port = free_port()
    command = ["-m", "notehop", "serve", "--port", str(port), "--json"]
    where = ["--vault", str(root / "vault"), "--index-dir", str(root / "index")]
    with subprocess.Popen(
        [sys.executable, *command, *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(HOME=str(root)),
    ) as process:
        try:
            yield process, f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def answered(url: str) -> httpx.Response:
    """The health of a server, as soon as it has one."""

    def reply() -> httpx.Response | None:
        with suppress(httpx.TransportError):
            return httpx.get(f"{url}/health", timeout=30)
        return None

    return until(reply, PATIENCE)


def test_it_answers_while_it_indexes_and_then_for_the_vault(tmp_path: Path) -> None:
    with served(tmp_path, notes=30) as (_, url):
        health = answered(url)
        assert health.status_code == 200
        assert (health.json()["live"], health.json()["ready"]) == (True, False)
        for reply in (
            httpx.post(f"{url}/search", json={"query": "tide"}),
            httpx.post(f"{url}/query", json={"query": "tide"}),
            httpx.get(f"{url}/status"),
        ):
            assert reply.status_code == 503
            assert int(reply.headers["Retry-After"]) > 0
            assert reply.json()["type"] == "urn:notehop:problem:indexing"
            assert "vault is being indexed for the first time (" in reply.json()["detail"]
        assert httpx.get(f"{url}/health/ready").status_code == 503
        # A browser's page of the web may not look in meanwhile either.
        assert httpx.get(f"{url}/status", headers={"Host": "evil.example"}).status_code == 421

        def found() -> str | None:
            # Nobody is cut off where one server gives the port to the other.
            reply = httpx.post(f"{url}/search", json={"query": "tide of day 7"}, timeout=60)
            assert reply.status_code in (200, 503)
            return reply.json()["hits"][0]["path"] if reply.status_code == 200 else None

        assert until(found, PATIENCE) == "7.md"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_can_be_stopped_meanwhile_and_takes_its_child_along(tmp_path: Path, how: int) -> None:
    with served(tmp_path, notes=300) as (process, url):
        answered(url)
        httpx.get(f"{url}/status", timeout=30)
        process.send_signal(how)
        assert process.wait(30) in (0, 130)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{url}/health")
