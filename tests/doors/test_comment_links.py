"""Links in comments, at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.product import app

TEXT = "Said %% see [[Inline]] %% here.\n\n%%\n[[Block]]\n%%\n\n[[Plain]]\n"


def targets(tmp_path: Path, setting: str | None) -> list[str]:
    vault = tmp_path / "vault"
    vault.mkdir()
    for name in ("Inline", "Block", "Plain"):
        (vault / f"{name}.md").write_text("Text.")
    (vault / "Here.md").write_text(TEXT)
    if setting is not None:
        (vault / "notehop.toml").write_text(f"[vault]\ncomment_links = {setting}\n")
    result = CliRunner().invoke(app, ["links", "--vault", str(vault), "--json"])
    assert result.exit_code == 0, result.output
    return [link["target"].removesuffix(".md") for link in json.loads(result.stdout)]


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        (None, ["Inline", "Plain"]),
        ('"inline"', ["Inline", "Plain"]),
        ('"none"', ["Plain"]),
        ('"all"', ["Inline", "Block", "Plain"]),
        ("false", ["Plain"]),  # as 0.1.0 wrote it
        ("true", ["Inline", "Block", "Plain"]),
    ],
)
def test_links_in_comments(tmp_path: Path, setting: str | None, found: list[str]) -> None:
    assert targets(tmp_path, setting) == found
