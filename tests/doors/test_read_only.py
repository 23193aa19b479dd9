"""``notehop serve --read-only``: answers from an index that another process writes, and writes nothing."""

import hashlib
from pathlib import Path

import httpx
import pytest

from notehop import index_vault
from tests.support.commands import call, options
from tests.support.notes import write_notes
from tests.support.processes import notehop_serve, until
from tests.support.real_index import real_index

pytestmark = pytest.mark.model

NOTES = {
    "Tide.md": "# Tide\nThe tide at the jetty is highest at noon. See [[Bread]].\n",
    "Bread.md": "# Sourdough\nFeed the starter every morning, and bake the bread on Sunday.\n",
}
SQLITES_OWN = ("catalog.sqlite-shm", "catalog.sqlite-wal")
"""Files by which the readers and the writer of a database see each other."""

Marks = dict[str, tuple[int, int, str]]


@pytest.fixture
def where(tmp_path: Path) -> tuple[Path, Path]:
    vault = write_notes(tmp_path / "Notes", NOTES)
    real_index(vault, tmp_path / "index")
    return vault, tmp_path / "index"


def marks(*folders: Path) -> Marks:
    """Every file and folder below some: when it changed, its rights, and what is in it."""
    return {
        str(path): (
            path.stat().st_mtime_ns if path.is_file() else 0,
            path.stat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for folder in folders
        for path in (folder, *folder.rglob("*"))
        if path.name not in SQLITES_OWN
    }


def found(url: str, query: str) -> list[str]:
    reply = httpx.post(f"{url}/search", json={"query": query}, timeout=60)
    assert reply.status_code == 200, reply.text
    return [hit["path"] for hit in reply.json()["hits"]]


def test_it_writes_nothing(where: tuple[Path, Path], tmp_path: Path) -> None:
    # Whoever may write would close the folder to others.
    where[1].chmod(0o755)
    before = marks(*where)
    with notehop_serve(*where, "--read-only", watch=True, HOME=str(tmp_path)) as (url, _):
        until(lambda: httpx.get(f"{url}/health/ready").status_code == 200)
        assert found(url, "when is the tide high?")[0] == "Tide.md"
        for path in ("/status", "/notes/Tide", "/graph", "/suggest", "/vaults"):
            assert httpx.get(f"{url}{path}", timeout=30).status_code in (200, 404)
        answer = httpx.post(f"{url}/query", json={"query": "When is the tide high?"}, timeout=60)
        assert "noon" in answer.json()["answer"]
        refused = httpx.post(f"{url}/capture", json={"text": "An otter."})
        assert refused.status_code == 403
        assert refused.json()["type"] == "urn:notehop:problem:read-only"
        assert "this server only reads" in refused.json()["detail"]
        assert marks(*where) == before
    assert marks(*where) == before


def test_it_sees_what_another_process_writes(where: tuple[Path, Path], tmp_path: Path) -> None:
    with notehop_serve(*where, "--read-only", watch=True, HOME=str(tmp_path)) as (url, _):
        assert "Otter.md" not in found(url, "who sleeps below the jetty?")
        (where[0] / "Otter.md").write_text("# Otter\nAn otter sleeps below the jetty.\n", "utf-8")
        index_vault(where[0], index_dir=where[1])
        assert found(url, "who sleeps below the jetty?")[0] == "Otter.md"
        assert httpx.get(f"{url}/health").json()["generation"] == 2
        (where[0] / "Bread.md").unlink()
        index_vault(where[0], index_dir=where[1])
        assert "Bread.md" not in found(url, "bread on Sunday")


def test_it_makes_no_index(tmp_path: Path) -> None:
    vault = write_notes(tmp_path / "Notes", NOTES)
    told = call("serve", "--read-only", "--port", "0", *options(vault, tmp_path / "index"))
    assert told.exit_code == 1
    assert "run: notehop index" in told.stderr
    assert not (tmp_path / "index").exists()
