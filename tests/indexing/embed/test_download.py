"""A hub model is fetched only when the settings allow it, and used offline ever after."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.product import EmbeddingSettings

COMMIT = "b" * 40
NAME = "someone/tiny"


class Hub(ThreadingHTTPServer):
    """A hub of one model that speaks as much of the protocol as its client asks for."""

    daemon_threads = True
    folder: Path
    asked: int = 0
    said_larger: int = 0
    """Bytes that it says of each file more than there are."""


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path == "/asked":
            self._send(str(self.server.asked))
            return
        self.server.asked += 1
        files = sorted(p for p in self.server.folder.rglob("*") if p.is_file())
        names = [p.relative_to(self.server.folder).as_posix() for p in files]
        if path.startswith(f"/api/models/{NAME}/tree/"):
            self._send(
                json.dumps([{"type": "file", "path": n, "size": 1, "oid": "0"} for n in names])
            )
        elif path.startswith(f"/api/models/{NAME}"):
            siblings = [
                {"rfilename": name, "size": file.stat().st_size + self.server.said_larger}
                for name, file in zip(names, files, strict=True)
            ]
            self._send(json.dumps({"id": NAME, "sha": COMMIT, "siblings": siblings}))
        else:
            name = path.partition("/resolve/")[2].partition("/")[2]
            if path.startswith(f"/{NAME}/resolve/") and name in names:
                self._send((self.server.folder / name).read_bytes())
            else:
                self._send(b"", 404)

    def _send(self, content: bytes | str, status: int = 200) -> None:
        body = content.encode() if isinstance(content, str) else content
        self.send_response(status)
        if status == 404:
            self.send_header("X-Error-Code", "EntryNotFound")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


@pytest.fixture
def hub(make_model: Callable[..., Path]) -> Iterator[Hub]:
    """A running hub on the loopback."""
    server = Hub(("127.0.0.1", 0), Handler)
    server.folder = make_model(prompts={"query": "query: ", "passage": "passage: "})
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


PROGRAM = """
import json, sys, urllib.request
from notehop.config.errors import ModelError
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.bulk import load_bulk

said = json.loads(sys.argv[1])
for allowed in (False, True, False, True):
    try:
        bulk = load_bulk(EmbeddingSettings(**(said | {"allow_download": allowed})))
        found = [bulk.card.name, bulk.card.prompts.passage, list(bulk.embed(["plan"]).shape)]
    except ModelError as error:
        found = str(error)
    with urllib.request.urlopen(sys.argv[2] + "/asked") as reply:
        print(json.dumps([found, int(reply.read())]))
"""


def loads(
    hub: Hub, settings_for: Callable[..., EmbeddingSettings], tmp_path: Path
) -> list[list[object]]:
    """What became of each of the four tries, and how often the hub was asked until then."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
    address = f"http://127.0.0.1:{hub.server_port}"
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, settings_for(NAME).model_dump_json(), address],
        capture_output=True,
        text=True,
        env=kept
        | {
            "HF_ENDPOINT": address,
            "HF_HOME": str(tmp_path / "home"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
        },
        timeout=180,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_fetched_once_then_offline(
    hub: Hub, settings_for: Callable[..., EmbeddingSettings], tmp_path: Path
) -> None:
    refused, fetched, offline, allowed = loads(hub, settings_for, tmp_path)
    assert "embedding.allow_download = true" in str(refused[0])
    assert refused[1] == 0
    asked = fetched[1]
    assert isinstance(asked, int)
    assert asked > 0
    loaded = [[NAME, "passage: ", [1, 32]], asked]
    assert [fetched, offline, allowed] == [loaded] * 3


def test_files_that_are_not_what_the_hub_says_are_not_used(
    hub: Hub, settings_for: Callable[..., EmbeddingSettings], tmp_path: Path
) -> None:
    hub.said_larger = 1
    for found, _ in loads(hub, settings_for, tmp_path)[1::2]:
        assert "is not what" in str(found)
        assert "thrown away" in str(found)
