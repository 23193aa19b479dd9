"""``notehop eval``: what it refuses, prints and writes."""

import json
import re
from html import escape
from pathlib import Path

import pytest

from tests.app.cli.test_cli import told
from tests.support.commands import call, options, printed


def test_refusals(tmp_path: Path, vault: Path) -> None:
    both = call("eval", "--ablate", "--compare", "stock", "current", "--vault", vault)
    assert "--ablate and --compare are two evaluations" in told(both, 2)
    assert "bring their own vaults" in told(call("eval", tmp_path, "--vault", vault), 2)
    assert "cannot be written" in told(call("eval", tmp_path, "--out", tmp_path), 2)
    assert "holds no golden sets" in told(call("eval", tmp_path), 2)
    assert "no vault" in told(call("eval"), 2)
    linked = call("eval", "--unrelated-links", "20", "--vault", vault)
    assert "--unrelated-links is for golden sets" in told(linked, 2)
    unread = call("eval", tmp_path / "none.jsonl", "--vault", vault)
    assert "none.jsonl: cannot be read" in told(unread, 2)


EVIL = '<script src="https://example.org/x.js">alert(1)</script>'


@pytest.mark.model
def test_a_vault_of_ones_own(indexed: tuple[Path, Path], tmp_path: Path) -> None:
    out, html = tmp_path / "new" / "found.json", tmp_path / "report.html"
    questions = tmp_path / "mine.jsonl"
    questions.write_text(
        json.dumps(
            {"id": 1, "question": f"launch of Atlas {EVIL}", "gold": ["Atlas.md", "Plan.md"]}
        )
        + "\n"
    )
    alone = "retrieval.top_k=1,connected.context_chunks=1,connected.max=0"
    how = ("--compare", alone, "current", "--out", out, "--html", html, "--json")
    document = json.loads(printed("eval", questions, *options(*indexed), *how))
    assert document == json.loads(out.read_text())
    assert [row["setting"] for row in document["sets"][0]["rows"]] == [alone, "current"]
    page = html.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<svg") == 2
    for shown in ("4 notes, 1 question", "100.0 (100.0 to 100.0)", "+100.0 (100.0 to 100.0)"):
        assert shown in page
    for shown in ("0 → 100", "1 helped, 0 hurt", "Plan.md", escape(EVIL, quote=False)):
        assert shown in page
    # It needs nothing beside itself, and runs nothing that a note or a question says.
    assert "default-src 'none'" in page
    assert not re.search(r"url\(|@import|<link|<script", page)
