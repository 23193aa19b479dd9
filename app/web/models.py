"""What the page asks of the server beside the API, and gets: text as HTML that is safe to show."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from notehop.app.models.notes import NoteView
from notehop.app.models.query import Asked, Strict, at_most

MOST_TEXTS = 120
"""Texts of one request: all that a reply can hold."""

LONGEST = 60_000
"""Characters of one text: many times a chunk, or an answer."""


class RenderQuery(Asked):
    """Texts of a reply to show: ``snippets`` of chunks with words of ``query`` marked, and an
    ``answer`` with its markers."""

    answer: Annotated[str, StringConstraints(max_length=LONGEST)] = ""
    snippets: Annotated[
        list[Annotated[str, StringConstraints(max_length=LONGEST)]], at_most(MOST_TEXTS)
    ] = Field(default_factory=list, max_length=MOST_TEXTS)
    query: Annotated[str, StringConstraints(max_length=10_000)] = ""


class Rendered(Strict):
    """The same as HTML, in the same order."""

    answer: str
    snippets: list[str]


class NotePage(Strict):
    """A note to read. ``cut`` tells that it is too long, and its end was left out."""

    vault: str
    note: NoteView
    html: str
    cut: bool
