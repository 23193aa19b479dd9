"""The command as a process: exit codes, clean standard output, pipes and signals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.processes import NOTEHOP, environment


def notehop(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*NOTEHOP, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=cwd,
        env=environment(),
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--version"], 0, id="version"),
        pytest.param(["links"], 2, id="no-vault"),
        pytest.param(["status", "--vault", "."], 1, id="no-index"),
    ],
)
def test_exit_codes(arguments: Sequence[str], code: int, tmp_path: Path) -> None:
    result = notehop(*arguments, cwd=tmp_path)
    assert result.returncode == code
    assert (result.stdout == "") is (code != 0)
    assert "Traceback" not in result.stderr


def test_a_reader_that_has_seen_enough_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("[[b]]\n" * 20_000)
    with subprocess.Popen(
        [*NOTEHOP, "links", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
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
def test_searching_loads_no_torch(indexed: tuple[Path, Path]) -> None:
    folder, index = indexed
    code = (
        "import sys; from notehop.app.cli.program import run\n"
        f"code = run(['ask', 'launch of Atlas', '--json', '--vault', {str(folder)!r}, "
        f"'--index-dir', {str(index)!r}])\n"
        "heavy = ('torch', 'transformers', 'sentence_transformers', 'chromadb')\n"
        "print(code, [name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=120,
        check=True,
    )
    assert result.stderr.strip() == "0 []"
    assert json.loads(result.stdout)["mode"] == "extractive"


@pytest.mark.model
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "term"])
def test_serve_answers_and_stops_when_told(
    indexed: tuple[Path, Path], signum: signal.Signals
) -> None:
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
        assert process.stderr is not None
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
            process.send_signal(signum)
            assert process.wait(30) == 0
            assert process.stderr.read() == ""
        finally:
            process.kill()
