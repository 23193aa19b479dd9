"""A running server is asked if it is the right one; in any other case the caller does the work."""

import json
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.app.api.fake_vault import FakeVault
from tests.support.product import (
    Announcement,
    Place,
    Query,
    SearchQuery,
    ask_server,
    create_app,
    identity,
    locate,
    read_running,
)
from tests.support.serving import serving
from tests.support.tables import rows


@pytest.fixture
def place(vault: Path, tmp_path: Path) -> Place:
    (tmp_path / "index").mkdir()
    return locate(vault, index_dir=tmp_path / "index")


@pytest.fixture
def start(place: Place) -> Iterator[Callable[..., FakeVault]]:
    """Starts a server that announces itself beside the index of a place."""
    with ExitStack() as held:

        def started(fails: Exception | None = None) -> FakeVault:
            vault = FakeVault(fails)
            announced = Announcement(place)
            port = held.enter_context(serving(create_app(vault)))
            held.enter_context(announced).tell(f"http://127.0.0.1:{port}")
            return vault

        yield started


@pytest.fixture
def announced(place: Place) -> Iterator[Announcement]:
    with Announcement(place) as found:
        yield found


Start = Callable[..., FakeVault]


def test_another_version(place: Place, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    start()
    monkeypatch.setattr("importlib.metadata.version", lambda _: "99")
    assert ask_server(place, Query(query="x")) is None


def test_the_server_of_another_vault_gets_no_question(place: Place, start: Start, tmp_path: Path) -> None:
    (tmp_path / "Other").mkdir()
    elsewhere = locate(tmp_path / "Other", index_dir=tmp_path / "other index")
    vault = start()
    rewrite(place, answers_for=identity(elsewhere))
    assert ask_server(place, Query(query="x")) is None
    assert vault.asked == []


def test_a_server_that_ended_without_a_word_gets_no_question(place: Place) -> None:
    """Another program may have its port by now, and another process its number."""
    vault = FakeVault()
    with serving(create_app(vault)) as port:
        with Announcement(place) as ended:
            ended.tell(f"http://127.0.0.1:{port}")
            left = place.layout.server.read_bytes()
        place.layout.server.touch(0o600)
        place.layout.server.write_bytes(left)
        assert ask_server(place, Query(query="x")) is None
    assert vault.asked == []


def test_of_two_servers_of_an_index_the_first_is_asked(place: Place, start: Start) -> None:
    first, second = start(), start()
    assert ask_server(place, SearchQuery(query="x")) is not None
    assert (len(first.asked), second.asked) == (1, [])


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
def test_whatever_else_listens_there(place: Place, announced: Announcement, says: bytes) -> None:
    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(10_000)
            connection.sendall(says)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        announced.tell(f"http://127.0.0.1:{listening.getsockname()[1]}")
        assert ask_server(place, Query(query="x"), patience=0.02) is None
        thread.join()


def test_a_server_that_takes_too_long(place: Place, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = start()
    enough = threading.Event()
    monkeypatch.setattr(vault, "search", lambda _: enough.wait(5))
    assert ask_server(place, SearchQuery(query="x"), seconds=0.02) is None
    enough.set()


URL = "http://127.0.0.1:8765"


def rewrite(place: Place, **changes: Any) -> None:
    says = json.loads(place.layout.server.read_text())
    place.layout.server.write_text(json.dumps({**says, **changes}))


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_only_its_user_can_read_it(place: Place, announced: Announcement) -> None:
    announced.tell(URL)
    assert stat.S_IMODE(place.layout.server.stat().st_mode) == 0o600
    place.layout.server.chmod(0o644)
    assert read_running(place.layout) is None


@pytest.mark.parametrize(("url", "reached"), rows(__file__, "every_address_is_reached_by_loopback"))
def test_every_address_is_reached_by_loopback(
    place: Place, announced: Announcement, url: str, reached: str
) -> None:
    announced.tell(url)
    found = read_running(place.layout)
    assert found is not None
    assert found.url == reached


@pytest.mark.parametrize("changes", rows(__file__, "a_file_that_names_no_server_of_ours"))
def test_a_file_that_names_no_server_of_ours(
    place: Place, announced: Announcement, changes: dict[str, Any]
) -> None:
    announced.tell(URL)
    rewrite(place, **changes)
    assert read_running(place.layout) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000])
def test_a_file_that_is_not_whole(place: Place, announced: Announcement, text: str) -> None:
    announced.tell(URL)
    place.layout.server.write_text(text)
    assert read_running(place.layout) is None


def test_a_setting_that_can_change_a_reply_is_another_server(place: Place) -> None:
    def of(**overrides: Any) -> str:
        dotted = {key.replace("__", "."): value for key, value in overrides.items()}
        return identity(locate(place.vault, index_dir=place.layout.root, overrides=dotted))

    assert of() == identity(place)
    assert of(server__port=1) == of(watch__rescan_s=5) == of(vault__path="/x") == of()
    others = [
        of(connected__max=1),
        of(retrieval__top_k=9),
        of(lexical__b=0.5),
        of(connected__max=2),
        of(vault__exclude=["x"]),
        of(embedding__query_prompt="q"),
    ]
    assert len({of(), *others}) == len(others) + 1


def test_an_error_that_nobody_foresaw_is_looked_for_here(place: Place, start: Start) -> None:
    start(RuntimeError("a bug"))
    assert ask_server(place, Query(query="x")) is None
