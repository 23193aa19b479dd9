"""The port is taken before anything slow happens, and a taken one is said."""

from __future__ import annotations

import socket

import pytest

from tests.app.api.fake_vault import FakeVault
from tests.support.product import PortTaken, UsageError, create_app, listen
from tests.support.serving import serving


def test_a_taken_port_names_the_next_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=r"another program; try --port \d+") as caught:
            listen("127.0.0.1", port)
    free = int(str(caught.value).rpartition(" ")[2])
    assert port < free <= port + 20


def test_a_port_that_notehop_has_is_said_to_be_its() -> None:
    ours = "notehop, which serves 'My vault'"
    with serving(create_app(FakeVault())) as port, pytest.raises(PortTaken, match=ours):
        listen("127.0.0.1", port)
    locked = create_app(FakeVault(), tokens=("0123456789abcdef",))
    with serving(locked) as port, pytest.raises(PortTaken, match="by another notehop;"):
        listen("127.0.0.1", port)


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host"])
def test_an_address_that_is_not_ours(host: str) -> None:
    with pytest.raises(UsageError, match="--host"):
        listen(host, 0)
