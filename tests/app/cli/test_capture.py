"""``notehop capture``: words or standard input become a note; what is related is named."""

import re
from pathlib import Path

import pytest

from tests.support.commands import call, options


def notes(vault: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in (vault / "Inbox").glob("*")}


@pytest.fixture
def where(vault: Path, tmp_path: Path) -> list[str]:
    return options(vault, tmp_path / "ix")


def test_words_become_a_note(vault: Path, where: list[str]) -> None:
    result = call("capture", "The", "clay", "lies", "--tag", "site", "--title", "Clay", *where)
    assert result.exit_code == 0, result.output
    [(name, text)] = notes(vault).items()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d{4} Clay\.md", name)
    assert text.endswith('tags:\n  - "site"\n---\n\nThe clay lies\n')
    assert f"Captured as Inbox/{name}; related notes could not be looked up" in result.stdout
    assert "run: notehop index" in result.stdout


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_what_is_piped_in(vault: Path, where: list[str], arguments: list[str]) -> None:
    result = call("capture", *arguments, *where, input="First line\r\n\n- über\n".encode())
    assert result.exit_code == 0, result.output
    [(name, text)] = notes(vault).items()
    assert name.endswith(" First line.md")
    assert text.endswith("---\n\nFirst line\n\n- über\n")


@pytest.mark.parametrize(("text", "piped"), [([], b""), ([], b" \n"), ([""], b"x"), ([" "], b"x")])
def test_nothing_to_keep(vault: Path, where: list[str], text: list[str], piped: bytes) -> None:
    result = call("capture", *text, *where, input=piped)
    assert result.exit_code == 2
    assert "nothing to keep" in result.stderr
    assert not (vault / "Inbox").exists()
