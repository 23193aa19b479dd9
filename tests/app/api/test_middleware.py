"""Who may ask, and what every reply carries; the hostile forms are in the table."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.app.api.fake_vault import FakeVault
from tests.app.api.hostile_table import TOKEN
from tests.support.product import (
    CaptureFailed,
    CaptureFolder,
    NotehopError,
    OneLine,
    QueryError,
    ServerSettings,
    UsageError,
    VaultError,
    create_app,
    is_loopback,
    load_settings,
)
from tests.support.tables import rows

HOME = "http://127.0.0.1:8765"
OBSIDIAN = "app://obsidian.md"


def settings(**overrides: Any) -> ServerSettings:
    return load_settings(overrides={f"server.{k}": v for k, v in overrides.items()}).server


def client_at(address: str, app: Any) -> TestClient:
    return TestClient(app, HOME, raise_server_exceptions=False, client=(address, 50_000))


@pytest.fixture
def locked() -> Iterator[TestClient]:
    app = create_app(FakeVault(), settings(), tokens=("the ticket", TOKEN))
    with client_at("127.0.0.1", app) as client:
        yield client


@pytest.mark.parametrize("token", [TOKEN, "the ticket"])
@pytest.mark.parametrize("path", ["/status", "/notes/Atlas.md", "/graph"])
def test_either_token_lets_in(locked: TestClient, path: str, token: str) -> None:
    assert locked.get(path).status_code == 401
    headers = {"Authorization": f"bearer {token}"}
    assert locked.get(path, headers=headers).status_code == 200


def test_health_tells_those_without_a_token_nothing_of_the_vault(locked: TestClient) -> None:
    for path in ("/health", "/health/live", "/health/ready"):
        assert set(locked.get(path).json()) == {"live", "ready"}
    told = locked.get("/health", headers={"Authorization": f"Bearer {TOKEN}"}).json()
    assert told["vault"] == "My vault"


def test_a_link_elsewhere_may_lead_to_the_page() -> None:
    from fastapi import APIRouter

    page = APIRouter()
    page.add_api_route("/", lambda: "the page")
    app = create_app(FakeVault(), routers=(page,))
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    with client_at("127.0.0.1", app) as client:
        assert client.get("/", headers=headers).json() == "the page"
        assert client.post("/", headers=headers).status_code == 403


def test_the_app_may_frame_the_side_pane_and_nothing_else() -> None:
    from fastapi import APIRouter

    page = APIRouter()
    for path in ("/", "/pane"):
        page.add_api_route(path, lambda: "the page")
    app = create_app(FakeVault(), routers=(page,), tokens=(TOKEN,))
    framed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
    with client_at("127.0.0.1", app) as client:
        told = client.get("/pane", headers=framed)
        assert told.json() == "the page"
        assert told.headers["content-security-policy"].endswith(f"frame-ancestors {OBSIDIAN}")
        assert "x-frame-options" not in told.headers
        assert client.get("/", headers=framed).status_code == 403
        refused = {**framed, "Sec-Fetch-Dest": "document"}
        assert client.get("/pane", headers=refused).status_code == 403
        assert client.post("/pane", headers=framed).status_code == 403
        page_headers = client.get("/").headers
        assert page_headers["content-security-policy"].endswith("frame-ancestors 'none'")
        assert page_headers["x-frame-options"] == "DENY"

        by_app = {"Origin": OBSIDIAN}
        assert client.get("/health", headers=by_app).json()["live"]
        assert client.get("/status", headers=by_app).status_code == 403
        assert client.post("/health", headers=by_app).status_code == 403
        others = {"Origin": "app://obsidian.md.example.com"}
        assert client.get("/health", headers=others).status_code == 403


@pytest.mark.parametrize(("host", "here"), rows(__file__, "what_is_this_machine"))
def test_what_is_this_machine(host: str, here: bool) -> None:
    assert is_loopback(host) is here


def test_the_log_names_requests_and_tells_nothing_private(caplog: pytest.LogCaptureFixture) -> None:
    with (
        caplog.at_level(logging.DEBUG),
        client_at("127.0.0.1", create_app(FakeVault(), tokens=(TOKEN,))) as client,
    ):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        client.post("/query", json={"query": "swordfish"}, headers=headers)
        client.get("/notes/people/Priya%201-1.md?section=swordfish", headers=headers)
        client.get("/status?token=swordfish")
    told = [one.getMessage() for one in caplog.records if one.name.endswith("api.requests")]
    assert [one.partition(" ms=")[0] for one in told] == [
        "method=POST route=/query status=200",
        "method=GET route=/notes/{path:path} status=200",
        "method=GET route=none status=401",
    ]
    # The client of the test logs what it asks; it is no part of the server.
    ours = [record for record in caplog.records if not record.name.startswith("httpx")]
    lines = [OneLine().format(record) for record in ours]
    assert not any(word in line for line in lines for word in ("swordfish", "Priya", TOKEN))


@pytest.mark.parametrize("header", ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Proto"])
def test_what_a_proxy_hands_on_is_not_from_here(header: str) -> None:
    with client_at("127.0.0.1", create_app(FakeVault())) as client:
        assert not client.get("/status", headers={header: "192.0.2.9"}).json()["index_dir"]


@pytest.mark.parametrize(
    ("error", "status", "kind", "told_elsewhere"),
    [
        (VaultError("/home/mia/Notes: there is no such folder"), 503, "vault", False),
        (CaptureFolder("/home/mia/Notes/In: no folder"), 409, "capture-folder", False),
        (CaptureFailed("/home/mia/Notes/In: no room"), 500, "capture", False),
        (UsageError("a.md: no note of /home/mia/Notes"), 400, "usage", False),
        (UsageError("Atlas: 2 notes: a/Atlas.md, b/Atlas.md"), 400, "usage", True),
        (QueryError("the query is too long"), 422, "query", True),
    ],
)
def test_paths_of_this_machine_are_not_for_others(
    error: NotehopError, status: int, kind: str, told_elsewhere: bool
) -> None:
    app = create_app(FakeVault(error))
    body = {"query": "q"}
    with client_at("127.0.0.1", app) as client:
        here = client.post("/search", json=body)
    with client_at("192.168.1.9", create_app(FakeVault(error))) as client:
        there = client.post("/search", json=body)
    assert (here.status_code, there.status_code) == (status, status)
    assert here.json()["detail"] == str(error)
    assert there.json()["type"] == f"urn:notehop:problem:{kind}"
    assert (there.json()["detail"] == str(error)) is told_elsewhere
    assert "mia" not in there.text
