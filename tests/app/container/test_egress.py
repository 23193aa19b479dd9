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
    index_status,
    language_model_now,
    load_settings,
    locate,
)


def settings(provider: str, **more: Any) -> Settings:
    """Settings with a provider."""
    keys = {"model": "m", **more}
    named = {key if "." in key else f"llm.{key}": value for key, value in keys.items()}
    return load_settings(overrides={"llm.provider": provider, **named})


def call(log: EgressLog, host: str, notes: tuple[str, ...], **changed: Any) -> Any:
    """Write down a call."""
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
    """What ``notehop status`` prints."""
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


def test_nothing_is_set() -> None:
    assert language_model_now(load_settings()) is None


def test_a_model_of_this_machine() -> None:
    now = language_model_now(settings("ollama"))
    assert now is not None
    assert (now.host, now.local, now.allowed, now.problem) == ("127.0.0.1", True, True, None)


def test_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    now = language_model_now(settings("openai"))
    assert now is not None
    assert now.problem is not None
    assert "OPENAI_API_KEY" in now.problem
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    now = language_model_now(settings("openai"))
    assert now is not None
    assert (now.host, now.local, now.allowed) == ("api.openai.com", False, False)
    assert now.problem is not None
    assert 'allow_hosts = ["api.openai.com"]' in now.problem
    allowed = settings("openai", **{"privacy.allow_hosts": ["api.openai.com"]})
    now = language_model_now(allowed)
    assert now is not None
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


def test_strange_lines_do_no_harm(tmp_path: Path) -> None:
    vault = tmp_path / "Vault"
    (vault / ".obsidian").mkdir(parents=True)
    (tmp_path / "egress.jsonl").write_text(
        '{"id":"a","host":5,"time":"x","notes":null,"bytes_out":true}\n{"id":"b","ms":3}\n'
        '{"id":"a","status":"200","ms":1.5,"error":7}\n'
    )
    (only,) = egress_report(locate(vault, index_dir=tmp_path)).calls
    assert (only.host, only.time, only.status, only.notes) == ("5", 0, None, [])


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


def test_nothing_went_anywhere(tmp_path: Path) -> None:
    (tmp_path / "Vault" / ".obsidian").mkdir(parents=True)
    where = ["--vault", str(tmp_path / "Vault"), "--index-dir", str(tmp_path / "index")]
    assert "No call to a server of language models is on record" in shown("--egress", *where)
    wrong = CliRunner().invoke(app, ["status", "Note", "--egress", *where])
    assert wrong.exit_code == 2


def test_the_status_names_the_model_and_what_was_sent(
    demo: tuple[Path, Path],
) -> None:
    vault, index = demo
    file = index / "egress.jsonl"
    try:
        call(EgressLog(index), "api.openai.com", ("a.md",)).end(status=200)
        chosen = {"llm.provider": "ollama", "llm.model": "llama3.2"}
        told = index_status(locate(vault, index_dir=index, overrides=chosen))
        assert told.llm is not None
        assert told.llm.model == "llama3.2"
        assert [host.host for host in told.egress] == ["api.openai.com"]
        said = shown("--vault", str(vault), "--index-dir", str(index))
        assert "1.0 kB to api.openai.com; the calls: notehop status --egress" in said
    finally:
        file.unlink(missing_ok=True)
        (index / "egress.lock").unlink(missing_ok=True)
