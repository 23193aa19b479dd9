"""The state of an index, of the language model and of what went where; changes counted beside queries."""

import json
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support import commands, product
from tests.support.commands import options, printed
from tests.support.notes import built, write_notes

pytestmark = pytest.mark.model


def test_a_first_run_that_kept_nothing_is_no_index(vault: Path, tmp_path: Path) -> None:
    place = product.locate(vault, index_dir=tmp_path / "ix")
    place.layout.create(vault)
    place.layout.catalog.parent.mkdir(parents=True, exist_ok=True)
    product.Catalog.open(place.layout.catalog, create=True).close()
    with pytest.raises(product.IndexMissing, match="nothing is indexed yet; run: notehop index"):
        product.index_status(place)


def test_age(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    with product.Catalog.open(place.layout.catalog) as catalog:
        catalog.commit(product.Batch(meta={"written": time.time() - 3_700}))
    told = product.index_status(place)
    assert 3_600 < told.age < 4_000
    product.show_status(told.model_copy(update={"chroma_generation": 1}))
    shown = capsys.readouterr().out
    assert ", 1 hour ago, generation 2\n" in shown
    assert "notehop.toml, not there yet\n" in shown
    assert "a copy for other programs, generation 1; run: notehop index\n" in shown


def test_who_makes_the_first_index(tmp_path: Path) -> None:
    place = product.locate(write_notes(tmp_path / "Notes", {"A.md": "x"}), index_dir=tmp_path / "ix")
    with (
        product.WriterLock(place.layout, "notehop index"),
        pytest.raises(product.BeingIndexed, match=r"first time by notehop index \(process"),
    ):
        product.index_status(place)
    with pytest.raises(product.IndexMissing, match="run: notehop index"):
        product.index_status(place)


@pytest.mark.parametrize(
    "words", ["suggest", "suggest A.md", "search Text", "ask Text", "links --format json"]
)
@pytest.mark.parametrize("part", [False, True], ids=["none yet", "a part"])
def test_commands_wait_for_the_first_index_of_a_server(words: str, part: bool, tmp_path: Path) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    if part:
        with product.Catalog.open(place.layout.catalog) as catalog:
            catalog.commit(product.Batch(meta={"under_way": True}))
        place.layout.catalog_state.unlink()  # what a run writes when it has come to its end
    else:
        place = product.locate(place.vault, index_dir=tmp_path / "none")
    watching = product.WatcherLock(place.layout, "notehop serve")
    watching.acquire()
    try:
        watching.write_state("indexing", "3 of 30 notes")
        found = commands.call(*words.split(), *options(place.vault, place.layout.root))
    finally:
        watching.release()
    assert (found.exit_code, found.stdout) == (1, "")
    assert "is being indexed for the first time (3 of 30 notes); ask again" in found.stderr


def test_who_follows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    (place.vault / "B.md").write_text("More.\n")
    watching = product.WatcherLock(place.layout, "notehop serve")
    watching.acquire()
    try:
        watching.write_state("following")
        told = product.index_status(place)
        product.show_status(told)
        shown = capsys.readouterr().out
        watching.write_state("held", "900 of 1,000 notes are gone")
        product.show_status(product.index_status(place))
        held = capsys.readouterr().out
    finally:
        watching.release()
    assert f"by notehop serve, process {os.getpid()}, since " in shown
    assert ": following\n" in shown
    # It takes the change in by itself; one that is held does not.
    assert "changed since: 1 to read\n" in shown
    assert "changed since: 1 to read; run: notehop index\n" in held
    assert "held: 900 of 1,000 notes are gone\n" in held


def test_a_run_that_failed_is_told_until_one_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = built(tmp_path, {"A.md": "Text.\n"})
    other = place.settings.with_overrides({"chunking.min_tokens": 5})
    with pytest.raises(product.IndexMismatch):
        product.update_index(replace(place, settings=other))
    told = product.index_status(place)
    assert "settings name min_tokens 5" in str(told.failure)
    # Neither is a run of this index.
    product.Indexer(place.vault, place.settings, place.layout).tidy()
    another = tmp_path / "another"
    another.mkdir()
    with pytest.raises(product.IndexMismatch, match="not of"):
        product.update_index(replace(place, vault=another))
    assert product.index_status(place).failure == told.failure
    assert product.seen(told, from_here=False).failure is None
    product.show_status(told)
    assert "  failed   the last run: " in capsys.readouterr().out
    product.update_index(place)
    assert product.index_status(place).failure is None


def test_settings_that_no_longer_fit_are_the_state(
    indexed: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    place = product.locate(indexed[0], index_dir=indexed[1], overrides={"chunking.max_tokens": 64})
    told = product.index_status(place)
    assert "settings name max_tokens 64" in told.problem
    product.show_status(told)
    shown = capsys.readouterr().out
    assert "up to date" not in shown
    assert told.problem in shown


def settings(provider: str, **more: Any) -> product.Settings:
    keys = {"model": "m", **more}
    named = {key if "." in key else f"llm.{key}": value for key, value in keys.items()}
    return product.load_settings(overrides={"llm.provider": provider, **named})


def call(log: product.EgressLog, host: str, notes: tuple[str, ...], **changed: Any) -> Any:
    told: dict[str, Any] = {
        "local": False,
        "provider": "openai",
        "model": "m",
        "purpose": "answer",
        "bytes_out": 1_000,
        "attempt": 1,
    }
    return log.begin(host=host, notes=notes, **{**told, **changed})


@pytest.fixture
def logged(tmp_path: Path) -> tuple[Path, Path]:
    """A vault that is not indexed, and a folder with a log of four calls."""
    vault, index = tmp_path / "Vault", tmp_path / "index"
    (vault / ".obsidian").mkdir(parents=True)
    index.mkdir()
    log = product.EgressLog(index)
    call(log, "127.0.0.1", ("a.md",), local=True, provider="ollama").end(status=200, bytes_in=9)
    call(log, "api.openai.com", ("a.md", "b.md")).end(status=503, bytes_in=20, error="server")
    call(log, "api.openai.com", ("a.md", "b.md"), attempt=2).end(status=200, bytes_in=300)
    call(log, "api.openai.com", tuple(f"{number}.md" for number in range(5)), purpose="summary")
    return vault, index


def test_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    now = product.language_model_now(settings("openai"))
    assert "OPENAI_API_KEY" in now.problem
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    now = product.language_model_now(settings("openai"))
    assert (now.host, now.local, now.allowed) == ("api.openai.com", False, False)
    assert 'allow_hosts = ["api.openai.com"]' in now.problem
    allowed = settings("openai", **{"privacy.allow_hosts": ["api.openai.com"]})
    now = product.language_model_now(allowed)
    assert (now.allowed, now.problem) == (True, None)
    assert "sk-secret" not in now.model_dump_json()


def test_what_went_where(logged: tuple[Path, Path]) -> None:
    vault, index = logged
    call(product.EgressLog(index), "api.anthropic.com", (), bytes_out=10)
    told = product.egress_report(product.locate(vault, index_dir=index))
    away, less, here = told.hosts
    assert (away.host, away.calls, away.failed) == ("api.openai.com", 3, 1)
    assert (away.bytes_out, away.bytes_in) == (3_000, 320)
    assert (here.host, here.local, here.calls, here.failed) == ("127.0.0.1", True, 1, 0)
    assert (less.host, less.bytes_out) == ("api.anthropic.com", 10)
    _, newest, second, failed, first = told.calls
    assert (newest.over, newest.purpose, newest.status) == (False, "summary", None)
    assert (second.over, second.status, second.attempt) == (True, 200, 2)
    assert (failed.error, failed.notes) == ("server", ["a.md", "b.md"])
    assert first.local


def test_a_person_is_told(logged: tuple[Path, Path]) -> None:
    vault, index = logged
    where = options(vault, index)
    said = printed("status", "--egress", *where)
    assert "api.openai.com  3 calls, 1 failed, 3.0 kB out, 0.3 kB in" in said
    assert "127.0.0.1 (this machine)  1 call" in said
    assert len(json.loads(printed("status", "--egress", "--json", *where))["calls"]) == 4


def test_a_count_under_way_is_dropped_when_the_index_moves() -> None:
    generation, go, ended = [1], threading.Event(), threading.Event()

    def tally() -> int:
        if generation[0] == 1:
            go.wait(10)
            ended.set()
            return 3
        return 0

    count = product.PendingCount(tally, state=lambda: generation[0])
    count.begin()
    [old] = [one for one in threading.enumerate() if one.name == "notehop-scan"]
    generation[0] = 2
    assert count.value() == 0
    go.set()
    old.join(10)
    assert ended.is_set()
    assert count.value() == 0


def test_a_slow_count_holds_nobody_up() -> None:
    go = threading.Event()

    def slow() -> int:
        go.wait(10)
        return 7

    count = product.PendingCount(slow, wait=0.01)
    count.begin()
    count.begin()
    assert count.value() is None
    [counting] = [one for one in threading.enumerate() if one.name == "notehop-scan"]
    go.set()
    counting.join(10)
    assert count.value() == 7
