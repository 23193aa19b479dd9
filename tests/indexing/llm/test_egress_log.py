"""The egress log: what stands in it, and what becomes of it when things go wrong."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.indexing.llm.conftest import lines
from tests.support.product import FORMER, NAME, EgressLog, egress


def begin(log: EgressLog, **changed: Any) -> egress.Attempt:
    told: dict[str, Any] = {
        "host": "model.test",
        "local": False,
        "provider": "openai",
        "model": "m",
        "purpose": "answer",
        "notes": ("a.md",),
        "bytes_out": 10,
        "attempt": 1,
    }
    return log.begin(**{**told, **changed})


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_only_its_user_can_read_it(tmp_path: Path) -> None:
    begin(EgressLog(tmp_path)).end()
    assert stat.S_IMODE((tmp_path / NAME).stat().st_mode) == 0o600


def test_a_line_that_a_crash_left_half_spoils_no_other(tmp_path: Path) -> None:
    log = EgressLog(tmp_path)
    begin(log, host="one.test")
    with (tmp_path / NAME).open("ab") as stream:
        stream.write(b'{"id":"x","host":"ha')
    begin(log, host="two.test")
    assert [line["host"] for line in log.lines()] == ["one.test", "two.test"]
    assert (tmp_path / NAME).read_bytes().count(b"\n") == 3


def test_it_does_not_grow_without_end(tmp_path: Path) -> None:
    log = EgressLog(tmp_path, largest=2_000)
    for number in range(60):
        begin(log, host=f"host-{number}.test").end(status=200)
    assert {path.name for path in tmp_path.glob("*.jsonl")} == {NAME, FORMER}
    assert sum(path.stat().st_size for path in tmp_path.glob("*.jsonl")) <= 4_000
    hosts = [line["host"] for line in log.lines() if "host" in line]
    assert hosts[-1] == "host-59.test"
    assert hosts == [f"host-{number}.test" for number in range(60 - len(hosts), 60)]


def test_what_is_known_of_a_host(tmp_path: Path) -> None:
    log = EgressLog(tmp_path)
    begin(log)
    begin(log, host="here.test", local=True)
    assert log.knows("model.test", "answer")
    assert not log.knows("model.test", "summary")
    assert not log.knows("here.test", "answer")
    assert not EgressLog(tmp_path / "none").knows("model.test", "answer")


def test_no_name_of_a_note_hides_its_call(tmp_path: Path) -> None:
    name = "a\u2028b\x85c\u2029\x1c\r.md"
    log = EgressLog(tmp_path)
    begin(log, notes=(name,)).end(status=200)
    begun, ended = lines(tmp_path)
    assert (begun["notes"], ended["status"]) == ([name], 200)
    assert log.knows("model.test", "answer")
