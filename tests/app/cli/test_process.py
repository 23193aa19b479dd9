"""Commands as processes: what they import, how they end, and what a running server does for them."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

import httpx
import pytest

from tests.support import commands
from tests.support.commands import not_here, options
from tests.support.processes import NOTEHOP, environment, notehop_serve
from tests.support.product import IndexLayout
from tests.support.tables import rows


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("[[b]]\n" * 20_000)
    with subprocess.Popen(
        [*NOTEHOP, "links", "--vault", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def loaded(names: Sequence[str], *arguments: str) -> tuple[str, str]:
    """A command's exit code with which of some modules it has loaded at its end; and its output."""
    code = (
        "import sys; from notehop.app.cli.program import run\n"
        f"code = run({list(arguments)!r})\n"
        f"print(code, [name for name in {names!r} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=60,
        check=True,
    )
    return result.stderr.strip().splitlines()[-1], result.stdout


def test_starting_loads_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "chromadb", "llama_index", "numpy", "fastapi", "mcp")
    assert loaded(heavy, "--help")[0] == "0 []"


@pytest.mark.model
def test_a_run_that_finds_nothing_changed_loads_no_model(indexed: tuple[Path, Path]) -> None:
    where = options(*indexed)
    assert loaded((), "index", *where)[0] == "0 []"
    heavy = ("torch", "transformers", "chromadb", "llama_index", "onnxruntime")
    found, said = loaded(heavy, "index", *where)
    assert found == "0 []"
    assert "unchanged" in said


def drain(terminal: IO[bytes]) -> None:
    with suppress(OSError, ValueError):
        while terminal.read(1_000):
            pass


@pytest.mark.model
def test_a_terminal_is_told_at_once_that_notes_are_read(indexed: tuple[Path, Path]) -> None:
    command = [*NOTEHOP, "ask", "launch of Atlas", *options(*indexed)]
    ours, theirs = os.openpty()
    with (
        os.fdopen(ours, "rb", buffering=0) as terminal,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=theirs, env=environment(TERM="xterm")
        ) as asking,
    ):
        os.close(theirs)
        told = b""
        while b"Reading your notes" not in told:
            told += terminal.read(1_000)
        assert asking.poll() is None
        # A terminal that nobody reads from holds the command up.
        threading.Thread(target=drain, args=(terminal,), daemon=True).start()
        out, _ = asking.communicate()
    assert asking.returncode == 0
    assert b"14 June 2027" in out
    assert b"Reading" not in out


pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def where(indexed: tuple[Path, Path]) -> Iterator[list[str]]:
    """The options that name the small vault, for which a server runs."""
    named = options(*indexed)
    layout = IndexLayout(indexed[1])
    with notehop_serve(*indexed, ends=signal.SIGINT) as (url, process):
        assert layout.server.is_file()
        # While it loads what it needs, it has no time for a client that waits 0.3 s.
        httpx.post(f"{url}/search", json={"query": "launch"}, timeout=60)
        yield named
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == ""
    assert not layout.server.exists()


def call(*arguments: str) -> tuple[int, str, str]:
    result = commands.call(*arguments)
    told = re.sub(r'"timings_ms": \{.*?\}', "", result.stdout, flags=re.DOTALL)
    return result.exit_code, told, result.stderr


@pytest.mark.parametrize(
    "arguments",
    [*rows(__file__, "the_same_is_printed"), pytest.param(["search", "x" * 20_000], id="too-long")],
)
def test_the_same_is_printed(where: list[str], arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("notehop.app.services.open_vault.open_place", not_here)
        asked = call(*arguments, *where)
    monkeypatch.setattr("notehop.app.services.running_server.read_running", lambda _: None)
    assert call(*arguments, *where) == asked


def test_a_conversation(where: list[str]) -> None:
    said = "When is the launch of Atlas?\n\n/new\nbread\n/help\n/quit\nx\n"
    result = commands.call("chat", *where, input=said)
    told = result.stdout
    assert result.exit_code == 0
    assert told.count("14 June 2027") == 1
    assert told.index("Atlas.md") < told.index("Bread.md")
    assert "/help: there is no such command; /new begins anew, /quit ends" in result.stderr


@pytest.mark.parametrize("typed", ["/quit", "exit", "Quit", ":q"])
def test_a_conversation_is_left(where: list[str], typed: str) -> None:
    result = commands.call("chat", *where, input=f"{typed}\nWhen is the launch of Atlas?\n")
    assert (result.exit_code, result.stdout.strip()) == (0, "")


def test_a_text_is_captured(where: list[str]) -> None:
    inbox = Path(where[1]) / "Inbox"
    try:
        code, told, _ = call("capture", "The launch waits for the tiles.", "--json", *where)
        found = json.loads(told)
        assert code == 0
        assert (Path(where[1]) / found["filename"]).is_file()
        assert found["connections"]
        code, _, said = call("capture", "Tea", "--tag", "2026", *where)
        assert code == 2
        assert "can be no tag" in said
        assert len(list(inbox.iterdir())) == 1
    finally:
        for path in inbox.glob("*"):
            path.unlink()
        inbox.rmdir()


def test_other_settings_are_answered_here(where: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEHOP_CONNECTED__MAX", "0")
    code, told, _ = call("search", "launch", "--json", *where)
    assert (code, json.loads(told.replace("  ,\n", ""))["connected_notes"]) == (0, [])
    monkeypatch.setattr("notehop.app.services.open_vault.open_place", not_here)
    assert call("search", "launch", *where)[0] == 1


@pytest.mark.parametrize(("command", "field"), [("search", "hits"), ("browse", "seeds")])
def test_little_is_loaded(where: list[str], command: str, field: str) -> None:
    heavy = ("llama_index", "chromadb", "numpy", "onnxruntime", "sqlalchemy", "fastapi", "httpx")
    found, said = loaded(heavy, command, "Atlas", "--json", *where)
    assert found == "0 []"
    assert json.loads(said)[field]
