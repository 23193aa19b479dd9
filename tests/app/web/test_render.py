"""The page: its routes, and Markdown as it is shown."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.app.api.fake_vault import FakeVault
from tests.app.web.test_hostile_text import note
from tests.support import product
from tests.support.tables import rows


def written(raw: str) -> str:
    found = product.parse_note("Note.md", raw.encode()).links
    return found[0].target if found else raw


def links(**named: str | None) -> list[product.NoteLink]:
    """Links of a note: as written -> path of what they lead to."""
    return [
        product.NoteLink(
            source="Folder/Note.md",
            line=1,
            raw=raw,
            written=written(raw),
            kind="link",
            status="resolved" if target else "unresolved",
            target=target,
            sentence="",
        )
        for raw, target in named.items()
    ]


def html(text: str, **named: str | None) -> str:
    """A note as HTML, without the places of its blocks."""
    view = note(text)
    found, cut = product.note_html(view.model_copy(update={"links": links(**named)}), "My vault")
    assert not cut
    return found


REL = 'rel="noopener noreferrer nofollow"'


@pytest.mark.parametrize(("text", "named", "expected"), rows(__file__, "a_note"))
def test_a_note(text: str, named: dict[str, str | None], expected: str) -> None:
    assert expected in html(text, **named)


@pytest.mark.parametrize(
    ("text", "shown"), [("- [x] a", "☑ a"), ("- [ ] a", "☐ a"), ("1. [/] a", "☑ a"), ("* [X] a", "☑ a")]
)
def test_a_task_says_whether_it_is_done(text: str, shown: str) -> None:
    found = html(text)
    assert '<li class="task"' in found
    assert f">{shown}</li>" in found


def test_a_callout() -> None:
    found = html("> [!Warning]- Mind *this*\n> and that\n")
    assert '<blockquote class="callout" data-kind="warning"' in found
    assert '<p class="callout-title"' in found
    assert ">Mind <em>this</em></p>\n<p>and that</p>" in found
    assert ">Tip</p>" in html("> [!tip]\n> x")


def test_a_note_that_is_too_long_is_cut() -> None:
    found, cut = product.note_html(note("a " * product.MOST), "V")
    assert cut
    assert len(found) < 2 * product.MOST


@pytest.mark.parametrize(
    ("query", "text", "expected"), rows(__file__, "words_that_were_asked_for_are_marked")
)
def test_words_that_were_asked_for_are_marked(query: str, text: str, expected: str) -> None:
    assert expected in product.snippets_html([text], query)[0]


def test_the_heading_of_a_snippet_is_left_to_the_card() -> None:
    [found] = product.snippets_html(["## Timeline\nSoon.\n\n### Later\nx"], "")
    assert found == '<p>Soon.</p>\n<p class="heading">Later</p>\n<p>x</p>\n'
    assert "Alone" in product.snippets_html(["# Alone"], "")[0]


def test_the_properties_of_a_snippet_are_one_paragraph() -> None:
    [found] = product.snippets_html(["type: project ·\nstatus: delayed"], "")
    assert found == "<p>type: project · status: delayed</p>\n"


def test_the_markers_of_an_answer_are_links() -> None:
    found = product.answer_html("So it is [1], see [C2]; not [x] nor `[1]`.\n— Note > Part")
    assert f'<a class="cite" href="#cite-1" {REL}>1</a>' in found
    assert f'<a class="cite" href="#cite-C2" {REL}>C2</a>' in found
    assert found.count("<a ") == 2
    assert "<br>\n— Note &gt; Part" in found


TEXTS = {
    file.relative_to(product.STATIC).as_posix(): file.read_text(encoding="utf-8")
    for file in product.STATIC.rglob("*.*")
}


class Notes(FakeVault):
    def note(self, *_: Any, **__: Any) -> product.NoteView:
        return note("# Hello\n[[#Hello]] <script>")


async def at_once(work: Callable[[], str]) -> str:
    return work()


@pytest.fixture
def vault() -> Notes:
    return Notes()


@pytest.fixture
def client(vault: Notes) -> Iterator[TestClient]:
    app = product.create_app(vault, routers=[product.routes(at_once)])
    with TestClient(app, "http://127.0.0.1:8765") as found:
        yield found


def test_the_page_names_files_that_there_are(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    named = [part.split('"')[0] for part in page.text.split('="/static/')[1:]]
    assert [name.rpartition(".")[2] for name in named] == ["svg", "css", "js"]
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
        (name, sink) for name, text in TEXTS.items() if name.endswith(".js") for sink in sinks if sink in text
    ]
    assert found == [("dom.js", "innerHTML")]


@pytest.mark.parametrize(
    ("name", "kind"), [("app.js", "text/javascript"), ("page.css", "text/css"), ("icon.svg", "image/svg+xml")]
)
def test_a_file(client: TestClient, name: str, kind: str) -> None:
    first = client.get(f"/static/{name}")
    assert first.headers["content-type"].startswith(kind)
    again = client.get(f"/static/{name}", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
