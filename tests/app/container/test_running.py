"""A server says where it is, only to its own user, and proves that it is the one that said so."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.product import (
    Announcement,
    Place,
    Running,
    digest,
    locate,
    proof,
    read_running,
    running,
)

URL = "http://127.0.0.1:8765"


@pytest.fixture
def place(vault: Path, tmp_path: Path) -> Place:
    (tmp_path / "index").mkdir()
    return locate(vault, index_dir=tmp_path / "index")


def told(place: Place, url: str = URL) -> Running:
    Announcement(place).tell(url)
    found = read_running(place.layout)
    assert found is not None
    return found


def rewrite(place: Place, **changes: Any) -> None:
    says = json.loads(place.layout.server.read_text())
    place.layout.server.write_text(json.dumps({**says, **changes}))


def test_what_it_says(place: Place) -> None:
    found = told(place)
    assert (found.url, found.pid, found.settings) == (URL, os.getpid(), digest(place))
    assert len(found.token) == 64
    assert told(place).token != found.token
    assert [path.name for path in place.layout.root.iterdir()] == ["server.json"]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_only_its_user_can_read_it(place: Place) -> None:
    told(place)
    assert stat.S_IMODE(place.layout.server.stat().st_mode) == 0o600
    place.layout.server.chmod(0o644)
    assert read_running(place.layout) is None


@pytest.mark.parametrize(
    ("url", "reached"),
    [
        (URL, URL),
        ("http://0.0.0.0:80", "http://127.0.0.1:80"),
        ("http://[::]:80", "http://[::1]:80"),
        ("http://10.0.0.0:80", "http://10.0.0.0:80"),
    ],
)
def test_every_address_is_reached_by_loopback(place: Place, url: str, reached: str) -> None:
    assert told(place, url).url == reached


def test_it_is_gone_when_its_server_is(place: Place) -> None:
    with Announcement(place) as announced:
        announced.tell(URL)
        assert read_running(place.layout) is not None
    assert not place.layout.server.exists()


def test_the_file_of_a_later_server_stays(place: Place) -> None:
    with Announcement(place) as first:
        first.tell(URL)
        Announcement(place).tell("http://127.0.0.1:1")
    assert read_running(place.layout) is not None


def test_a_server_that_runs_still_is_found_again_when_a_later_one_ends(place: Place) -> None:
    first = told(place)
    with Announcement(place) as later:
        later.tell("http://127.0.0.1:1")
    assert read_running(place.layout) == first


def test_a_server_that_ended_meanwhile_is_not_told_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(place)
    with Announcement(place) as later:
        later.tell("http://127.0.0.1:1")
        monkeypatch.setattr(running, "_alive", lambda pid: pid != later_former(later))
        rewrite(place, pid=os.getppid())
    assert not place.layout.server.exists()


def later_former(later: Announcement) -> int:
    assert later._former is not None
    return later._former.pid


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path: Path, vault: Path) -> None:
    place = locate(vault, index_dir=tmp_path / "not there")
    with Announcement(place) as announced:
        announced.tell(URL)
        assert read_running(place.layout) is None


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"host": "another machine"}, id="other-machine"),
        pytest.param({"pid": 2**22 + 1}, id="ended"),
        pytest.param({"pid": 2**80}, id="no-process"),
        pytest.param({"pid": "1"}, id="text-for-number"),
        pytest.param({"url": None}, id="no-url"),
        pytest.param({"more": 1}, id="unknown-key"),
    ],
)
def test_a_file_that_names_no_server_of_ours(place: Place, changes: dict[str, Any]) -> None:
    told(place)
    rewrite(place, **changes)
    assert read_running(place.layout) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000])
def test_a_file_that_is_not_whole(place: Place, text: str) -> None:
    told(place)
    place.layout.server.write_text(text)
    assert read_running(place.layout) is None


def test_a_setting_that_can_change_a_reply_changes_the_digest(place: Place) -> None:
    def of(**overrides: Any) -> str:
        dotted = {key.replace("__", "."): value for key, value in overrides.items()}
        return digest(locate(place.vault, index_dir=place.layout.root, overrides=dotted))

    assert of() == digest(place)
    assert of(server__port=1) == of(watch__settle_ms=99) == of(vault__path="/x") == of()
    others = [
        of(connected__max=1),
        of(retrieval__top_k=9),
        of(lexical__b=0.5),
        of(answer__max_sentences=2),
        of(vault__exclude=["x"]),
        of(embedding__query_prompt="q"),
    ]
    assert len({of(), *others}) == len(others) + 1


def test_a_proof_is_of_one_token_challenge_vault_index_and_settings(
    place: Place, tmp_path: Path
) -> None:
    announced = Announcement(place)
    announced.tell(URL)
    found = read_running(place.layout)
    assert found is not None
    assert announced.prove("1") == proof(found.token, place, "1")
    other = tmp_path / "Other"
    other.mkdir()
    proofs = {
        proof("t", place, "1"),
        proof("u", place, "1"),
        proof("t", place, "2"),
        proof("t", locate(other, index_dir=place.layout.root), "1"),
        proof("t", locate(place.vault, index_dir=other), "1"),
        proof(
            "t",
            locate(place.vault, index_dir=place.layout.root, overrides={"connected.max": 1}),
            "1",
        ),
    }
    assert len(proofs) == 6
    assert not any(str(place.vault) in one for one in proofs)
