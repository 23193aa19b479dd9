"""``/mcp`` stands behind the guards of the server, and takes noise as its transport says."""

import json
from collections.abc import Iterator

import pytest

from tests.app.api.fake_vault import FakeVault
from tests.app.mcp.test_stdio import INITIALIZE
from tests.support import product
from tests.support.serving import request, say, serving

TOKEN = "a-token-of-more-than-16"
BOTH = "Accept: application/json, text/event-stream"
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE})
LIST = b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}'


def served(vault: FakeVault, *tokens: str) -> Iterator[int]:
    found = product.load_settings().server
    workers = product.Workers(found)
    agents = product.HttpTransport(product.Vaults.of(vault), workers.run, workers.closing)  # type: ignore[arg-type]
    routers = (agents.router,)
    app = product.create_app(vault, found, tokens=tokens, routers=routers, workers=workers)
    with serving(app) as port:
        yield port


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from served(FakeVault())


@pytest.fixture(scope="module")
def guarded() -> Iterator[int]:
    yield from served(FakeVault(), TOKEN)


def post(
    port: int, body: bytes = HELLO.encode(), *headers: str, host: str = "127.0.0.1"
) -> tuple[int, dict[str, str], bytes]:
    said = say(port, request("POST", "/mcp", host=host, headers=(BOTH, *headers), body=body))
    return said.status, said.headers, said.body


def test_a_session_begins_and_ends(port: int) -> None:
    status, headers, body = post(port)
    assert status == 200
    assert b'"name":"notehop"' in body
    session = f"Mcp-Session-Id: {headers['mcp-session-id']}"
    assert b"smart_search" in post(port, LIST, session)[2]
    gone = say(port, request("DELETE", "/mcp", headers=(session, BOTH)))
    assert gone.status == 200
    assert post(port, LIST, session)[0] == 404


def test_sessions_that_cannot_begin_say_why(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def run(_: object) -> None:
        raise OSError("too many open files")

    monkeypatch.setattr("mcp.server.streamable_http_manager.StreamableHTTPSessionManager.run", run)
    for port in served(FakeVault()):
        assert post(port)[0] == 500
    assert "too many open files" in caplog.text
    assert "task_status" not in caplog.text


def test_the_guards_of_the_server_decide_who_may_ask(port: int, guarded: int) -> None:
    """As they do for every route; the forms of it are in the table of hostile requests."""
    hello = HELLO.encode()
    assert post(port, host="evil.example")[0] == 421
    assert post(port, hello, "Origin: http://evil.example")[0] == 403
    assert post(port, hello, "Origin: http://127.0.0.1")[0] == 200
    assert post(port, host="LOCALHOST:8765")[0] == 200
    assert post(guarded)[0] == 401
    assert post(guarded, hello, f"Authorization: Bearer {TOKEN}")[0] == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(b"", 400, id="nothing"),
        pytest.param(b"hello", 400, id="no-json"),
        pytest.param(b"\x00\xff\xfe", 400, id="binary"),
        pytest.param(b"[" * 100_000, 400, id="deep"),
        pytest.param(b"[" + LIST + b"]", 400, id="batch"),
        pytest.param(b'{"jsonrpc":"2.0","id":1}', 400, id="no-method"),
        pytest.param(LIST, 400, id="without-a-session"),
        pytest.param(b"x" * 4_100_000, 413, id="too-long"),
    ],
)
def test_noise_is_refused_and_opens_no_session(port: int, body: bytes, status: int) -> None:
    said, headers, told = post(port, body)
    assert said == status
    assert b"Traceback" not in told
    if (name := headers.get("mcp-session-id")) is not None:
        # A name is given before the body is looked at; nothing stands behind it.
        assert post(port, LIST, f"Mcp-Session-Id: {name}")[0] == 404
    assert post(port)[0] == 200


SEARCH = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": {"name": "smart_search", "arguments": {"query": "x"}},
    }
).encode()


@pytest.mark.parametrize("handed_on", [(), ("X-Forwarded-For: 192.0.2.9",)])
def test_paths_of_this_machine_are_not_for_agents_elsewhere(handed_on: tuple[str, ...]) -> None:
    for port in served(FakeVault(product.VaultError("/home/mia/Notes: there is no such folder"))):
        _, headers, _ = post(port, HELLO.encode(), *handed_on)
        session = f"Mcp-Session-Id: {headers['mcp-session-id']}"
        told = post(port, SEARCH, session, *handed_on)[2]
        assert (b"mia" in told) is not bool(handed_on)
        assert (b"the vault cannot be read" in told) is bool(handed_on)
