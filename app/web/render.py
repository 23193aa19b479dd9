"""Notes, snippets and answers as HTML that is safe to show. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from urllib.parse import quote

from notehop.app.answer.material import open_uri
from notehop.app.models import NoteLink, NoteView
from notehop.app.web.highlight import marker
from notehop.app.web.markdown import Surroundings, render
from notehop.app.web.sanitise import sanitise
from notehop.indexing.graph.files import is_readable
from notehop.indexing.vault.plain import LinkText, read_destination, read_wikilink
from notehop.indexing.vault.properties import BETWEEN

MOST = 200_000  # characters of a note that are rendered: a book; it takes a second or two

_ANSWER, _SNIPPET = Surroundings(markers=True), Surroundings()
_FIRST_HEADING = re.compile(r"\A\s*#{1,6}[ \t][^\n]*(?:\n|\Z)")
_DESTINATION = re.compile(r"\]\(\s*<?([^<>]*?)>?(?:\s+[\"'(][^\n]*)?\s*\)\Z")


def note_html(view: NoteView, vault: str) -> tuple[str, bool]:
    """A note as HTML, and whether its end was left out for its length.

    Its links lead to the page's own addresses of notes (``#/note/…``), or open in the application
    what is no note.
    """
    surroundings = Surroundings(_hrefs(view, vault), first_line=view.lines[0])
    return sanitise(render(view.text[:MOST], surroundings)), len(view.text) > MOST


def snippets_html(texts: Sequence[str], query: str) -> list[str]:
    """Texts of chunks as HTML with the words of a query marked, without the heading they begin with:
    who shows them shows it. Properties run on in one paragraph.
    """
    mark = marker(query, list(texts))
    found: list[str] = []
    for text in texts:
        shown = (_FIRST_HEADING.sub("", text) or text).replace(f"{BETWEEN}\n", f"{BETWEEN} ")
        found.append(sanitise(mark(sanitise(render(shown, _SNIPPET)))))
    return found


def answer_html(text: str) -> str:
    """An answer as HTML; its markers are links to ``#cite-1`` and ``#cite-C1``."""
    return sanitise(render(text, _ANSWER))


def _hrefs(view: NoteView, vault: str) -> Callable[[LinkText], str | None]:
    """Gives the address of what a link of a note names, as the index has resolved it; None for none."""
    named = {_name(link): link.target for link in view.links}
    known = {link.target for link in view.links if link.target}

    def href(link: LinkText) -> str | None:
        path = named.get(link.target) if link.target else view.path
        if path is None:
            # Of a destination that stands apart from its link, only the path is known.
            joined = posixpath.normpath(posixpath.join(posixpath.dirname(view.path), link.target))
            path = next((p for p in (joined, f"{joined}.md", link.target) if p in known), None)
        if path is None:
            return None
        if not is_readable(path):
            return open_uri(vault, path)
        at = f"?at={quote(link.fragment, safe='')}" if link.fragment else ""
        return f"#/note/{quote(path)}{at}"

    return href


def _name(link: NoteLink) -> str | None:
    raw = link.raw.removeprefix("!")
    if raw.startswith("[["):
        parts = read_wikilink(raw[2:].removesuffix("]]"))
    else:
        found = _DESTINATION.search(raw)
        parts = read_destination(found[1], None) if found else None
    return parts.target if parts else None
