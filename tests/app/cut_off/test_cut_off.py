"""With no provider configured nothing reaches another machine, and everything works without one.

Two witnesses: an audit hook in every Python process, which sees Python's sockets and resolver and
refuses them; and, where the system allows a network namespace, a way out that leads nowhere, which
sees each packet whoever sends it (onnxruntime, Chroma, tokenizers and uvloop have sockets of their
own). What neither could see is refused by the namespace itself: there is no other machine in it.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_index import lend_query_model

HERE = Path(__file__).parent
ROOT = HERE.parents[2]

KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
"""All that a user's environment holds too: libraries that would tell somebody something keep quiet
where a variable says that this is a test, a build or a machine without network."""

NAMESPACE = ["unshare", "--map-root-user", "--net"]

WAY_OUT = [*NAMESPACE, sys.executable, str(HERE / "uplink.py")]

TRIES = """
import contextlib, ctypes, socket, struct
for attempt in (
    lambda: socket.create_connection(("192.0.2.77", 80), 0.2),
    lambda: socket.getaddrinfo("hub.example.com", 443),
    lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.78", 53)),
    lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::77", 443)),
    lambda: socket.socket().bind(("192.0.2.2", 0)),
):
    try:
        attempt()
    except OSError:
        continue
    raise SystemExit("it got through")
socket.create_server(("127.0.0.1", 0)).close()
"""

TRIES_NATIVELY = """
import ctypes, socket, struct
libc = ctypes.CDLL(None)
for kind, last in ((socket.SOCK_DGRAM, 79), (socket.SOCK_STREAM | socket.SOCK_NONBLOCK, 80)):
    end = libc.socket(socket.AF_INET, kind, 0)
    where = struct.pack("!HH4B8x", 0, 4242, 192, 0, 2, last)
    where = struct.pack("=H", socket.AF_INET) + where[2:]
    libc.connect(end, where, len(where))
    libc.send(end, b"x", 1, socket.MSG_NOSIGNAL)
"""


def allowed() -> bool:
    """Whether this system lets us make a network namespace with a device in it."""
    if not all(shutil.which(name) for name in ("unshare", "ip")):
        return False
    tried = subprocess.run([*WAY_OUT, os.devnull, "true"], capture_output=True, timeout=30, check=False)
    return tried.returncode == 0


namespace = pytest.mark.skipif(not allowed(), reason="no network namespace is to be had here")


def run(log: Path, *command: str, cut: bool) -> subprocess.CompletedProcess[str]:
    """Run a command where both witnesses look, or the first alone."""
    log.touch()
    return subprocess.run(
        [*WAY_OUT, str(log), *command] if cut else command,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT)]),
            "ATTEMPTS_SEEN": str(log),
            "OMP_NUM_THREADS": "1",
        },
    )


def travelled(vault: Path, tmp_path: Path, *, cut: bool) -> tuple[list[dict[str, Any]], str]:
    """What each command of the journey said, and who tried to reach whom."""
    log = tmp_path / "attempts"
    index = str(tmp_path / "index")
    lend_query_model(vault, tmp_path / "index")
    done = run(log, sys.executable, str(HERE / "journey.py"), str(vault), index, cut=cut)
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()], log.read_text()


COMMANDS = {
    "index": "",
    "search": "Atlas.md",
    "ask": "14 June 2027",
    "browse": "Plan.md",
    "links": "Nowhere",
    "capture": "Inbox",
    "status": "generation",
    "doctor": "Nowhere",
    "POST /query": "14 June 2027",
    "POST /query/stream": "event: done",
    "POST /search": "Bread.md",
    "POST /graph/browse": "Plan.md",
    "GET /status": "generation",
    "GET /": "<html",
    "watch": "Kiln.md",
    "serve": "notehop answers for",
    "mcp": "14 June 2027",
}


@pytest.mark.slow
@pytest.mark.model
def test_nothing_leaves_and_everything_works(vault: Path, tmp_path: Path) -> None:
    said, attempts = travelled(vault, tmp_path, cut=allowed())
    assert attempts == ""
    assert [one for one in said if one["code"] != 0] == []
    assert [one["name"] for one in said] == [*COMMANDS]
    for one in said:
        assert COMMANDS[one["name"]] in one["out"], one


def test_an_attempt_by_python_is_noticed_and_refused(tmp_path: Path) -> None:
    log = tmp_path / "attempts"
    tried = run(log, sys.executable, "-c", TRIES, cut=False)
    assert tried.returncode == 0, tried.stderr
    seen = [line.split(" ")[:2] for line in log.read_text().splitlines()]
    assert seen == [
        ["socket.getaddrinfo", "192.0.2.77"],
        ["socket.getaddrinfo", "hub.example.com"],
        ["socket.sendto", "192.0.2.78"],
        ["socket.connect", "2001:db8::77"],
        ["socket.bind", "192.0.2.2"],
    ]


@namespace
def test_an_attempt_by_native_code_is_noticed(tmp_path: Path) -> None:
    log = tmp_path / "attempts"
    tried = run(log, sys.executable, "-c", TRIES_NATIVELY, cut=True)
    assert tried.returncode == 0, tried.stderr
    assert set(log.read_text().splitlines()) == {"packet udp 192.0.2.79 4242", "packet tcp 192.0.2.80 4242"}
