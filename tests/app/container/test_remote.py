"""A running server is asked if it is the right one; in any other case the caller does the work."""

from __future__ import annotations

import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.app.api.fake_vault import FakeVault
from tests.support.product import (
    Announcement,
    ConnectedOptions,
    IndexMissing,
    ModelError,
    NotehopError,
    Place,
    Query,
    QueryError,
    SearchQuery,
    ThemesQuery,
    ask_server,
    create_app,
    exit_code,
    locate,
    remote,
    search_server,
    themes_server,
)
from tests.support.serving import serving


@pytest.fixture
def place(vault: Path, tmp_path: Path) -> Place:
    (tmp_path / "index").mkdir()
    return locate(vault, index_dir=tmp_path / "index")


@pytest.fixture
def start(place: Place) -> Iterator[Callable[..., FakeVault]]:
    """Starts a server that announces itself beside the index of a place."""
    with ExitStack() as held:

        def started(fails: Exception | None = None, *, of: Place = place) -> FakeVault:
            vault = FakeVault(fails)
            announced = Announcement(of)
            port = held.enter_context(serving(create_app(vault, prove=announced.prove)))
            announced.tell(f"http://127.0.0.1:{port}")
            return vault

        yield started


Start = Callable[..., FakeVault]


def other(place: Place, **overrides: Any) -> Place:
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    return locate(place.vault, index_dir=place.layout.root, overrides=dotted)


def test_themes_are_asked_of_the_server(place: Place, start: Start) -> None:
    vault = start()
    asked = ThemesQuery(query="mud", max=3)
    found = themes_server(place, asked)
    assert found is not None
    assert found.generation == vault.generation
    assert vault.asked == [asked]


def test_no_server(place: Place) -> None:
    assert ask_server(place, Query(query="x")) is None


def test_the_query_reaches_the_server_as_it_is(place: Place, start: Start) -> None:
    vault = start()
    search = SearchQuery(
        query="Übung 🌊 \u2028",
        top_k=3,
        connected=ConnectedOptions(max=0, order="rank"),
        explain=True,
        results="notes",
    )
    found = search_server(place, search)
    answer = ask_server(place, Query(query="x"))
    assert found is not None
    assert answer is not None
    assert (found.generation, answer.answer) == (7, "x")
    assert vault.asked == [search, Query(query="x")]


def test_a_server_may_answer_many(place: Place, start: Start) -> None:
    start()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: ask_server(place, Query(query="x")), range(24)))
    assert all(answer is not None for answer in found)


@pytest.mark.parametrize(
    "error", [QueryError("too long"), IndexMissing("run: notehop index"), ModelError("broken")]
)
def test_its_error_is_ours(place: Place, start: Start, error: NotehopError) -> None:
    start(error)
    with pytest.raises(type(error), match=str(error)) as caught:
        ask_server(place, Query(query="x"))
    assert exit_code(caught.value) == exit_code(error)


def test_an_error_that_nobody_foresaw_is_looked_for_here(place: Place, start: Start) -> None:
    start(RuntimeError("a bug"))
    assert ask_server(place, Query(query="x")) is None


def test_other_settings(place: Place, start: Start) -> None:
    vault = start()
    assert ask_server(other(place, connected__max=1), Query(query="x")) is None
    assert ask_server(other(place, server__port=1), Query(query="x")) is not None
    assert len(vault.asked) == 1


def test_another_version(place: Place, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    monkeypatch.setattr(remote, "version", lambda: "99")
    assert ask_server(place, Query(query="x")) is None


def test_the_server_of_another_vault_gets_no_question(
    place: Place, start: Start, tmp_path: Path
) -> None:
    (tmp_path / "Other").mkdir()
    elsewhere = locate(tmp_path / "Other", index_dir=tmp_path / "other index")
    elsewhere.layout.root.mkdir()
    vault = start(of=elsewhere)
    elsewhere.layout.server.rename(place.layout.server)
    assert ask_server(place, Query(query="x")) is None
    assert vault.asked == []


def test_who_took_over_the_port_gets_no_question(place: Place, start: Start) -> None:
    vault = start()
    # Another server on that port would not know the token that the file has now.
    says = json.loads(place.layout.server.read_text())
    place.layout.server.write_text(json.dumps({**says, "token": "0" * 64}))
    assert ask_server(place, Query(query="x")) is None
    assert vault.asked == []


def test_a_server_without_proof_gets_no_question(place: Place) -> None:
    vault = FakeVault()
    with serving(create_app(vault)) as port:
        Announcement(place).tell(f"http://127.0.0.1:{port}")
        assert ask_server(place, Query(query="x")) is None
    assert vault.asked == []


@pytest.mark.parametrize(
    "says",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", id="another-protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nnull", id="other-json"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n<ht>", id="no-json"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{", id="cut-off"),
    ],
)
def test_whatever_else_listens_there(place: Place, says: bytes) -> None:
    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(10_000)
            connection.sendall(says)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        Announcement(place).tell(f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert ask_server(place, Query(query="x"), patience=0.02) is None
        thread.join()


def test_nobody_listens(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    Announcement(place).tell(f"http://127.0.0.1:{port}")
    with caplog.at_level(logging.DEBUG):
        assert ask_server(place, Query(query="x")) is None
    (record,) = caplog.records
    assert "is not asked" in record.getMessage()


def test_a_server_that_hangs(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        Announcement(place).tell(f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert ask_server(place, Query(query="x"), patience=0.02) is None


def test_a_server_that_takes_too_long(
    place: Place, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = start()
    enough = threading.Event()
    monkeypatch.setattr(vault, "search", lambda _: enough.wait(5))
    assert search_server(place, SearchQuery(query="x"), searched=0.02) is None
    enough.set()


@pytest.mark.parametrize("url", ["https://127.0.0.1:1", "file:///etc", "http://:1", "http://a:x"])
def test_a_url_that_is_none_of_ours(place: Place, url: str) -> None:
    Announcement(place).tell(url)
    assert ask_server(place, Query(query="x")) is None


def test_no_proxy_is_asked(place: Place, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://203.0.113.7:1")
    assert ask_server(place, Query(query="x")) is not None


def test_a_server_has_the_time_that_it_gives_itself(place: Place) -> None:
    settings = place.settings.with_overrides({"server.timeout_s": 300})
    assert remote._answered(Place(place.vault, settings, place.layout)) > 300
