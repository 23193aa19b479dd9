"""The files of the page, and what it asks for beside the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.app.web.test_hostile_text import note
from tests.support.product import NoteView, assets, routes


class Notes:
    """One note."""

    name = "My vault"
    asked: tuple[str, str | None] | None = None

    def note(
        self,
        path_or_name: str,
        *,
        section: str | None = None,
        mentions: bool = True,  # noqa: ARG002
    ) -> NoteView:
        self.asked = (path_or_name, section)
        return note("# Hello\n[[#Hello]] <script>")


async def at_once(work: Callable[[], str]) -> str:
    """Do what blocks where it stands."""
    return work()


@pytest.fixture
def vault() -> Notes:
    return Notes()


@pytest.fixture
def client(vault: Notes) -> Iterator[TestClient]:
    app = FastAPI()
    app.include_router(routes(vault, at_once))
    with TestClient(app) as found:
        yield found


def test_the_page_names_files_that_there_are(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    named = [part.split('"')[0] for part in page.text.split('="/static/')[1:]]
    assert len(named) > 5
    for name in named:
        assert client.get(f"/static/{name}").status_code == 200


def test_nothing_of_the_page_comes_from_elsewhere() -> None:
    """No inline script or style, no other host, in any of its files."""
    for name, asset in assets().items():
        text = asset.content.decode()
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", ""), name
        assert "https://" not in text, name
        if name.endswith(".html"):
            assert "<style" not in text
            assert " style=" not in text
            assert "onclick" not in text
            assert text.count("<script") == text.count("<script src=") + text.count(
                '<script type="module" src='
            )
        if name.endswith(".css"):
            assert "@import" not in text
            assert "url(" not in text


def test_one_place_takes_html() -> None:
    """What the server has sanitised goes in through one function."""
    sinks = ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(")
    found = [
        (name, sink)
        for name, asset in assets().items()
        if name.endswith(".js")
        for sink in sinks
        if sink in asset.content.decode()
    ]
    assert found == [("dom.js", "innerHTML")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("app.js", "text/javascript"), ("page.css", "text/css"), ("icon.svg", "image/svg+xml")],
)
def test_a_file(client: TestClient, name: str, kind: str) -> None:
    first = client.get(f"/static/{name}")
    assert first.headers["content-type"].startswith(kind)
    again = client.get(f"/static/{name}", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "path",
    [
        "/static/",
        "/static/nothing.js",
        "/static/../assets.py",
        "/static/..%2Fassets.py",
        "/static/%2e%2e%2fassets.py",
        "/static/..%5Cassets.py",
        "/static//etc/passwd",
        "/static/%2Fetc%2Fpasswd",
        "/static/app.js%00",
        "/static/App.JS",
        "/static/__init__.py",
    ],
)
def test_no_other_file(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_note_to_read(client: TestClient, vault: Notes) -> None:
    reply = client.get("/web/notes/Folder/A%20note.md", params={"section": "Hello"})
    assert vault.asked == ("Folder/A note.md", "Hello")
    told = reply.json()
    assert told["vault"] == "My vault"
    assert told["note"]["title"] == "Note"
    assert '<h3 data-line="1" data-end="1">Hello</h3>' in told["html"]
    assert "&lt;script&gt;" in told["html"]
    assert told["cut"] is False


def test_texts_to_show(client: TestClient) -> None:
    body = {"answer": "Yes [1].", "snippets": ["a gate", "<b>"], "query": "gates"}
    told = client.post("/web/render", json=body).json()
    assert 'href="#cite-1"' in told["answer"]
    assert told["snippets"] == ["<p>a <mark>gate</mark></p>\n", "<p>&lt;b&gt;</p>\n"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"snippets": ["x"] * 121}, id="too-many"),
        pytest.param({"snippets": ["x" * 100_001]}, id="too-long"),
        pytest.param({"html": "<b>"}, id="unknown"),
        pytest.param({"snippets": "x"}, id="no-list"),
    ],
)
def test_texts_that_are_refused(client: TestClient, body: dict[str, object]) -> None:
    assert client.post("/web/render", json=body).status_code == 422


def test_what_takes_the_page_long_waits_in_its_turn(vault: Notes) -> None:
    done = []

    async def counted(work: Callable[[], str]) -> str:
        done.append(work)
        return work()

    app = FastAPI()
    app.include_router(routes(vault, counted))
    with TestClient(app) as client:
        assert client.get("/web/notes/A%20note.md").status_code == 200
        assert client.post("/web/render", json={"snippets": ["a"]}).json()["snippets"]
        assert client.post("/web/render", json={"answer": "a" * 60_001}).status_code == 422
    assert len(done) == 2
