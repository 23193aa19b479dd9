"""A vault whose vectors a Chroma server holds: the same answers, its status, and the token it is sent."""

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from notehop import open_vault
from tests.support import product
from tests.support.chroma_run import ChromaRun
from tests.support.commands import call, options
from tests.support.notes import NOTES, built, indexer
from tests.support.tables import read_yaml

QUESTIONS = [entry["question"] for entry in read_yaml(product.demo_questions())]
FILTERED = ["folder:Projects tide", "tag:project gate", '"high water" shuts']


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaRun]:
    running = ChromaRun(tmp_path_factory.mktemp("chroma"))
    yield running
    running.kill()


@pytest.mark.services
@pytest.mark.model
@pytest.mark.timeout(600)
@pytest.mark.slow
def test_the_same_questions_get_the_same_sources(
    demo: tuple[Path, Path], chroma: ChromaRun, tmp_path: Path
) -> None:
    index = shutil.copytree(demo[1], tmp_path / "index")
    asked = {"vectors.engine": "chroma", "chroma.url": chroma.url}
    place = product.locate(demo[0], index_dir=index, overrides=asked)
    assert product.update_index(place).warnings == ()
    settings = product.load_settings(vault=demo[0], overrides=asked)

    def told(vault: product.VaultHandle, question: str) -> tuple[Any, Any, Any]:
        found, answer = vault.search(question), vault.ask(question)
        hits = [(hit.id, hit.score, hit.relevance) for hit in found.hits]
        return hits, found.warnings, (answer.answer, answer.sources, answer.connected_notes)

    with (
        open_vault(demo[0], index_dir=demo[1]) as memory,
        open_vault(demo[0], index_dir=index, settings=settings) as served,
    ):
        for question in [*QUESTIONS, *FILTERED]:
            assert told(served, question) == told(memory, question), question
        status = ("status", *options(demo[0], index))
        environment = {"NOTEHOP_VECTORS__ENGINE": "chroma", "NOTEHOP_CHROMA__URL": chroma.url}
        shown = call(*status, env=environment).stdout
        assert f"at {chroma.url}, generation " in shown
        assert "100.0 % of the nearest passages are among its candidates" in shown
        chroma.kill()
        shown = call(*status, env=environment).stdout
        assert "takes no connection" in " ".join(shown.split())
        found, same = served.search(QUESTIONS[0]), memory.search(QUESTIONS[0])
        assert [hit.id for hit in found.hits] == [hit.id for hit in same.hits]
        [warning] = found.warnings
        assert "Every vector was compared here instead" in warning


TOKEN = "swordfish-0123456789"


class Refusing(BaseHTTPRequestHandler):
    """A proxy that lets nobody in, and repeats what it was sent."""

    heard: list[tuple[str | None, str | None]]

    def do_GET(self) -> None:
        token, bearer = self.headers["x-chroma-token"], self.headers["authorization"]
        type(self).heard.append((token, bearer))
        said = json.dumps({"error": "Unauthorized", "message": f"not {token}"}).encode()
        self.send_response(400 if token == TOKEN else 401)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_token_is_sent_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Refusing.heard = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        place = built(tmp_path, NOTES)
        asked = {"vectors.engine": "chroma", "chroma.url": url}
        for token, said in ((None, "set NOTEHOP_CHROMA__TOKEN"), (TOKEN, "not (not shown)")):
            if token is not None:
                monkeypatch.setenv("NOTEHOP_CHROMA__TOKEN", token)
            now = product.locate(place.vault, index_dir=place.layout.root, overrides=asked)
            [warning] = indexer(now).run().warnings
            assert said in warning
            told = product.index_status(now)
            assert told.vector_server is not None
            assert said in str(told.vector_server.problem)
            assert TOKEN not in str(told.model_dump()) + warning
        assert Refusing.heard[0] == (None, None)
        assert Refusing.heard[-1] == (TOKEN, f"Bearer {TOKEN}")
        files = [file for file in place.layout.root.rglob("*") if file.is_file()]
        assert not any(TOKEN.encode() in file.read_bytes() for file in files)
    finally:
        server.shutdown()
        server.server_close()
