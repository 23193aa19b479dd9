"""What the API answers, and that every refusal is a problem detail."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.app.api.fake_vault import FakeVault
from tests.support.product import IndexMissing, ModelError, create_app, load_settings
from tests.support.tables import rows

HOME = "http://127.0.0.1:8765"

HERE = ("127.0.0.1", 50_000)
"""A client on this machine."""


def client_of(vault: FakeVault, **options: Any) -> TestClient:
    app = create_app(vault, **options)
    return TestClient(app, HOME, raise_server_exceptions=False, client=HERE)


@pytest.fixture
def vault() -> FakeVault:
    return FakeVault()


@pytest.fixture
def client(vault: FakeVault) -> Iterator[TestClient]:
    with client_of(vault) as client:
        yield client


def problem(response: httpx.Response, status: int) -> dict[str, Any]:
    """The problem in a refusal, checked for what all of them have."""
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    told: dict[str, Any] = response.json()
    assert told["status"] == status
    assert told["title"]
    assert told["type"]
    assert told["detail"]
    return told


def test_the_status_tells_others_no_path_of_this_machine(vault: FakeVault) -> None:
    app = create_app(vault)
    with TestClient(app, HOME, client=("192.168.1.9", 50_000)) as client:
        told = client.get("/status")
    assert told.json()["generation"] == 7
    assert told.json()["notes"] == {"indexed": 1}
    for secret in ("/notes", "/index", "notehop.toml", "Secret", "pid"):
        assert secret not in told.text


def test_health(client: TestClient, vault: FakeVault) -> None:
    vault.warmed.wait(10)
    told = client.get("/health").json()
    assert told.pop("version")
    assert told == {"live": True, "ready": True, "vault": "My vault", "generation": 7}


def test_a_vault_that_cannot_be_warmed_up_is_served_and_not_ready(caplog: pytest.LogCaptureFixture) -> None:
    class Cold(FakeVault):
        def warm(self) -> None:
            self.warmed.set()
            raise ModelError("the model is gone")

    vault = Cold()
    with client_of(vault) as client:
        vault.warmed.wait(10)
        told = client.get("/health/ready")
        assert (told.status_code, told.json()["ready"]) == (503, False)
        assert client.get("/health/live").status_code == 200
        vault.ready = True
        assert client.get("/health/ready").status_code == 200
    assert "the model is gone" in caplog.text


def test_a_first_index_that_fails_at_first_is_waited_for(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.app.api.app.LOOK", 0.01)
    missing = [IndexMissing("it failed here")] * 2

    class Late(FakeVault):
        def warm(self) -> None:
            if missing:
                raise missing.pop()
            super().warm()

    vault = Late()
    with client_of(vault):
        assert vault.warmed.wait(10)
    assert caplog.text.count("it failed here") == 1


def test_the_vault_is_closed_at_the_end(vault: FakeVault) -> None:
    with client_of(vault):
        assert not vault.closed
    assert vault.closed


@pytest.mark.parametrize(("body", "at"), rows(__file__, "a_wrong_request_names_the_field"))
def test_a_wrong_request_names_the_field(client: TestClient, body: Any, at: str) -> None:
    sent = client.get(body) if isinstance(body, str) else client.post("/search", json=body)
    told = problem(sent, 422)
    assert [error["at"] for error in told["errors"]] == [at.partition(":")[0]]
    assert at in told["detail"]


def test_an_unforeseen_error_is_not_quoted() -> None:
    vault = FakeVault(RuntimeError("the password is swordfish"))
    with client_of(vault) as client:
        told = problem(client.post("/query", json={"query": "q"}), 500)
    assert "swordfish" not in json.dumps(told)


@pytest.mark.parametrize(("host", "status"), rows(__file__, "a_server_for_others_answers_to_addresses_too"))
def test_a_server_for_others_answers_to_addresses_too(vault: FakeVault, host: str, status: int) -> None:
    settings = load_settings(overrides={"server.host": "nas.local"}).server
    with client_of(vault, settings=settings) as client:
        assert client.get("/health", headers={"host": host}).status_code == status


def test_no_page_loads_scripts_from_elsewhere(client: TestClient) -> None:
    shown = client.get("/docs")
    assert shown.status_code == 200
    assert "<script" not in shown.text
    assert set(re.findall(r'(?:src|href)="([^#"][^"]*)"', shown.text)) == {
        *("/", "/openapi.json", "/static/icon.svg", "/static/page.css")
    }
    problem(client.get("/redoc"), 404)


def test_the_schema_asks_for_a_token_where_the_server_does(client: TestClient) -> None:
    assert client.get("/openapi.json").json()["security"] == [{}, {"HTTPBearer": []}]
    with client_of(FakeVault(), tokens=("a-token-of-more-than-16",)) as locked:
        headers = {"Authorization": "Bearer a-token-of-more-than-16"}
        told = locked.get("/openapi.json", headers=headers).json()
    assert told["security"] == [{"HTTPBearer": []}]


MANY = 300_000


@pytest.mark.parametrize(
    ("path", "make"),
    [
        ("/search", lambda: {"query": "x", "filters": {"tag": [1] * MANY}}),
        ("/search", lambda: {"query": "x", "filters": {"not": {"path": [1] * MANY}}}),
        ("/search", lambda: {"query": "x", "filters": {"properties": {"a": [[]] * MANY}}}),
        ("/search", lambda: {"query": "x", "filters": {"properties": {str(n): [] for n in range(MANY)}}}),
        ("/search", lambda: {"query": "x", **{f"k{n}": 1 for n in range(MANY)}}),
        ("/search", lambda: {"query": "x", "k" * 1_000_000: 1}),
        ("/search", lambda: {"query": "x", "filters": {f"k{n}": 1 for n in range(90)}}),
        ("/embed", lambda: {"texts": [1] * MANY}),
        ("/capture", lambda: {"text": "x", "tags": [1] * MANY}),
        ("/graph/browse", lambda: {"seeds": [1] * MANY}),
    ],
    ids=lambda x: x if isinstance(x, str) else "body",
)
def test_of_much_that_is_wrong_little_is_told(client: TestClient, path: str, make: Callable[[], Any]) -> None:
    """Nor looked at: each value would be told by itself."""
    told = client.post(path, json=make())
    assert told.status_code == 422
    assert len(told.content) < 10_000
    assert len(told.json()["errors"]) <= 10
