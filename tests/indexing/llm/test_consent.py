"""Which hosts may get text, and that nothing goes to any other."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.llm.conftest import MakeGate, lines, post
from tests.support.product import Hosts, ProviderError, sending
from tests.support.product import consent_is_loopback as is_loopback
from tests.support.wire import reply, wire

OK = reply(200, {"text": "yes"})


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("127.0.0.1", True),
        ("127.8.9.10", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("192.168.1.2", False),
        ("169.254.169.254", False),
        ("::ffff:8.8.8.8", False),
        ("fe80::1%eth0", False),
        ("localhost", False),
    ],
)
def test_loopback_is_an_address_of_this_machine(address: str, here: bool) -> None:
    assert is_loopback(address) is here


@pytest.mark.parametrize(
    ("addresses", "here"),
    [
        pytest.param(["127.0.0.1"], True, id="one"),
        pytest.param(["::1", "127.0.1.1"], True, id="all"),
        pytest.param(["127.0.0.1", "93.184.216.34"], False, id="not-all"),
        pytest.param([], False, id="none"),
    ],
)
def test_a_name_is_here_if_all_it_leads_to_is(addresses: list[str], here: bool) -> None:
    assert bool(Hosts([], lambda host, port: addresses).local("box.test", 80)) is here  # noqa: ARG005


@pytest.mark.parametrize("allowed", ["test", "del.test", "x.model.test", "model.tes", "model_test"])
def test_a_part_of_a_name_allows_nothing(allowed: str, make_gate: MakeGate) -> None:
    gate = make_gate("http://model.test", allow=(allowed,), resolve=lambda *_: ["192.0.2.7"])
    with pytest.raises(ProviderError) as caught:
        post(gate)
    assert caught.value.kind == "consent"


def test_a_name_that_leads_elsewhere_a_moment_later_gets_nothing(
    make_gate: MakeGate, tmp_path: Path
) -> None:
    """The first look says this machine, the one at the time of the connection does not."""
    answers: Iterator[list[str]] = iter([["127.0.0.1"], ["192.0.2.7"]])
    gate = make_gate("http://model.test", resolve=lambda *_: next(answers), retries=0)
    with pytest.raises(ProviderError, match="does not lead to this machine any more") as caught:
        post(gate)
    assert caught.value.kind == "consent"
    assert lines(tmp_path)[-1]["error"] == "consent"


class Far:
    """A host that is told as far away, and reached here: first asked, then connected to."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, host: str, port: int) -> list[str]:
        assert (host, port > 0) == ("model.test", True)
        self.asked += 1
        return ["192.0.2.7"] if self.asked % 2 else ["127.0.0.1"]


def test_an_allowed_host_is_told_once_for_each_purpose(
    make_gate: MakeGate, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with wire(OK) as server:
        url = f"http://model.test:{server.port}"
        gate = make_gate(url, allow=("model.test",), resolve=Far())
        with sending(["a.md", "b.md"], purpose="answer") as first:
            post(gate)
        with sending(["a.md"], purpose="answer") as second:
            post(gate)
        with sending(["c.md"], purpose="summary") as other:
            post(gate)
        # Another process, which finds the log.
        with sending(["a.md"], purpose="answer") as later:
            post(make_gate(url, allow=("model.test",), resolve=Far()))
    assert [len(one.notices) for one in (first, second, other, later)] == [1, 0, 1, 0]
    assert "model.test" in first.notices[0]
    assert "the question, the passages" in first.notices[0]
    assert "the text of notes" in other.notices[0]
    assert [record.getMessage() for record in caplog.records] == [*first.notices, *other.notices]
    sent = [line for line in lines(tmp_path) if "host" in line]
    assert [(line["local"], line["notes"]) for line in sent[:2]] == [
        (False, ["a.md", "b.md"]),
        (False, ["a.md"]),
    ]


@pytest.mark.parametrize("key", [None, "sk-own"])
def test_plain_http_to_another_machine_is_told(
    make_gate: MakeGate, tmp_path: Path, key: str | None
) -> None:
    with wire(OK) as server, sending(["a.md"], purpose="answer") as sent:
        url = f"http://model.test:{server.port}"
        post(make_gate(url, allow=("model.test",), resolve=Far(), key=key))
        post(make_gate(server.url, key=key, folder=tmp_path / "here"))
    (notice,) = sent.notices
    assert "over plain http: whoever is on the way can read them" in notice
    assert ("and with them your key" in notice) is (key is not None)


def test_what_leaves_is_written_down_first_or_does_not_leave(
    make_gate: MakeGate, tmp_path: Path
) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("no folder")
    with wire(OK) as server:
        far = make_gate(
            f"http://model.test:{server.port}",
            allow=("model.test",),
            resolve=Far(),
            folder=nowhere,
        )
        with pytest.raises(ProviderError, match=r"cannot be written .* nothing is sent to model"):
            post(far)
        assert server.bodies == []
        # What stays here needs no record.
        assert post(make_gate(server.url, folder=nowhere)).status_code == 200
