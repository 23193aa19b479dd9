"""Notes, snippets and answers as HTML that is safe to show. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from urllib.parse import quote

import nh3

from notehop.app.answer.material import open_uri
from notehop.app.answer.quotes.passages import split_properties
from notehop.app.models import NoteView
from notehop.app.retrieval.filters import parse_filters
from notehop.app.web.markdown import Surroundings, render
from notehop.indexing.graph.files import is_readable
from notehop.indexing.tokens.tokenizer import Tokenizer
from notehop.indexing.tokens.words import UNSPACED, detect_language
from notehop.indexing.vault.plain import LinkText
from notehop.indexing.vault.properties import BETWEEN

MOST = 200_000  # characters of a note that are rendered: a book; it takes a second or two

_ANSWER, _SNIPPET = Surroundings(markers=True), Surroundings()
_FIRST_HEADING = re.compile(r"\A\s*#{1,6}[ \t][^\n]*(?:\n|\Z)")


def note_html(view: NoteView, vault: str) -> tuple[str, bool]:
    """A note as HTML, and whether its end was left out for its length.

    Its links lead to the page's own addresses of notes (``#/note/…``) as the index has resolved
    them, or open in the application what is no note.

    :param vault: name of the vault.
    """
    named = {link.written: link.target for link in view.links}

    def href(link: LinkText) -> str | None:
        path = named.get(link.target) if link.target else view.path
        if path is None:
            return None
        if not is_readable(path):
            return open_uri(vault, path)
        at = f"?at={quote(link.fragment, safe='')}" if link.fragment else ""
        return f"#/note/{quote(path)}{at}"

    surroundings = Surroundings(href, first_line=view.lines[0])
    return sanitise(render(view.text[:MOST], surroundings)), len(view.text) > MOST


def answer_html(text: str) -> str:
    """An answer as HTML; its markers are links to ``#cite-1`` and ``#cite-C1``."""
    return sanitise(render(text, _ANSWER))


def snippets_html(texts: Sequence[str], query: str) -> list[str]:
    """Texts of chunks as HTML with the words of a query marked, without the heading they begin with:
    who shows them shows it. Properties run on in one paragraph.
    """
    mark = _marker(query, texts)
    found: list[str] = []
    for text in texts:
        shown = _FIRST_HEADING.sub("", text) or text
        if f"{BETWEEN}\n" in shown and split_properties(shown):
            shown = " ".join(shown.split())
        found.append(sanitise(mark(sanitise(render(shown, _SNIPPET)))))
    return found


_NO_TEXT = re.compile(r"(<[^>]*>|&[#\w]+;)")
"""Tags, and entities: what one stands for is a sign, and no word."""

_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_UNSPACED = re.compile(rf"[{UNSPACED}]{{2,}}")

_tokenizer = lru_cache(maxsize=16)(Tokenizer)


def _marker(query: str, texts: Sequence[str]) -> Callable[[str], str]:
    """A function that puts ``<mark>`` around the words of a query in HTML.

    Words are compared as the index compares them: in their forms, without accents and case. The
    filters in a query are no words to look for, and function words are none.
    """
    tokens = _tokenizer(detect_language([query, *texts]))
    wanted = frozenset(tokens.query(parse_filters(query, lambda _: True).text))
    if not wanted:
        return lambda html: html

    def pairs(found: re.Match[str]) -> str:
        """What of a run without spaces is asked for, in pairs of characters."""
        run = found[0]
        at = {n for n in range(len(run) - 1) if run[n : n + 2] in wanted}
        hit = at | {n + 1 for n in at}
        marked = (f"<mark>{sign}</mark>" if n in hit else sign for n, sign in enumerate(run))
        return "".join(marked).replace("</mark><mark>", "")

    def word(found: re.Match[str]) -> str:
        if _UNSPACED.search(found[0]):
            return _UNSPACED.sub(pairs, found[0])
        return f"<mark>{found[0]}</mark>" if wanted.intersection(tokens(found[0])) else found[0]

    def mark(html: str) -> str:
        parts = _NO_TEXT.split(html)
        parts[::2] = [_WORD.sub(word, part) for part in parts[::2]]
        return "".join(parts).replace("</mark> <mark>", " ")

    return mark


# What HTML may reach the page, whatever made it. The grammar lets none of a note through as it is: this is
# the second wall, which does not trust the first.
_PLACED = {
    *("p", "blockquote", "pre", "hr", "ul", "ol", "li", "section", "div", "code"),
    *("table", "thead", "tbody", "tr", "th", "td", "h3", "h4", "h5", "h6"),
}
_INLINE = {"a", "em", "strong", "s", "br", "mark", "span", "sup"}
_PLACE = {"id", "data-line", "data-end"}

_CLASSES = {
    "a": {"wikilink", "embed", "tag", "external", "cite", "footnote-backref"},
    "span": {"wikilink", "embed", "unresolved", "image", "math"},
    "div": {"math"},
    "p": {"heading", "callout-title"},
    "li": {"task", "footnote-item"},
    "blockquote": {"callout"},
    "mark": {"hl"},
    "sup": {"footnote-ref"},
    "hr": {"footnotes-sep"},
    "section": {"footnotes"},
    "ol": {"footnotes-list"},
}
_ATTRIBUTES: dict[str, set[str]] = {
    **dict.fromkeys(_PLACED, _PLACE),
    "a": {"href", "id"},
    "ol": {*_PLACE, "start"},
    "blockquote": {*_PLACE, "data-kind"},
    "*": set(),
}
_ID = re.compile(r"b-[a-z0-9-]{1,100}|fn(ref)?\d+(:\d+)?")
_OPENS_A_NOTE = "obsidian://open?"


def _attribute(_tag: str, name: str, value: str) -> str | None:
    if name == "id":
        return value if _ID.fullmatch(value) else None
    if name == "href":
        # An address of the page itself, or a whole one; ammonia has checked the scheme.
        if value.startswith("#") or value.lower().startswith(("http://", "https://", "mailto:")):
            return value
        # Other links of the application can do more than open a note.
        return value if value.startswith(_OPENS_A_NOTE) else None
    return value


_CLEANER = nh3.Cleaner(
    tags=_PLACED | _INLINE,
    clean_content_tags={"script", "style"},
    attributes=_ATTRIBUTES,
    attribute_filter=_attribute,
    tag_attribute_values={"a": {"target": {"_blank"}}},
    allowed_classes=_CLASSES,
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto", "obsidian"},
)


def sanitise(html: str) -> str:
    """The part of ``html`` that may be shown."""
    return _CLEANER.clean(html)
