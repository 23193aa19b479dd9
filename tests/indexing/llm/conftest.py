"""The transport of one provider, and a client before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from tests.support.product import (
    EgressLog,
    Hosts,
    ProviderConfig,
    ProviderTransport,
    Resolve,
)

MakeGate = Callable[..., ProviderTransport]


@pytest.fixture
def make_gate(tmp_path: Path) -> MakeGate:
    """Makes a gate whose log is in the test's folder; retries wait for hundredths of a second."""

    def make(
        url: str,
        *,
        allow: tuple[str, ...] = (),
        resolve: Resolve | None = None,
        provider: str = "openai-compatible",
        retries: int = 2,
        timeout_s: float = 20,
        key: str | None = None,
        folder: Path = tmp_path,
    ) -> ProviderTransport:
        config = ProviderConfig(
            provider=provider,
            model="m",
            url=url,
            timeout_s=timeout_s,
            connect_timeout_s=5,
            retries=retries,
            first_pause=0.01,
            key=None if key is None else SecretStr(key),
        )
        return ProviderTransport(config, Hosts(allow, resolve), EgressLog(folder))

    return make


def post(gate: ProviderTransport, content: bytes = b"{}", **headers: str) -> httpx.Response:
    """Send one request through it, and read its answer."""
    with httpx.Client(transport=gate, trust_env=False) as client:
        return client.post(f"{gate.config.url}/chat", content=content, headers=headers)


def lines(folder: Path) -> list[dict[str, Any]]:
    return list(EgressLog(folder).lines())
