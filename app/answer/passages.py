"""Cuts the text of a source into what can be quoted: sentences, list items and table rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

SentenceSpans = Callable[[str], Sequence[tuple[int, int]]]
"""Text -> half-open character ranges of its sentences, in order."""

LONGEST_ITEM = 300
"""A list item up to this many characters is quoted whole: cut, it loses what it was listed for."""

_CALLOUT = re.compile(r"^\[!\w[\w-]*(?:\|[^\]]*)?\][+-]?[ \t]*")
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+$")
_QUOTE_MARKS = re.compile(r"^(?:[ \t]*>)+[ \t]?", re.MULTILINE)
"""Marks that are read as text: of a quote in a list whose beginning is in another source."""

_WORD = re.compile(r"\w")
_FILE = re.compile(
    r"(?:(?![.!?]\s).)*\.(?:avif|bmp|canvas|gif|jpe?g|m4a|mkv|mov|mp[34]|ogg|pdf|png|svg|wav|webm|webp)",
    re.IGNORECASE,
)
"""All that is left of an embedded picture or recording: its name says nothing that answers."""

_EMPHASIS = ("**", "__", "==", "~~")


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a source as they stand there, white space aside, without list and quote marks.

    ``block`` numbers the paragraph, item or row it is part of, counted from 0 within the source;
    ``lead`` is the sentence or item that introduces the list it is an item of, empty if none does.
    """

    text: str
    block: int
    lead: str = ""


def passages(text: str, sentences: SentenceSpans) -> list[Passage]:
    """Return the passages of ``text`` in order; headings, code, HTML and bare rules are none.

    A sentence that ends with a colon before a list says nothing alone: it is the lead of its items.
    """
    found: list[Passage] = []
    leads: dict[int, str] = {}
    for number, block in enumerate(_blocks(text)):
        pieces = _pieces(block, sentences)
        lead = leads.get(block.depth - 1, "")
        last = pieces[-1] if pieces else ""
        if last.endswith(":") and block.introduces:
            pieces.pop()
        found += [Passage(piece, number, lead) for piece in pieces if _WORD.search(piece)]
        introduced = block.introduces and (block.depth > 0 or last.endswith(":"))
        leads = {depth: text for depth, text in leads.items() if depth < block.depth}
        leads[block.depth] = last if introduced else ""
    return found


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph, list item or table row as it is written.

    ``depth`` counts the lists around it; ``introduces`` tells that a list follows right below.
    """

    text: str
    depth: int = 0
    whole: bool = False
    introduces: bool = False


def _pieces(block: _Block, sentences: SentenceSpans) -> list[str]:
    if _FILE.fullmatch(_flat(block.text)):
        return []
    if block.whole or (block.depth and len(block.text) <= LONGEST_ITEM):
        return [_flat(block.text)]
    return [_flat(block.text[start:end]) for start, end in sentences(block.text)]


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Only block structure is needed; the text inside is kept as it is written.
    return MarkdownIt("commonmark").enable("table").disable("inline")


_LISTS = ("bullet_list_open", "ordered_list_open")


def _blocks(text: str) -> Iterator[_Block]:
    tokens = _markdown().parse(text)
    depth = 0
    row: list[str] = []
    for at, token in enumerate(tokens):
        if token.type in _LISTS:
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and not _in_head(tokens, at):
            yield _Block(" | ".join(cell for cell in row if cell), whole=True)
        elif token.type == "inline" and tokens[at - 1].type in ("td_open", "th_open"):
            row.append(token.content.strip())
        elif token.type == "inline" and tokens[at - 1].type == "paragraph_open":
            introduces = at + 2 < len(tokens) and tokens[at + 2].type in _LISTS
            for words in _unframed(token.content):
                yield _Block(words, depth, introduces=introduces)


def _unframed(content: str) -> list[str]:
    """A paragraph without its block id; the title of a callout stands apart from its text."""
    callout = _CALLOUT.match(content)
    title, _, rest = content[callout.end() :].partition("\n") if callout else ("", "", content)
    rest = _BLOCK_ID.sub("", _QUOTE_MARKS.sub("", rest))
    return [words for words in (title.strip(), rest.strip()) if words]


def _in_head(tokens: Sequence[Token], at: int) -> bool:
    return any(token.type == "thead_close" for token in tokens[at : at + 2])


def _flat(text: str) -> str:
    """A piece on one line, without a mark of emphasis whose other end stands outside of it."""
    piece = " ".join(text.split())
    for mark in _EMPHASIS:
        if piece.count(mark) == 1:
            piece = piece.removeprefix(mark).removesuffix(mark).strip()
    return piece
