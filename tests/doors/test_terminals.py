"""What a command prints where the stream is not UTF-8: every pipe of a Windows console."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.processes import NOTEHOP, environment

LINK = "[[日本|the land “日”]]"
NAMES = ("Wave \U0001f30a.md", "Жук.md", "Café.md")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / name).write_text(f"See {LINK}.\n", encoding="utf-8")
    return tmp_path


def links(vault: Path, encoding: str, *more: str) -> bytes:
    done = subprocess.run(
        [*NOTEHOP, "links", str(vault), *more],
        capture_output=True,
        env=environment(PYTHONIOENCODING=encoding, PYTHONUTF8="0"),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437", "utf-8"])
def test_json_is_json(vault: Path, encoding: str) -> None:
    said = json.loads(links(vault, encoding, "--json").decode(encoding))
    assert {link["source"] for link in said} == set(NAMES)
    assert {(link["raw"], link["display"]) for link in said} == {(LINK, "the land “日”")}


def test_what_cannot_be_shown_is_written_in_ascii(vault: Path) -> None:
    shown = links(vault, "cp1252").decode("cp1252")
    assert "Wave \\U0001f30a.md" in shown
    assert "Café.md" in shown
