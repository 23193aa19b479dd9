"""What the API answers, and that every refusal is a problem detail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient

from tests.app.api.fake_vault import STATUS, FakeVault
from tests.support.product import (
    MAX_BODY,
    IndexMissing,
    IndexStatus,
    ModelError,
    NotehopError,
    SearchResult,
    create_app,
    load_settings,
)

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


def test_query(client: TestClient, vault: FakeVault) -> None:
    body = {"query": "When?", "top_k": 3, "connected": {"max": 1, "order": "rank"}}
    response = client.post("/query", json=body)
    assert response.status_code == 200
    assert response.json()["answer"] == "When?"
    assert response.json()["generation"] == 7
    [asked] = vault.asked
    assert (asked.top_k, asked.connected.max, asked.connected.order) == (3, 1, "rank")


def test_search(client: TestClient) -> None:
    response = client.post("/search", json={"query": "When?", "results": "notes"})
    assert response.status_code == 200
    assert response.json()["hits"] == []


def test_queries_run_in_threads(client: TestClient, vault: FakeVault) -> None:
    client.post("/query", json={"query": "When?"})
    assert vault.threads.isdisjoint({"MainThread"})
    assert all(name.startswith("notehop-answer") for name in vault.threads)


def test_status(client: TestClient) -> None:
    response = client.get("/status")
    assert response.status_code == 200
    told = IndexStatus.model_validate_json(response.content)
    assert told == STATUS.model_copy(update={"skipped": []})


def test_the_status_tells_others_no_path_of_this_machine(vault: FakeVault) -> None:
    app = create_app(vault)
    with TestClient(app, HOME, client=("192.168.1.9", 50_000)) as client:
        told = client.get("/status")
    assert told.json()["generation"] == 7
    assert told.json()["notes"] == {"indexed": 1}
    for secret in ("/notes", "/index", "notehop.toml", "Secret", "pid"):
        assert secret not in told.text


def test_the_status_of_an_index_that_is_gone() -> None:
    fails = IndexMissing("/index: no index yet; run: notehop index")
    with client_of(FakeVault(fails)) as client:
        told = problem(client.get("/status"), 503)
    assert told["type"] == "urn:notehop:problem:index-missing"
    assert "notehop index" in told["detail"]


def test_health(client: TestClient, vault: FakeVault) -> None:
    vault.warmed.wait(10)
    told = client.get("/health").json()
    assert told.pop("version")
    assert told == {"live": True, "ready": True, "vault": "My vault", "generation": 7}


def test_health_proves_which_server_it_is_to_who_asks(vault: FakeVault) -> None:
    challenge = "0" * 32
    with client_of(vault, prove=lambda text: text[::-1] + "!") as client:
        told = client.get("/health", params={"challenge": challenge}).json()
        assert told["proof"] == challenge + "!"
        assert "proof" not in client.get("/health").json()
        problem(client.get("/health", params={"challenge": "x" * 1_000}), 422)
    with client_of(FakeVault()) as client:
        assert "proof" not in client.get("/health", params={"challenge": challenge}).json()


def test_a_vault_that_cannot_be_warmed_up_is_served_and_not_ready(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Cold(FakeVault):
        def warm(self) -> None:
            self.warmed.set()
            raise ModelError("the model is gone")

    vault = Cold()
    with client_of(vault) as client:
        vault.warmed.wait(10)
        assert client.get("/health").json()["ready"] is False
    assert "the model is gone" in caplog.text


def test_the_vault_is_closed_at_the_end(vault: FakeVault) -> None:
    with client_of(vault):
        assert not vault.closed
    assert vault.closed


@pytest.mark.parametrize(
    ("body", "at"),
    [
        pytest.param({}, "query", id="missing"),
        pytest.param({"query": 5}, "query", id="wrong-type"),
        pytest.param({"query": "q", "top_k": 0}, "top_k", id="out-of-range"),
        pytest.param({"query": "q", "top_k": "many"}, "top_k", id="not-a-number"),
        pytest.param({"query": "q", "top_k": "5"}, "top_k", id="number-as-text"),
        pytest.param({"query": "q", "top_k": True}, "top_k", id="true-as-number"),
        pytest.param({"query": "q", "explain": "yes"}, "explain", id="text-as-bool"),
        pytest.param({"query": "q", "explain": 1}, "explain", id="number-as-bool"),
        pytest.param({"query": "q", "connected": {"max": "1"}}, "connected.max", id="nested-text"),
        pytest.param({"query": "q", "colour": 1}, "colour", id="unknown-key"),
        pytest.param({"query": "q", "connected": {"max": 99}}, "connected.max", id="nested"),
        pytest.param({"query": "q", "results": "pages"}, "results", id="unknown-choice"),
        pytest.param([], "body", id="no-object"),
    ],
)
def test_a_wrong_request_names_the_field(client: TestClient, body: Any, at: str) -> None:
    told = problem(client.post("/search", json=body), 422)
    assert [error["at"] for error in told["errors"]] == [at]
    assert at in told["detail"]


def test_a_refusal_does_not_repeat_what_was_sent(client: TestClient) -> None:
    sent = "x" * 5_000
    response = client.post("/query", json={"query": "q", sent: 1, "top_k": sent})
    told = problem(response, 422)
    assert sent not in json.dumps([error["message"] for error in told["errors"]])


@pytest.mark.parametrize(
    ("content", "status"),
    [
        pytest.param(b"{not json", 400, id="no-json"),
        pytest.param(b"\xff\xfe", 400, id="no-text"),
        pytest.param(b"", 422, id="empty"),
    ],
)
def test_a_body_that_is_no_json(client: TestClient, content: bytes, status: int) -> None:
    headers = {"content-type": "application/json"}
    problem(client.post("/query", content=content, headers=headers), status)


@pytest.mark.parametrize("path", ["/query", "/search"])
@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "json"])
def test_a_body_that_does_not_say_it_is_json(
    client: TestClient, vault: FakeVault, path: str, kind: str | None
) -> None:
    """A page elsewhere can send forms and plain text without asking the browser; not JSON."""
    headers = {} if kind is None else {"content-type": kind}
    told = problem(client.post(path, content=json.dumps({"query": "q"}), headers=headers), 415)
    assert told["detail"] == "send Content-Type: application/json"
    assert vault.asked == []


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_a_body_that_says_it_is_json(client: TestClient, vault: FakeVault, kind: str) -> None:
    content = json.dumps({"query": "q"})
    client.post("/query", content=content, headers={"content-type": kind})
    assert [asked.query for asked in vault.asked] == ["q"]


def test_a_large_body_is_refused(client: TestClient, vault: FakeVault) -> None:
    told = problem(client.post("/query", json={"query": "x" * MAX_BODY}), 413)
    assert "4,000,000 bytes" in told["detail"]
    assert vault.asked == []


def test_a_large_body_in_pieces_is_refused(client: TestClient) -> None:
    pieces = (b"x" * 100_000 for _ in range(60))
    headers = {"content-type": "application/json"}
    problem(client.post("/query", content=pieces, headers=headers), 413)


def test_no_such_place(client: TestClient) -> None:
    assert "/nowhere" in problem(client.get("/nowhere"), 404)["detail"]


def test_a_wrong_method(client: TestClient) -> None:
    response = client.get("/query")
    assert "POST" in problem(response, 405)["detail"]
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        pytest.param(
            IndexMissing("no index; run: notehop index"), 503, "index-missing", id="index"
        ),
        pytest.param(ModelError("no model"), 503, "model", id="model"),
        pytest.param(NotehopError("something"), 500, None, id="other"),
    ],
)
def test_our_errors(error: Exception, status: int, kind: str | None) -> None:
    with client_of(FakeVault(error)) as client:
        told = problem(client.post("/query", json={"query": "q"}), status)
    assert told["type"] == (f"urn:notehop:problem:{kind}" if kind else "about:blank")
    assert told["detail"] == str(error)


def test_an_empty_query(client: TestClient) -> None:
    told = problem(client.post("/query", json={"query": ""}), 422)
    assert told["type"] == "urn:notehop:problem:query"


def test_an_unforeseen_error_is_not_quoted() -> None:
    vault = FakeVault(RuntimeError("the password is swordfish"))
    with client_of(vault) as client:
        told = problem(client.post("/query", json={"query": "q"}), 500)
    assert "swordfish" not in json.dumps(told)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("127.0.0.1:8765", 200, id="address"),
        pytest.param("localhost", 200, id="name"),
        pytest.param("LOCALHOST:1", 200, id="case"),
        pytest.param("[::1]:8765", 200, id="ipv6"),
        pytest.param("evil.example", 421, id="rebound-name"),
        pytest.param("evil.example:8765", 421, id="rebound-name-and-port"),
        pytest.param("127.0.0.1.evil.example", 421, id="prefix"),
        pytest.param("192.168.1.5", 421, id="other-address"),
        pytest.param("", 421, id="empty"),
    ],
)
def test_only_our_own_names_are_answered(client: TestClient, host: str, status: int) -> None:
    response = client.get("/health", headers={"host": host})
    if status == 200:
        assert response.status_code == 200
    else:
        problem(response, status)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        pytest.param("192.168.1.5:8765", 200, id="address"),
        pytest.param("nas.local", 200, id="bound-name"),
        pytest.param("evil.example", 421, id="rebound-name"),
    ],
)
def test_a_server_for_others_answers_to_addresses_too(
    vault: FakeVault, host: str, status: int
) -> None:
    settings = load_settings(overrides={"server.host": "nas.local"}).server
    with client_of(vault, settings=settings) as client:
        assert client.get("/health", headers={"host": host}).status_code == status


def test_the_schema_shows_examples_and_problems(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    assert set(schema["paths"]) == {
        "/query",
        "/ask",
        "/query/stream",
        "/search",
        "/themes",
        "/graph",
        "/graph/browse",
        "/capture",
        "/embed",
        "/notes/{path}",
        "/status",
        "/health",
        "/health/live",
        "/health/ready",
    }
    query = schema["paths"]["/query"]["post"]
    assert query["requestBody"]["content"]["application/json"]["examples"]
    assert list(query["responses"]["422"]["content"]) == ["application/problem+json"]
    assert "HTTPValidationError" not in schema["components"]["schemas"]


def test_no_page_loads_scripts_from_elsewhere(client: TestClient) -> None:
    shown = client.get("/docs")
    assert shown.status_code == 200
    assert "<script" not in shown.text
    assert set(re.findall(r'(?:src|href)="([^#"][^"]*)"', shown.text)) == {
        *("/", "/openapi.json", "/static/icon.svg"),
        *(f"/static/{name}.css" for name in ("tokens", "page", "prose")),
    }
    problem(client.get("/redoc"), 404)


def test_the_page_of_the_schema_shows_every_route_and_example(client: TestClient) -> None:
    schema, shown = client.get("/openapi.json").json(), unescape(client.get("/docs").text)
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert f"{method.upper()} {path}</code>" in shown
            assert operation["summary"] in shown
    assert f"curl -s {HOME}/query -H" in shown
    links = set(re.findall(r'href="#([^"]+)"', shown))
    assert {"schema-Answer", "schema-Problem"} <= links
    assert links <= set(re.findall(r'id="([^"]+)"', shown))


def test_hits_have_their_path_under_two_names() -> None:
    hit = SearchResult.model_json_schema()["$defs"]["Hit"]
    assert {"file", "path", "heading", "text", "score", "lines"} <= set(hit["required"])


def test_browse(client: TestClient, vault: FakeVault) -> None:
    body = {"seeds": ["Atlas"], "depth": 2, "rank": "edges"}
    assert client.post("/graph/browse", json=body).json()["total"] == 0
    [asked] = vault.browsed
    assert (asked.seeds, asked.depth, asked.rank) == (["Atlas"], 2, "edges")


def test_a_note(client: TestClient, vault: FakeVault) -> None:
    told = client.get("/notes/people/Priya%201-1.md", params={"section": "Plan", "mentions": "no"})
    assert told.json()["path"] == "people/Priya 1-1.md"
    assert vault.read == [("people/Priya 1-1.md", "Plan", False)]


def test_a_note_that_is_not_there(client: TestClient) -> None:
    told = problem(client.get("/notes/Nowhere.md"), 404)
    assert told["type"] == "urn:notehop:problem:note-missing"


def test_graph(client: TestClient, vault: FakeVault) -> None:
    assert client.get("/graph").json()["nodes"] == []
    client.get("/graph", params={"around": ["a", "b/c.md"], "depth": 2, "most": 5})
    assert vault.drawn == [([], 1, 60), (["a", "b/c.md"], 2, 5)]


def test_capture(client: TestClient, vault: FakeVault) -> None:
    told = client.post("/capture", json={"text": "A thought.", "tags": ["x"]})
    assert (told.status_code, told.json()["filename"]) == (201, "Inbox/note.md")
    assert [(one.text, one.tags) for one in vault.captured] == [("A thought.", ["x"])]


def test_embed(client: TestClient) -> None:
    assert client.post("/embed", json={"texts": ["a", "b"]}).json()["vectors"] == [[1.0], [1.0]]


def test_every_operation_has_a_name_and_every_body_examples(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    operations = [one for path in schema["paths"].values() for one in path.values()]
    names = [one["operationId"] for one in operations]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalpha() for name in names)
    for one in operations:
        for body in one.get("requestBody", {}).get("content", {}).values():
            assert body["examples"], one["operationId"]


def test_the_examples_are_answered(client: TestClient) -> None:
    schema = client.get("/openapi.json").json()
    for path, operations in schema["paths"].items():
        body = operations.get("post", {}).get("requestBody", {}).get("content", {})
        for example in body.get("application/json", {}).get("examples", {}).values():
            response = client.post(path, json=example["value"])
            # The vault of these tests knows no query of filters alone.
            alone = example["value"].get("query") == ""
            assert response.status_code in ((422,) if alone else (200, 201)), example


MANY = 300_000


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/search", {"query": "x", "filters": {"tag": [1] * MANY}}),
        ("/search", {"query": "x", "filters": {"not": {"path": [1] * MANY}}}),
        ("/search", {"query": "x", "filters": {"properties": {"a": [[]] * MANY}}}),
        ("/search", {"query": "x", "filters": {"properties": {str(n): [] for n in range(MANY)}}}),
        ("/search", {"query": "x", **{f"k{n}": 1 for n in range(MANY)}}),
        ("/search", {"query": "x", "k" * 1_000_000: 1}),
        ("/search", {"query": "x", "filters": {f"k{n}": 1 for n in range(90)}}),
        ("/embed", {"texts": [1] * MANY}),
        ("/capture", {"text": "x", "tags": [1] * MANY}),
        ("/graph/browse", {"seeds": [1] * MANY}),
    ],
    ids=lambda x: x if isinstance(x, str) else "body",
)
def test_of_much_that_is_wrong_little_is_told(client: TestClient, path: str, body: Any) -> None:
    """Nor looked at: each value would be told by itself."""
    told = client.post(path, json=body)
    assert told.status_code == 422
    assert len(told.content) < 10_000
    assert len(told.json()["errors"]) <= 10
