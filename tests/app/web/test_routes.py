"""The files of the page, and what it asks for beside the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.app.web.test_hostile_text import note
from tests.support.product import STATIC, NoteView, routes

TEXTS = {file.name: file.read_text(encoding="utf-8") for file in STATIC.iterdir()}


class Notes:
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
    for name, text in TEXTS.items():
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
        for name, text in TEXTS.items()
        if name.endswith(".js")
        for sink in sinks
        if sink in text
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
