"""The command as a process: pipes, signals, and what it loads."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support.processes import NOTEHOP, environment


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("[[b]]\n" * 20_000)
    with subprocess.Popen(
        [*NOTEHOP, "links", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_starting_loads_nothing_heavy() -> None:
    heavy = ("torch", "transformers", "chromadb", "llama_index", "numpy", "fastapi", "mcp")
    code = (
        "import sys; from notehop.app.cli.program import run; run(['--help'])\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=60,
        check=True,
    )
    assert result.stderr.strip() == "[]"


@pytest.mark.model
def test_serve_answers_and_stops_at_ctrl_c(indexed: tuple[Path, Path]) -> None:
    folder, index = indexed
    arguments = [
        "serve",
        "--port",
        "0",
        "--json",
        "--vault",
        str(folder),
        "--index-dir",
        str(index),
    ]
    with subprocess.Popen(
        [*NOTEHOP, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        try:
            said = process.stderr.readline()
            assert said.startswith("notehop answers for My vault at http://127.0.0.1:")
            url = said.split(" at ")[1].split(" ")[0]
            request = urllib.request.Request(
                f"{url}/query",
                data=json.dumps({"query": "When is the launch of Atlas?"}).encode(),
                headers={"content-type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = json.load(response)
            assert "14 June 2027" in answer["answer"]
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()
