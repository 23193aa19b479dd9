"""What the status says of the language model, and of what went where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.product import (
    EgressLog,
    Settings,
    app,
    egress_report,
    language_model_now,
    load_settings,
    locate,
)


def settings(provider: str, **more: Any) -> Settings:
    keys = {"model": "m", **more}
    named = {key if "." in key else f"llm.{key}": value for key, value in keys.items()}
    return load_settings(overrides={"llm.provider": provider, **named})


def call(log: EgressLog, host: str, notes: tuple[str, ...], **changed: Any) -> Any:
    told: dict[str, Any] = {
        "local": False,
        "provider": "openai",
        "model": "m",
        "purpose": "answer",
        "bytes_out": 1_000,
        "attempt": 1,
    }
    return log.begin(host=host, notes=notes, **{**told, **changed})


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["status", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def logged(tmp_path: Path) -> tuple[Path, Path]:
    """A vault that is not indexed, and a folder with a log of four calls."""
    vault, index = tmp_path / "Vault", tmp_path / "index"
    (vault / ".obsidian").mkdir(parents=True)
    index.mkdir()
    log = EgressLog(index)
    call(log, "127.0.0.1", ("a.md",), local=True, provider="ollama").end(status=200, bytes_in=9)
    call(log, "api.openai.com", ("a.md", "b.md")).end(status=503, bytes_in=20, error="server")
    call(log, "api.openai.com", ("a.md", "b.md"), attempt=2).end(status=200, bytes_in=300)
    call(log, "api.openai.com", tuple(f"{number}.md" for number in range(5)), purpose="themes")
    return vault, index


def test_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    now = language_model_now(settings("openai"))
    assert "OPENAI_API_KEY" in now.problem
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    now = language_model_now(settings("openai"))
    assert (now.host, now.local, now.allowed) == ("api.openai.com", False, False)
    assert 'allow_hosts = ["api.openai.com"]' in now.problem
    allowed = settings("openai", **{"privacy.allow_hosts": ["api.openai.com"]})
    now = language_model_now(allowed)
    assert (now.allowed, now.problem) == (True, None)
    assert "sk-secret" not in now.model_dump_json()


def test_what_went_where(logged: tuple[Path, Path]) -> None:
    vault, index = logged
    told = egress_report(locate(vault, index_dir=index))
    away, here = told.hosts
    assert (away.host, away.calls, away.failed) == ("api.openai.com", 3, 1)
    assert (away.bytes_out, away.bytes_in) == (3_000, 320)
    assert (here.host, here.local, here.calls, here.failed) == ("127.0.0.1", True, 1, 0)
    newest, second, failed, first = told.calls
    assert (newest.over, newest.purpose, newest.status) == (False, "themes", None)
    assert (second.over, second.status, second.attempt) == (True, 200, 2)
    assert (failed.error, failed.notes) == ("server", ["a.md", "b.md"])
    assert first.local
    assert len(egress_report(locate(vault, index_dir=index), most=2).calls) == 2


def test_a_person_is_told(logged: tuple[Path, Path]) -> None:
    vault, index = logged
    where = ["--vault", str(vault), "--index-dir", str(index)]
    said = shown("--egress", *where)
    assert "api.openai.com  3 calls, 1 failed, 3.0 kB out, 0.3 kB in" in said
    assert "127.0.0.1 (this machine)  1 call" in said
    assert "themes: not over" in said
    assert "answer: ok, try 2" in said
    assert "0.md, 1.md, 2.md, and 2 more" in said
    assert said.index("themes: not over") < said.index("answer: server")
    assert len(json.loads(shown("--egress", "--json", *where))["calls"]) == 4
