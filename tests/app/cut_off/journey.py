"""Everything that notehop does without a provider, as its user does it: each in a process.

    python journey.py VAULT INDEX

Prints a line of JSON for each command: its name, its exit code, and what it wrote.

Touches: vault-write (capture, and a note that changes), index, model, network (loopback).
"""

import json
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

PATIENCE = 120
ASKED = "When is the launch of Atlas, and why so late?"


def notehop(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "notehop", *arguments]


def report(name: str, code: int, out: str, error: str = "") -> None:
    line = json.dumps({"name": name, "code": code, "out": out, "error": error})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def run(name: str, *arguments: str) -> None:
    done = subprocess.run(
        notehop(name, *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    report(name, done.returncode, done.stdout, done.stderr)


def asked(url: str, path: str, body: dict[str, Any] | None = None) -> str:
    request = urllib.request.Request(
        url + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        told: bytes = reply.read()
        return told.decode()


def serve(vault: Path, where: list[str]) -> None:
    """A server that watches: every route that reads, a note that changes, and its end."""
    with subprocess.Popen(
        notehop("serve", "--port", "0", *where), stderr=subprocess.PIPE, text=True
    ) as server:
        said = server.stderr.readline()
        try:
            url = said.split(" at ")[1].split(" ")[0]
            report("POST /query", 0, asked(url, "/query", {"query": ASKED}))
            report("POST /query/stream", 0, asked(url, "/query/stream", {"query": ASKED}))
            report("POST /search", 0, asked(url, "/search", {"query": "bread"}))
            report("POST /graph/browse", 0, asked(url, "/graph/browse", {"seeds": ["Atlas"]}))
            report("GET /status", 0, asked(url, "/status"))
            report("GET /", 0, asked(url, "/"))
            (vault / "Kiln.md").write_text("The kiln is fired on Tuesday.\n", encoding="utf-8")
            until = time.monotonic() + PATIENCE
            while "Kiln.md" not in (found := asked(url, "/search", {"query": "kiln"})):
                assert time.monotonic() < until, found
                time.sleep(0.1)
            report("watch", 0, found)
        finally:
            server.send_signal(signal.SIGTERM)
            rest = server.stderr.read()
            report("serve", server.wait(PATIENCE), said, rest)


def mcp(where: list[str]) -> None:
    begun = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "journey", "version": "1"},
    }
    asked = {"name": "smart_search", "arguments": {"query": ASKED}}
    with subprocess.Popen(
        notehop("mcp", *where),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as agent:
        for number, (method, given) in enumerate(
            [("initialize", begun), ("notifications/initialized", {}), ("tools/call", asked)]
        ):
            named = {} if method.startswith("notifications") else {"id": number}
            message = {"jsonrpc": "2.0", **named, "method": method, "params": given}
            agent.stdin.write(json.dumps(message) + "\n")
            agent.stdin.flush()
        told = ""
        while '"id":2' not in told.replace(" ", "") and (line := agent.stdout.readline()):
            told += line
        _, error = agent.communicate(timeout=PATIENCE)
        report("mcp", agent.returncode, told, error)


def main(vault: Path, index: Path) -> None:
    where = ["--vault", str(vault), "--index-dir", str(index)]
    run("index", str(vault), "--index-dir", str(index))
    run("search", "launch of Atlas", "--json", *where)
    run("ask", ASKED, "--json", *where)
    run("browse", "Atlas", "--json", *where)
    run("links", "--json", *where)
    run("capture", "Ask Priya about the tiles.", "--json", *where)
    run("status", "--json", *where)
    run("doctor", "--json", *where)
    serve(vault, where)
    mcp(where)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
