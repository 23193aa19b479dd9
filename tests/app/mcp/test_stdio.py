"""``notehop mcp`` as a process: what it writes, how it takes noise, and how it ends."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.app.mcp.agent import PATIENCE, Agent, agent, command, environment, over_stdio
from tests.support.processes import until
from tests.support.product import IndexLayout, read_watch_state

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Process:
    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        self.running = running
        self._in, self._out = running.stdin, running.stdout

    def send(self, data: bytes) -> None:
        self._in.write(data)
        self._in.flush()

    def ask(self, number: int, method: str, params: dict[str, Any] | None = None) -> None:
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
        self.send(json.dumps(message).encode() + b"\n")

    def begin(self, version: str = "2025-06-18") -> dict[str, Any]:
        self.ask(1, "initialize", {**INITIALIZE, "protocolVersion": version})
        found = self.read()
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        assert found["id"] == 1
        result: dict[str, Any] = found["result"]
        return result

    def read(self) -> dict[str, Any]:
        """The next line that it wrote, which is a message or the test fails."""
        message: dict[str, Any] = json.loads(self._out.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def read_to(self, number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The reply to a request, and what came before it."""
        before: list[dict[str, Any]] = []
        while (message := self.read()).get("id") != number:
            before.append(message)
        return message, before

    def leave(self) -> list[bytes]:
        """Close its input, see it end well, and return what else it wrote."""
        self._in.close()
        assert self.running.wait(PATIENCE) == 0
        return self._out.readlines()


@contextmanager
def process(vault: Path, index: Path, *more: str) -> Iterator[Process]:
    given = [sys.executable, *command(vault, index, *(more or ("--no-watch",)))]
    with subprocess.Popen(
        given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as running:
        # Read, so that it never waits for room.
        threading.Thread(target=running.stderr.read, daemon=True).start()
        try:
            yield Process(running)
        finally:
            running.kill()


NOISE = [
    pytest.param(b"hello\n", id="no-json"),
    pytest.param(b"\x00\xff\xfe\x80\x01\x7fELF\n", id="binary"),
    pytest.param(b'{"jsonrpc":"2.0","id":7,"method":"ping"\xff}\n', id="no-utf-8"),
    pytest.param(b'{"jsonrpc":"2.0","id":7,"method":"\\ud800"}\n', id="lone-surrogate"),
    pytest.param(b"[" * 100_000 + b"\n", id="deep"),
    pytest.param(b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"\n", id="deep-objects"),
    pytest.param(b"7\n", id="a-number"),
    pytest.param(b"{}\n", id="empty"),
    pytest.param(b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]\n', id="batch"),
    pytest.param(b'{"jsonrpc":"2.0","id":7,"method":5}\n', id="method-is-no-text"),
    pytest.param(b"x" * 5_000_000 + b"\n", id="long"),
    pytest.param(b"\n \n", id="blank-lines"),
]


@pytest.fixture
def bare(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault", tmp_path / "index"


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """One server for all the noise: what harms it shows in the next test. It has no index."""
    root = tmp_path_factory.mktemp("noise")
    (root / "vault").mkdir()
    with process(root / "vault", root / "index") as one:
        one.begin()
        yield one
        assert one.leave() == []


@pytest.mark.parametrize("noise", NOISE)
def test_noise_is_passed_over(noisy: Process, noise: bytes) -> None:
    noisy.send(noise)
    noisy.ask(2, "ping")
    reply, before = noisy.read_to(2)
    assert (reply["result"], before) == ({}, [])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_it_waits_for_its_client(
    bare: tuple[Path, Path], number: signal.Signals
) -> None:
    with process(*bare) as one:
        one.begin()
        one.running.send_signal(number)
        assert one.running.wait(PATIENCE) == 0


def test_nothing_heavy_is_loaded_before_the_first_reply() -> None:
    heavy = ("torch", "llama_index", "numpy", "sqlalchemy", "networkx", "onnxruntime", "fastapi")
    code = (
        "import sys\n"
        "import notehop.app.cli.serve, notehop.app.mcp.server, notehop.app.services.open_vault\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True
    )
    assert result.stdout.strip() == "[]"


@pytest.mark.model
def test_it_ends_with_its_client_also_in_the_middle_of_a_call(demo: tuple[Path, Path]) -> None:
    with process(*demo) as one:
        one.begin()
        one.ask(2, "tools/call", {"name": "ask", "arguments": {"question": "Hollin Reach?"}})
        left = one.leave()
    # Loading takes seconds: the call has not ended, and whatever was written is a message.
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in left)


@pytest.mark.model
def test_a_call_can_be_cancelled(demo: tuple[Path, Path]) -> None:
    with process(*demo) as one:
        one.begin()
        for number in (2, 3):
            params = {"name": "smart_search", "arguments": {"query": "Hollin Reach"}}
            one.ask(number, "tools/call", params)
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 3}}
        one.send(json.dumps({"jsonrpc": "2.0", **cancel}).encode() + b"\n")
        reply, before = one.read_to(2)
        assert reply["result"]["content"][0]["text"].startswith("[1] ")
        one.ask(4, "ping")
        _, after = one.read_to(4)
        assert all(message.get("id") != 3 for message in [*before, *after])
        assert one.leave() == []


@pytest.mark.model
def test_the_index_follows_the_vault_while_it_runs(demo: tuple[Path, Path]) -> None:
    vault, index = demo
    note = vault / "Quokka.md"
    layout = IndexLayout(index)

    def finds(one: Agent) -> bool:
        return one.reply("smart_search", query="Quokka", top_k=1).startswith("[1] Quokka.md:")

    try:
        with agent(over_stdio(vault, index, "--watch")) as one:
            assert not finds(one)
            until(lambda: read_watch_state(layout) is not None)
            note.write_text("The quokka eats zebra grass at noon.\n", encoding="utf-8")
            until(lambda: finds(one))
            note.unlink()
            until(lambda: not finds(one))
    finally:
        note.unlink(missing_ok=True)
    until(lambda: read_watch_state(layout) is None)
