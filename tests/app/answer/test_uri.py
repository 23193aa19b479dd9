"""The link opens exactly the note, at its heading."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from notehop.app.answer.uri import open_uri


@pytest.mark.parametrize(
    ("path", "headings", "target"),
    [
        pytest.param("Note.md", [], "Note.md", id="root"),
        pytest.param("a b/Ünï & co?.md", [], "a b/Ünï & co?.md", id="odd-characters"),
        pytest.param("Note.md", ["Plan"], "Note.md#Plan", id="heading"),
        pytest.param("Note.md", ["Plan", "Q3: dates"], "Note.md#Plan#Q3 dates", id="path"),
        pytest.param("Note.md", ["[[Link|x]] #1"], "Note.md#Link x 1", id="unfit-characters"),
        pytest.param("Note.md", ["##"], "Note.md", id="nothing-left"),
    ],
)
def test_open_uri(path: str, headings: list[str], target: str) -> None:
    uri = open_uri("My vault/2", path, headings)
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc) == ("obsidian", "open")
    assert parse_qs(parts.query) == {"vault": ["My vault/2"], "file": [target]}
    assert uri.isascii()
    assert " " not in uri
    assert "#" not in uri
