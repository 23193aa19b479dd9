"""The sentences and list items of a passage as candidates for a summary. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from notehop.indexing.vault.plain import without_emphasis
from notehop.indexing.vault.sentences import sentence_spans

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r"^[ \t]*(?:[-*_=][ \t]*){3,}$")
_TABLE = re.compile(r"^[ \t]*\|")
_CALLOUT = re.compile(r"^\[![^\]]*\][-+]?[ \t]*")
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+")
_ITEM = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_FIELD = re.compile(r"^[\w][\w /-]{0,30}::[ \t]*")
_HTML = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>\n]*>|\{\{.*?\}\}|<%.*?%>", re.S)
_ANCHOR = re.compile(r"[ \t]\^[A-Za-z0-9-]+$")
_ADDRESS = re.compile(r"\bhttps?://\S+")
_TAGS = re.compile(r"(?:^|(?<=\s))#(?!\d+\b)[^\s#]+")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")

_TITLE = 60
"""Characters of the title of a callout, which is a heading; what is longer is text."""


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together: prose, or the items of a list with the line before it, if that
    ends in a colon."""

    prose: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)


def paragraphs(text: str) -> list[Paragraph]:
    """The paragraphs and lists of a passage, without headings, rules, tables, code and marks."""
    found: list[Paragraph] = []
    current: Paragraph | None = None
    fence: str | None = None
    for raw in _HTML.sub("", text).split("\n"):
        line = _QUOTE.sub("", raw)
        mark = _FENCE.match(line)
        if fence is not None:
            fence = None if mark and mark[1].startswith(fence) else fence
            continue
        if mark:
            fence, current = mark[1], None
            continue
        if not line.strip():
            # A blank line ends prose; a list goes on behind it, and begins behind its line.
            if current is not None and not current.items and not _opens(current):
                current = None
            continue
        callout = _CALLOUT.match(line.strip())
        titled = callout is not None and len(line.strip()) - callout.end() < _TITLE
        if titled or _HEADING.match(line) or _RULE.match(line) or _TABLE.match(line):
            current = None
            continue
        item = _ITEM.match(line)
        said = bare(line[item.end() :] if item else line)
        if item:
            if current is None or (current.prose and not _opens(current)):
                found.append(current := Paragraph())
            if said:
                current.items.append(said)
        elif current is not None and current.items and raw[:1] in " \t":
            current.items[-1] = f"{current.items[-1]} {said}".strip()
        elif said:
            if current is None or current.items:
                found.append(current := Paragraph())
            current.prose.append(said)
    return [one for one in found if one.prose or one.items]


def bare(line: str) -> str:
    """A line without the marks of Markdown, block names, addresses and tags."""
    line = _FIELD.sub("", _CALLOUT.sub("", _ANCHOR.sub("", line.strip())))
    line = _LINK.sub(r"\1", line)
    line = without_emphasis(line)
    return " ".join(_TAGS.sub("", _ADDRESS.sub("", line)).split())


def sentences(lines: Sequence[str], language: str) -> Iterator[str]:
    """The sentences of a paragraph."""
    text = " ".join(lines)
    for start, end in sentence_spans(text, language):
        if said := text[start:end].strip():
            yield said


def _opens(paragraph: Paragraph) -> bool:
    """Whether a list that follows belongs to it."""
    return bool(paragraph.prose) and paragraph.prose[-1].rstrip().endswith((":", "："))
