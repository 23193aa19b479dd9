"""Whatever a note, a snippet or an answer holds: nothing of it runs, loads or leads astray."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.app.api.fake_vault import note_view
from tests.support.product import NoteView, answer_html, note_html, snippets_html
from tests.support.tables import read_yaml

ALLOWED = {
    *("a", "p", "blockquote", "pre", "hr", "ul", "ol", "li", "section", "div", "table", "thead"),
    *("tbody", "tr", "th", "td", "h3", "h4", "h5", "h6", "em", "strong", "s", "code", "br"),
    *("mark", "span", "sup"),
}
ATTRIBUTES = {
    *("class", "href", "id", "data-line", "data-end", "data-kind", "start", "role"),
    *("aria-label", "target", "rel"),
}
SAFE = re.compile(r"#|https?://|mailto:|obsidian://open\?")

HOSTILE: dict[str, str] = read_yaml(Path(__file__).with_name("hostile.yaml"))


class _Seen(HTMLParser):
    """Every tag and attribute of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.other: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, sorted(attrs, key=str)))

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


def note(text: str) -> NoteView:
    return note_view("Folder/Note.md", text, "Note")


def renderings(text: str) -> list[str]:
    """A text in every place where it may stand."""
    return [
        note_html(note(text), "V")[0],
        *snippets_html([text], "alert script img onerror 1 x"),
        answer_html(text),
    ]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_nothing_of_it_is_left(text: str) -> None:
    for html in renderings(text):
        seen = _Seen(html)
        assert not seen.other
        for tag, attributes in seen.tags:
            assert tag in ALLOWED
            for name, value in attributes:
                assert name in ATTRIBUTES
                if name == "href":
                    assert SAFE.match(value or ""), value
                if name == "id":
                    assert re.match(r"(b-|fn)", value or ""), value


def test_the_second_wall_stands_alone() -> None:
    """The sanitiser does not rely on what the grammar lets through."""
    from tests.support.product import sanitise

    for text in HOSTILE.values():
        for tag, attributes in _Seen(sanitise(text)).tags:
            assert tag in ALLOWED
            assert {name for name, _ in attributes} <= ATTRIBUTES
            for name, value in attributes:
                assert name != "href" or SAFE.match(value or "")
