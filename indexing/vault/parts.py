"""Notes made of files that are no Markdown, parts under headings laid out as a text: canvases (JSON
Canvas 1.0, jsoncanvas.org), whose groups and cards are parts, and bases, saved views of notes. Pure.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from notehop.indexing.vault.body import read_body
from notehop.indexing.vault.front_matter import FrontMatter, YamlProblem
from notehop.indexing.vault.model import CommentLinks, Heading, Lines, Note, each_once
from notehop.indexing.vault.plain import words_of

TOP_RANKS = 2  # ranks that the parts' own headings take; those that a part's text has stand below
MOST_CARDS = 5_000  # cards, groups and edges, each, that are read: more no person has laid out
MOST_GROUPS = 500  # groups in which cards are looked for; the labels of others are cards
HEADING_CHARS = 60  # of a card's first line, by which it is called where it has no heading

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_LONGEST = 1_000  # characters of a name, label or address in a canvas, which others may repeat
_IN_WORDS = {
    **{"and": "all of", "or": "any of", "not": "none of"},
    **{"filters": "notes with", "order": "columns", "sort": "sorted by", "groupBy": "grouped by"},
}
"""Keys of a base that say little as they are."""


class Unreadable(ValueError):
    """Why a file of a known kind gives no note; the message follows the file's path."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a file that is found and cited by itself: a card, a view, a page.

    ``headings`` are those that begin with it, (rank, text), rank 1 or 2, outermost first. In
    ``markdown``, the owner's, links and tags count.
    """

    headings: tuple[tuple[int, str], ...]
    text: str
    markdown: bool = False


PartsRead = tuple[list[Part], list[str]]  # of a file, and warnings, which follow its path


def assemble(
    path: str, data: bytes, parts: Iterable[Part], warnings: Iterable[str], *, comment_links: CommentLinks
) -> Note:
    """Make a note whose sections are the parts; an open code block of one hides nothing of the next."""
    text = ""
    headings: list[Heading] = []
    sections: list[int] = []
    markdown: list[tuple[int, int]] = []
    line = 1
    for part in parts:
        sections.append(len(text))
        for level, words in part.headings:
            plain = " ".join(words.split())
            start, shown = len(text), f"{'#' * level} {plain}"
            headings.append(Heading(plain, level, line, start, start + len(shown), plain))
            text += f"{shown}\n\n"
            line += 2
        below = part.text.strip("\n") + "\n\n"
        first, line = line, line + below.count("\n")
        text += below
        if part.markdown:
            markdown.append((first, line - 2))  # without the empty line behind it
    body = read_body(text, Lines(text), markdown, comment_links=comment_links)
    headings += [replace(one, level=min(one.level + TOP_RANKS, 6)) for one in body.headings]
    name = path.rpartition("/")[2]
    return Note(
        path=path,
        name=name,
        title=name,
        text=text,
        body_start=0,
        content_hash=hashlib.sha256(data).hexdigest(),
        tags=each_once(tag.strip("/") for tag in body.tags),
        properties=tuple(body.facts),
        headings=tuple(sorted(headings, key=lambda heading: heading.start)),
        sections=tuple(sections),
        sections_apart=True,
        blocks=tuple(body.blocks),
        links=tuple(body.links),
        edits=body.edits,
        warnings=tuple(f"{path}: {warning}" for warning in warnings),
    )


@dataclass(slots=True)
class _Card:
    """A node of the canvas; ``box`` is left, top, right, bottom, ``edges`` are labelled ones. ``name`` is
    what others call it: a text card by its heading or first words, ``text`` is below that."""

    id: str
    kind: str
    name: str
    text: str
    box: tuple[float, float, float, float]
    edges: list[str] = field(default_factory=list)

    @property
    def place(self) -> tuple[float, float, str]:
        return self.box[1], self.box[0], self.id

    @property
    def area(self) -> float:
        return (self.box[2] - self.box[0]) * (self.box[3] - self.box[1])

    def holds(self, other: _Card) -> bool:
        """Whether the middle of another card lies in this one."""
        x, y = (other.box[0] + other.box[2]) / 2, (other.box[1] + other.box[3]) / 2
        return self.box[0] <= x <= self.box[2] and self.box[1] <= y <= self.box[3]


def read_canvas(data: bytes) -> PartsRead:
    """Read a canvas, from the top left to the bottom right.

    Files and addresses of a group stand in a list below its label, each text card is a part of
    its own, called by its heading or else its first words. A file card embeds its file. An edge with
    a label is said with the card it starts from, one to a file as a link.

    :raises Unreadable: if it is no JSON object, or its parts are not what a canvas has.
    """
    read: dict[str, list[dict[str, Any]]] = {}
    warnings: list[str] = []
    try:
        whole = json.loads(data.decode("utf-8-sig")) if data.strip() else {}
        if not isinstance(whole, dict):
            raise ValueError("it holds no nodes and edges")
        for key in ("nodes", "edges"):
            found = whole.get(key) or []
            if not isinstance(found, list):
                raise ValueError(f"its {key} are no list")
            if len(found) > MOST_CARDS:
                warnings.append(f"{len(found):,} {key}; the first {MOST_CARDS:,} were read")
            read[key] = [one for one in found[:MOST_CARDS] if isinstance(one, dict)]
    except (ValueError, RecursionError) as exc:
        reason = "nested too deeply" if isinstance(exc, RecursionError) else exc
        raise Unreadable(f"is no canvas: {reason}; open it in the app and save it") from exc
    cards = [card for node in read["nodes"] if (card := _card(node)) is not None]
    by_id = {card.id: card for card in cards if card.id}
    for edge in read["edges"]:
        label = _line(edge, "label")
        start, end = by_id.get(_string(edge, "fromNode")), by_id.get(_string(edge, "toNode"))
        if label and start is not None and end is not None:
            begins = f"{start.name}: " if start.kind in ("file", "link") else ""
            start.edges.append(f"- {begins}{label} → {end.name}")
    cards.sort(key=lambda card: card.place)
    groups = [card for card in cards if card.kind == "group" and card.text][:MOST_GROUPS]
    # By the objects: a file may give several the same id, or none.
    inside: dict[int, list[_Card]] = {id(group): [] for group in groups}
    outside: list[_Card] = []
    for card in cards:
        if card.text and id(card) not in inside:
            around = (group for group in groups if group.holds(card))
            smallest = min(around, key=lambda group: (group.area, group.place), default=None)
            (outside if smallest is None else inside[id(smallest)]).append(card)
    parts = [*_parts((), outside)]
    for group in groups:
        parts += _parts(((1, group.name),), inside[id(group)], group.edges)
    return parts, warnings


def _card(node: Mapping[str, Any]) -> _Card | None:
    """A node by its kind; None for a kind that the format does not have."""
    kind, text = node.get("type"), ""
    if kind == "text":
        text = _string(node, "text").replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    elif kind == "file":
        file = _line(node, "file").lstrip("/")
        text = f"[[/{file}{_line(node, 'subpath')}]]" if file else ""
    elif kind == "link":
        text = f"<{address}>" if (address := _line(node, "url").replace(" ", "")) else ""
    elif kind == "group":
        text = _line(node, "label")
    else:
        return None
    name, below = _headed(text) if kind in ("text", "group") else (text, text)
    x, y, width, height = (_number(node.get(key)) for key in ("x", "y", "width", "height"))
    return _Card(_string(node, "id"), kind, name, below, (x, y, x + width, y + height))


def _string(node: Mapping[str, Any], key: str) -> str:
    value = node.get(key)
    # Half of a surrogate pair, which JSON can write, no file can hold.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _line(node: Mapping[str, Any], key: str) -> str:
    return " ".join(_string(node, key)[:_LONGEST].split())


def _number(value: object) -> float:
    if not isinstance(value, int | float) or abs(value) > 1e9 or math.isnan(value):
        return 0.0
    return float(value)


def _parts(
    headings: tuple[tuple[int, str], ...], cards: Sequence[_Card], edges: Sequence[str] = ()
) -> Iterator[Part]:
    """A group: what it lists, then its text cards; its heading stands with the first of them."""
    written = [card for card in cards if card.kind == "text"]
    listed = [card for card in cards if card.kind != "text"]
    lines = [f"- {'!' * (card.kind == 'file')}{card.text}" for card in listed]
    lines += [*edges, *(edge for card in listed for edge in card.edges)]
    if lines or (headings and not written):
        yield Part(headings, "\n".join(lines), markdown=True)
        headings = ()
    for card in written:
        text = card.text
        fences = _FENCE.findall(text)
        if len(fences) % 2:
            text = f"{text}\n{fences[-1]}"  # or the reader shows all cards below as code
        below = "\n\n" + "\n".join(card.edges) if card.edges else ""
        yield Part((*headings, (2, card.name)), f"{text}{below}", markdown=True)
        headings = ()


def _headed(text: str) -> tuple[str, str]:
    """What a text card is called, and what it says below that."""
    first, _, rest = text.strip().partition("\n")
    marks = len(first) - len(first.lstrip("#"))
    if 0 < marks <= 6 and first[marks:].startswith((" ", "\t")) and rest.strip():
        return _first_words(first[marks:]), rest
    return _first_words(first.lstrip("#")), text


def _first_words(text: str) -> str:
    """The first line of a text as it reads, cut after a word."""
    line = " ".join(words_of(text.strip().partition("\n")[0][:2_000]).split()).lstrip("-*+> ")
    if len(line) <= HEADING_CHARS:
        return line or "card"
    return line[: HEADING_CHARS - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def read_base(data: bytes) -> PartsRead:
    """Read a base, evaluating nothing: what holds for all of it, then a part a view, called by its name.

    :raises Unreadable: if it is no YAML mapping.
    """
    try:
        whole = FrontMatter(data.decode("utf-8-sig")).values
    except (UnicodeDecodeError, YamlProblem) as exc:
        at = f"line {exc.line + 1}: " if isinstance(exc, YamlProblem) else ""
        raise Unreadable(f"is no base: {at}{exc}; open it in the app and save it") from exc
    views = whole.pop("views", None)
    parts = [Part((), text)] if (text := "\n".join(_outline("", whole))) else []
    for number, view in enumerate(views if isinstance(views, list) else (), start=1):
        if isinstance(view, Mapping):
            name = _flat(view.get("name")) or f"View {number}"
            said = {**view, "name": None, "columnSize": None}
            parts.append(Part(((1, name),), "\n".join(_outline("", said))))
    return parts, []


def _outline(name: str, value: object, depth: int = 0) -> Iterator[str]:
    """A value of YAML, and what is in it, as items of a nested list; nothing of one that is empty."""
    label = f"{'  ' * depth}- {name}{':' * bool(name)}"
    if isinstance(value, Mapping | list):
        pairs = value.items() if isinstance(value, Mapping) else (("", one) for one in value)
        below = depth + bool(name)
        inside = [line for key, one in pairs for line in _outline(_IN_WORDS.get(key, _flat(key)), one, below)]
        if name and inside:
            yield label
        yield from inside
    elif text := _flat(value):
        yield f"{label.rstrip()} {text}"


def _flat(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())
