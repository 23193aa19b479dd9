"""The server as a whole: who needs a token, a port that is taken, and the programs of its user."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import product
from tests.support.commands import not_here, options, printed
from tests.support.processes import notehop_serve, until

TOKEN = "0123456789abcdef-swordfish"


@pytest.fixture
def place(vault: Path, tmp_path: Path) -> product.Place:
    (tmp_path / "index").mkdir()
    return at(vault, tmp_path, port=0)


def at(vault: Path, folder: Path, **settings: Any) -> product.Place:
    dotted = {f"server.{key}": value for key, value in settings.items()}
    return product.locate(vault, index_dir=folder / "index", overrides=dotted)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "notes.example"])
def test_others_are_not_let_in_without_a_token(vault: Path, tmp_path: Path, host: str) -> None:
    with pytest.raises(product.UsageError, match=r"NOTEHOP_SERVER__TOKEN.*leave --host out"):
        product.VaultServer({"x": at(vault, tmp_path, host=host, port=0)})


def test_with_one_they_are(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEHOP_SERVER__TOKEN", TOKEN)
    with product.VaultServer({"x": at(vault, tmp_path, host="0.0.0.0", port=0)}) as door:
        assert door.asks_for_token
        assert door.url.startswith("http://0.0.0.0:")


def test_a_port_that_something_else_has_is_no_server_of_ours(
    place: product.Place, vault: Path, tmp_path: Path
) -> None:
    with product.VaultServer({"x": place}) as door, product.Announcement(place) as announced:
        # It says that it serves, and answers nothing.
        announced.tell(door.url)
        port = int(door.url.rpartition(":")[2])
        with pytest.raises(product.NotehopError, match="is taken"):
            product.VaultServer({"x": at(vault, tmp_path, port=port)})


def test_a_taken_port_says_what_else_can_be_done() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as other,
        pytest.raises(product.NotehopError, match=r"another program.*name another with --port, or --port 0"),
    ):
        product.listen("127.0.0.1", other.getsockname()[1])


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host"])
def test_an_address_that_is_not_ours(host: str) -> None:
    with pytest.raises(product.UsageError, match="--host"):
        product.listen(host, 0)


@contextmanager
def served(
    where: tuple[Path, Path], *more: str, **variables: Any
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    with notehop_serve(*where, *more, **variables) as (url, process):
        until(lambda: status_of(f"{url}/health/ready") == 200)
        yield url, process


def status_of(url: str, token: str | None = None) -> int:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.get(url, headers=headers, timeout=30).status_code


@pytest.mark.model
def test_a_server_with_a_token_answers_the_commands_of_its_user(
    indexed: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(indexed, "--log-level", "info", NOTEHOP_SERVER__TOKEN=TOKEN) as (url, process):
        assert product.IndexLayout(indexed[1]).server.is_file()
        with monkeypatch.context() as patched:
            patched.setattr("notehop.app.services.open_vault.open_place", not_here)
            # The command does not know the token; it can read the file of the server.
            told = printed("search", "swordfish launch", "--json", *options(*indexed), "--debug")
        hits = json.loads(told)["hits"]
        assert [hit["file"] for hit in hits] == [hit["path"] for hit in hits]
        assert hits
        assert status_of(f"{url}/status") == 401
        assert status_of(f"{url}/status", "wrong") == 401
        assert status_of(f"{url}/status", TOKEN) == 200
        assert status_of(f"{url}/") == 200
        assert status_of(f"{url}/health/live") == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        log = process.stderr.read()
    assert log.count("route=/search status=200") == 1
    assert "route=/status status=401" in log or "route=none status=401" in log
    assert not any(word in log for word in (TOKEN, "swordfish", "launch"))


def refuses(url: str) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", httpx.URL(url).port)) != 0


@pytest.mark.model
def test_a_second_ctrl_c_while_a_client_hangs(indexed: tuple[Path, Path]) -> None:
    half = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
    with served(indexed, ends=signal.SIGINT) as (url, process):
        with socket.create_connection(("127.0.0.1", httpx.URL(url).port)) as client:
            client.sendall(half)
            assert status_of(f"{url}/health/live") == 200
            process.send_signal(signal.SIGINT)
            until(lambda: refuses(url))
            process.send_signal(signal.SIGINT)
            assert process.wait(5) == 0
        assert process.stderr.read() == ""
