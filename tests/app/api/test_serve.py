"""The port is taken before anything slow happens, and a taken one is said."""

from __future__ import annotations

import socket

import pytest

from app.api.serve import listen, url_of
from config.errors import NotehopError, UsageError


def test_a_free_port() -> None:
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert url_of(listening, "127.0.0.1") == f"http://127.0.0.1:{port}"
        assert url_of(listening, "::1") == f"http://[::1]:{port}"


def test_a_taken_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(NotehopError, match=f"port {port} .* --port") as caught:
            listen("127.0.0.1", port)
    assert not isinstance(caught.value, UsageError)


@pytest.mark.parametrize("host", ["203.0.113.7", "no such host"])
def test_an_address_that_is_not_ours(host: str) -> None:
    with pytest.raises(UsageError, match="--host"):
        listen(host, 0)
