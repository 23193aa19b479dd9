"""A hub of models on the loopback, for whatever fetches one."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

COMMIT = "c" * 40
NAME = "someone/tiny"
FILES = {
    "config.json": b'{"hidden_size": 8}',
    "modules.json": b"[]",
    "model.safetensors": bytes(range(256)) * 40,
    "pytorch_model.bin": b"the same weights again",
    "onnx/model.onnx": b"another backend",
    "1_Pooling/config.json": b"{}",
    "README.md": b"---\nlanguage: [en, de]\nlicense: mit\n---\n",
    "modeling.py": b"print('code')",
    "tf_model.h5": b"another backend",
}
NEEDED = ["1_Pooling/config.json", "README.md", "config.json", "model.safetensors", "modules.json"]


class Hub(ThreadingHTTPServer):
    """A hub of one model that speaks as much of the protocol as its client asks for.

    ``lies`` are contents that it sends in place of those that it lists; ``refuses`` are files that
    it answers with 403; ``fetched`` are those that were asked for; ``stumbles`` is how many of the next
    listings of its files fail.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lies: dict[str, bytes] = {}
        self.refuses: set[str] = set()
        self.fetched: list[str] = []
        self.stumbles = 0
        self.files = dict(FILES)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        hub = self.server
        if path.startswith(f"/api/models/{NAME}/tree/{COMMIT}"):
            if hub.stumbles:
                hub.stumbles -= 1
                self._send(b"", 501)  # 500 to 504 but this are asked again by the client
                return
            self._send(json.dumps([_entry(*one) for one in hub.files.items()]).encode())
            return
        if path.startswith(f"/api/models/{NAME}"):
            siblings = [_listed(name, data) for name, data in hub.files.items()]
            card = {"license": "mit", "language": ["en", "de"]}
            about = {"id": NAME, "sha": COMMIT, "siblings": siblings, "cardData": card}
            self._send(json.dumps(about).encode())
            return
        name = path.partition("/resolve/")[2].partition("/")[2]
        if not path.startswith(f"/{NAME}/resolve/{COMMIT}/") or name not in hub.files:
            self._send(b"", 404)
        elif name in hub.refuses:
            self._send(b"", 403)
        else:
            if self.command == "GET":
                hub.fetched.append(name)
            self._send(hub.lies.get(name, hub.files[name]))

    def _send(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        if status == 404:
            code = "EntryNotFound" if "/resolve/" in self.path else "RepoNotFound"
            self.send_header("X-Error-Code", code)
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def _listed(name: str, data: bytes) -> dict[str, object]:
    git = hashlib.sha1(f"blob {len(data)}\0".encode() + data, usedforsecurity=False)
    told: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": git.hexdigest()}
    if name.endswith((".safetensors", ".bin")):
        sha256 = hashlib.sha256(data).hexdigest()
        told["lfs"] = {"size": len(data), "sha256": sha256, "pointerSize": 1}
    return told


def _entry(name: str, data: bytes) -> dict[str, object]:
    """A file in the tree of a commit, whose names for its hashes are others."""
    told = _listed(name, data)
    entry = {"type": "file", "path": name, "size": len(data), "oid": told["blobId"]}
    if "lfs" in told:
        sha256 = hashlib.sha256(data).hexdigest()
        entry["lfs"] = {"size": len(data), "oid": sha256, "pointerSize": 1}
    return entry


@contextmanager
def running_hub() -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def name_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the library ask this hub: what it takes from HF_ENDPOINT when it is imported."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
