"""Captured titles and summaries keep every character that is no mark."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tests.support.product import app, cleaned, without_emphasis


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Rename my_function to other_name", "Rename my_function to other_name"),
        ("Costs $500 and x=5", "Costs $500 and x=5"),
        ("look at ~/notes again", "look at ~ notes again"),  # no disk takes a slash
        ("**Call** _Bram_ about `snake__case` ==now==", "Call Bram about snake__case now"),
        ("- [ ] 3 = 4 - ~1", "3 = 4 - ~1"),
    ],
)
def test_a_captured_note_is_named_by_its_words(vault: Path, text: str, title: str) -> None:
    result = CliRunner().invoke(app, ["capture", "--vault", str(vault), "--", text])
    assert result.exit_code == 0, result.output
    (file,) = vault.rglob("*.md")
    assert file.stem.split(" ", 2)[2] == title


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Training data: 300 notes. Config file: settings.toml.",
            "Training data: 300 notes. Config file: settings.toml.",
        ),
        ("JavaScript: the good parts.", "JavaScript: the good parts."),
        ("It is 3*4*5 m.", "It is 3*4*5 m."),
        ("Call snake__case__name.", "Call snake__case__name."),
        ("See (https://evil.example/a). Then go.", "See (). Then go."),
        ("A data:text/html;base64,AAAA b.", "A b."),
        ("A file:///etc/passwd b.", "A b."),
        ("A javascript:alert(1) b.", "A b."),
    ],
)
def test_a_summary_keeps_its_words(said: str, kept: str) -> None:
    assert cleaned(said, 300) == kept


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_letters_and_digits_are_never_lost(text: str) -> None:
    def words(line: str) -> list[str]:
        return [char for char in line if char.isalnum()]

    assert words(without_emphasis(text)) == words(text)


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["[", "![", "[[", "`", "==a ", "**a", "*_", "http://(", "<!--"])
def test_a_reply_of_nothing_but_marks_takes_no_time(piece: str) -> None:
    cleaned(piece * 200_000, 300)
    without_emphasis((piece * 2_000)[:2_000])
