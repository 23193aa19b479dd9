"""``notehop eval``: what it refuses, prints and writes."""

import json
from pathlib import Path

import pytest

from tests.app.cli.test_cli import told
from tests.support.commands import call, options, printed


def test_refusals(tmp_path: Path, vault: Path) -> None:
    both = call("eval", tmp_path, "--ablate", "--compare", "stock", "current", "--vault", vault)
    assert "--ablate and --compare are two evaluations" in told(both, 2)
    assert "bring their own vaults" in told(call("eval", tmp_path, "--vault", vault), 2)
    assert "name what to measure" in told(call("eval"), 2)
    unread = call("eval", tmp_path / "none.jsonl", "--vault", vault)
    assert "none.jsonl: cannot be read" in told(unread, 2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
@pytest.mark.model
def test_a_full_disk_and_warnings_are_told(indexed: tuple[Path, Path], tmp_path: Path) -> None:
    questions = tmp_path / "mine.jsonl"
    questions.write_text(json.dumps({"id": 1, "question": "??", "gold": ["Atlas.md"]}) + "\n")
    found = call("eval", questions, *options(*indexed), "--out", "/dev/full")
    assert found.exit_code == 2
    assert "warning: the query has no words to look for" in found.stderr
    assert "meaning alone (4 times)" in found.stderr  # two searches under two settings
    assert "error: /dev/full: cannot be written: No space left" in found.stderr


@pytest.mark.model
def test_a_vault_of_ones_own(indexed: tuple[Path, Path], tmp_path: Path) -> None:
    out, questions = tmp_path / "new" / "found.json", tmp_path / "mine.jsonl"
    asked = {"id": 1, "question": "launch of Atlas", "gold": ["Atlas.md", "Plan.md"]}
    questions.write_text(json.dumps(asked) + "\n")
    alone = str(tmp_path / f"{'alone' * 20}.toml")
    Path(alone).write_text("[connected]\ncontext_chunks = 1\nmax = 0\n[retrieval]\ntop_k = 1\n")
    how = (questions, *options(*indexed), "--compare", alone, "current", "--out", out)
    document = json.loads(printed("eval", *how, "--json"))
    assert document == json.loads(out.read_text())
    assert [row["setting"] for row in document["sets"][0]["rows"]] == [alone, "current"]
    shown = printed("eval", *how)
    for said in ("4 notes, 1 question", "100.0 (100.0", "+100.0 (100.0"):
        assert said in shown
