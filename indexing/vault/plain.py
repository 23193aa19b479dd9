"""The plain text of a note and of its links: what a reader sees, for embedding and showing; and its
sentences. Pure."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate, filterfalse, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from sentencex import get_sentence_boundaries

from notehop.indexing.vault.model import Edit, Note

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


WRAP_COLUMN = 60  # text wrapped by an editor fills lines at least this far
WIDEST_COLUMN = 125  # and no farther than this
MORE = r"(?=[=~≈]?[-+£$€]?\.?\d)"
"""What stands behind a ``>`` that is "more than", and no mark of a quote."""


class OffsetMap:
    """A text put together from stretches of another, and the way between the offsets of both."""

    def __init__(self, end: int = 0) -> None:
        """:param end: offset in the other text that the end of this one leads back to."""
        self._end, self._length = end, 0
        self._parts: list[str] = []
        self._plain: list[int] = []  # where each stretch starts in the text,
        self._raw: list[int] = []  # where in the other,
        self._lengths: list[int] = []  # and how long it is; 0 for one that was replaced

    def add(self, raw: int, text: str, *, copied: bool = True) -> None:
        """Append a stretch that starts at ``raw`` in the other text, not before the one before; where it
        is ``copied``, offsets inside it have their like there."""
        self._plain.append(self._length)
        self._raw.append(raw)
        self._lengths.append(len(text) if copied else 0)
        self._parts.append(text)
        self._length += len(text)

    def add_edited(self, text: str, start: int, end: int, edits: Sequence[Edit]) -> None:
        """Append ``text[start:end]`` of the other text with the edits (sorted, disjoint) made that begin
        in it; one that begins before only takes its text away."""
        first = bisect_left(edits, start, key=lambda edit: edit.start)
        at = max(start, edits[first - 1].end) if first else start
        for edit in islice(edits, first, None):
            if edit.start >= end:
                break
            if edit.start > at:
                self.add(at, text[at : edit.start])
            self.add(edit.start, edit.replacement, copied=False)
            at = edit.end
        if at <= end:
            self.add(at, text[at:end])

    @property
    def text(self) -> str:
        self._parts = ["".join(self._parts)]
        return self._parts[0]

    def to_raw(self, plain: int) -> int | None:
        """The offset in the other text; None inside a replacement, where nothing can be cut. Between two
        stretches the first that fits, so that marks go with what they mark."""
        if plain >= self._length:
            return self._end
        part = bisect_left(self._plain, plain)
        if part < len(self._plain) and self._plain[part] == plain:
            return self._raw[part]
        part -= 1
        return self._raw[part] + plain - self._plain[part] if self._lengths[part] else None

    def to_plain(self, raw: int) -> int:
        """The offset in the text; of what was replaced or dropped, its place."""
        part = max(0, bisect_right(self._raw, raw) - 1)
        return self._plain[part] + max(0, min(raw - self._raw[part], self._lengths[part]))


def plain_map(note: Note, start: int, end: int) -> OffsetMap:
    """``note.text[start:end]`` with links as their words, without comments, block ids and reference
    definitions; list bullets, quote and emphasis marks stay."""
    found = OffsetMap(end)
    found.add_edited(note.text, start, end, note.edits)
    return found


def plain_text(note: Note, start: int, end: int) -> str:
    return plain_map(note, start, end).text


# Code, which holds neither links nor highlights.
_CODE = r"(?<!`)(`++).{0,200}?(?<!`)\1(?!`)"
_LINKS = re.compile(
    _CODE + r"|!?\[\[(?:[^\]|\n]{0,300}\|)?([^\]|\n]{0,300})\]\]"
    r"|!?\[([^\]\n]{0,300})\]\([^)\n]{0,2000}\)"
)
# Longer ones would be looked for from each mark.
_HIGHLIGHT = re.compile(_CODE + r"|(?<![A-Za-z0-9=])==(?=[^\s=])(.{1,200}?)(?<=[^\s=])==(?![A-Za-z0-9=])")
# A mark whose other half was cut off.
_UNPAIRED = re.compile(r"(?:\*\*|==|~~)(?=\w)|(?<=[\w.!?])(?:\*\*|==|~~)|`|!?\[\[|\]\]")


def words_of(text: str) -> str:
    """A sentence of Markdown as it reads: the words of links, no marks, not even half a pair.

    What stands in code is left as it is.
    """
    text = _LINKS.sub(lambda found: found[0] if found[1] else found[2] or found[3] or "", text)
    return _inline(text, lambda rest: _UNPAIRED.sub("", rest))


def without_emphasis(text: str) -> str:
    """A line without the marks of emphasis, highlights and code. Those that mean nothing stay
    (``snake_case``, ``~/notes``), and stars behind a letter or digit, which people take for a product
    (``3*4*5``)."""
    return _inline(text, str)


def _inline(text: str, plain: Callable[[str], str]) -> str:
    """The text without pairs of marks; ``plain`` gets what stands outside of code."""
    text = _HIGHLIGHT.sub(lambda found: found[2] or found[0], text)
    shown = ""
    kept: list[bool] = []
    for token in _emphasis().parseInline(text)[0].children or ():
        if token.nesting > 0:
            last = shown[-1:]
            kept.append(token.markup[0] == "*" and last.isascii() and last.isalnum())
            shown += token.markup if kept[-1] else ""
        elif token.nesting < 0:
            shown += token.markup if kept.pop() else ""
        else:
            shown += plain(token.content) if token.type == "text" else token.content
    return shown


@cache
def _emphasis() -> MarkdownIt:
    # Here, for searches that show no sentence start without it.
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable(["escape", "backticks", "emphasis", "strikethrough"])


class LinkText(NamedTuple):
    """Parts of a :class:`notehop.indexing.vault.model.Link`."""

    target: str
    fragment: str | None
    display: str | None


def read_wikilink(inner: str) -> LinkText | None:
    """Read what stands between ``[[`` and ``]]``; None if it is no link. The first ``|``, also ``\\|`` as
    in a table, parts path and display text; with nothing before it, it leads nowhere, as in the app."""
    inner = inner.strip()
    bar = inner.find("|")
    display = None
    if bar > 0:
        display = inner[bar + 1 :].strip().replace("\\|", "|") or None
        inner = inner[:bar].removesuffix("\\")
    target, _, fragment = (part.strip() for part in inner.partition("#"))
    if not target and not fragment:
        return None
    depths = accumulate((sign == "[") - (sign == "]") for sign in target)
    if target.startswith("[") or any(depth < 0 for depth in depths):
        return None  # no name: the link is further in, or nowhere
    return LinkText(target, fragment or None, display)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def read_destination(destination: str, display: str | None) -> LinkText | None:
    """Read the destination of a Markdown link; None if it is empty or a URL."""
    if _SCHEME.match(destination) or destination.startswith("//"):
        return None
    # Decoded afterwards: a file name may hold an encoded "#".
    target, _, fragment = (unquote(part).strip() for part in destination.partition("#"))
    return LinkText(target, fragment or None, display) if target or fragment else None


_SIZE = re.compile(r"(?:^|\|)\s*\d+(?:\s*x\s*\d+)?\s*$")
_ATTACHMENT = re.compile(
    r"\.(?:pdf|png|jpe?g|gif|svg|webp|avif|bmp|mp[34]|m4a|mov|mkv|ogg|ogv|wav|webm|flac|3gp)$", re.I
)


def without_size(display: str) -> str:
    """Drop the size that an embed's display text may end with (``alt|640x480``, ``300``)."""
    return _SIZE.sub("", display).strip()


def words(link: LinkText, *, embed: bool = False) -> str:
    """What a reader sees of a link: its display text, else ``Note > Heading`` as the app shows it; of
    block ids, parameters (``page=3``) and the size of an embed nothing."""
    display = link.display or ""
    if display := without_size(display) if embed else display:
        return display
    name = link.target.rstrip("/").rpartition("/")[2]
    if name.lower().endswith(".md"):
        name = name[:-3]
    elif _ATTACHMENT.search(name):
        return name
    parts = [part.strip() for part in (link.fragment or "").split("#")]
    return " > ".join([name] * bool(name) + [p for p in parts if p and not p.startswith("^")])


_DAY = re.compile(r"(?<!\d)(?:[12]?\d|3[01])\.\s*\Z")
# What follows the number of a day. Names that English has too need a year.
_MONTH = re.compile(
    r"\s*(?:Januar|Jänner|Februar|März|Mai|Juni|Juli|Oktober|Dezember"  # German
    r"|januar|februar|marts|maj|juni|juli|oktober|december"  # Danish
    r"|(?:[Aa]pril|[Aa]ugust|[Ss]eptember|[Nn]ovember)\s+(?:19|20|21)\d\d)(?!\w)"
)
# `am 2. September`, `im 3. Stock`: behind these words of German and Danish a number is an ordinal.
_ORDINAL = re.compile(r"(?:\b(?:im|zum|vom|beim|dem|den|der|die|das)|(?<!\bI )\b[Aa]m)\s+\d{1,2}\.\s*\Z")
_NO_NOUN = re.compile(
    r"(?:dann|danach|daher|da|sie|er|es|wir|ihr|ich|man|beide|die|der|das|und|aber|nicht|spater|sonst)\b",
    re.IGNORECASE,
)
_ABBREVIATIONS = tomllib.loads(
    Path(__file__).with_name("abbreviations.toml").read_text(encoding="utf-8")
).values()
_SHORT, _NUMBERED, _LAST = (
    frozenset(word for one in _ABBREVIATIONS for word in one[kind].split())
    for kind in ("words", "numbered", "last")
)
_CLOSING = re.compile(r"(?<=[^\s*_])(?:\*{1,3}|_{1,3})(?:\s+|$)")
_BLOCK = re.compile(r"\n\s*(?:\n|[-*+#>|]|\d+[.)]\s)")  # begins another paragraph, item or row
_WINDOW = 4_000  # characters; the segmenter's time is quadratic in quotes that do not pair


def sentence_spans(text: str, language: str = "en") -> list[tuple[int, int]]:
    """The half-open spans of the sentences of a text; together they are the text, blanks included. One of
    more than 4,000 characters may be cut.

    :param language: ISO 639-1 code; what the segmenter does not know is read as English, whose
        rules also know the full stops of other scripts.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in sorted({*_ends(text, language), *line_ends(text)}):
        if spans and text[start:end].isspace():  # what stands between paragraphs
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
        start = end
    return spans


# Headings, rules, tags by themselves, and items that say nothing.
_MARKS = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t].*|(?:#[^\s#]+[ \t]*)+|[-*_=]{3,}[ \t]*|\|?[ \t:|-]*-[ \t:|-]*\|?"
    r"|[*+][ \t]*)$",
    re.M,
)
_BULLET = re.compile(rf"[ \t>]*(?:[-*+]|\d{{1,9}}[.)])[ \t]+(?:\[.\][ \t]+)?|[ \t]*>(?!{MORE})[ \t]?")
_EMPHASIS = re.compile(r"(\*\*|__|==|~~)(?=\S)(.+?)(?<=\S)\1")


def flat(text: str) -> str:
    """A passage on one line, its items apart, without headings, tags and rules; with them if there is no
    more."""
    said = ""
    for line in filter(str.strip, _MARKS.sub("", text).splitlines()):
        found = _BULLET.match(line)
        bare = line[found.end() :] if found else line
        item = found and said and not line.lstrip().startswith(">")
        said += f"{' · ' if item else ' '}{bare.strip()}"
    if said := " ".join(_EMPHASIS.sub(r"\2", said).split()):
        return said
    return " · ".join(filter(None, (line.strip("#-*+ \t") for line in text.splitlines())))


_PARAGRAPH = re.compile(r"^[ \t]*\S.*(?:\n[ \t]*\S.*)+", re.MULTILINE)
_UNBROKEN = re.compile(r"\S{40}")
_PAUSES = (".", "!", "?", ":", ";", ",", "…", "。", "！", "？", "、", "，")
LABELLED = re.compile(
    r"\s*(?:(?P<bold>\*\*|__)[^*_\n]{1,60}(?:(?P=bold)\s*[:–—=-]|:(?P=bold))"
    r"|(?P<field>[^\s:][^:\n]{0,80}::)|[^\W\d_][^:.\n]{0,30}:(?=\s|$)|(?:[^\s–—-]+ ){1,3}[–—-] )"
)
"""The beginning of a line that is an entry of its own: `**SST** – …`, `key:: …`, `Monitor: …`, `KPI – …`."""

_ANSWER = re.compile(
    r"\s*(?:(\*\*|__|)(?:A|R|Answer|Antwort|Réponse|Respuesta) ?\d{0,3}(?::\1|\1:)\s|(→|[-=]>))"
)


def answers(above: str, text: str) -> bool:
    """Whether a text begins as what answers the line above it: `A: …`, or `→ …` behind a question."""
    found = _ANSWER.match(text)
    return found is not None and (not found[2] or above.rstrip().endswith("?"))


def line_ends(text: str) -> Iterator[int]:
    """Where lines of a paragraph end that were kept apart by who wrote them."""
    for paragraph in _PARAGRAPH.finditer(text) if "\n" in text else ():
        at = paragraph.start()
        lines = paragraph[0].split("\n")
        for line, apart in zip(lines, _kept_apart(lines), strict=False):
            at += len(line) + 1
            if apart:
                yield at


def _kept_apart(lines: Sequence[str]) -> Iterator[bool]:
    """Whether each line of a paragraph but the last ends although the first word of the next would have
    fitted, or most lines do, and not in the middle of a sentence, if there are sentences."""
    lines = [line.strip() for line in lines]
    needed = [len(one) + 1 + len(other.split()[0]) for one, other in pairwise(lines)]
    # An address is too long for any line.
    column = max(map(len, filterfalse(_UNBROKEN.search, lines)), default=WRAP_COLUMN)
    full = [width > column for width in needed]
    goes_on = any(other[:1].islower() for other in lines[1:])
    flows = max(needed) > WRAP_COLUMN or (len(full) >= 3 and goes_on and sum(full) >= len(full) - 1)
    wrapped = flows and column <= WIDEST_COLUMN and 2 * sum(full) > len(full)
    written = any(line.endswith(_PAUSES) for line in lines)
    for width, fills, (one, other) in zip(needed, full, pairwise(lines), strict=True):
        label = LABELLED.match(one)
        field = label and label["field"]
        if field or answers(one, other) or (LABELLED.match(other) and (label or not fills)):
            yield True  # a field ends with its line, and a question
        elif other.lstrip("`*_[(\"'“")[:1].islower():
            yield not wrapped and not written and width <= WRAP_COLUMN
        else:
            yield not wrapped or 2 * width <= column


def shortened(text: str, most: int) -> str:
    """The beginning of a line: whole sentences if they leave half of it, else whole words and …"""
    if len(text) <= most:
        return text
    ends = [end for _, end in sentence_spans(text[: most + 1])[:-1]]
    if ends and ends[-1] >= most // 2:
        return text[: ends[-1]].rstrip()
    begun = text[: most - 2]
    return (begun.rsplit(" ", 1)[0] if " " in begun[most // 2 :] else begun).rstrip(" ,;:") + " …"


def _ends(text: str, language: str) -> list[int]:
    """Offsets at which sentences end, in order; the last is the end of the text."""
    ends: list[int] = []
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW]
        ends_in = (boundary["end_index"] for boundary in get_sentence_boundaries(language, window))
        # A mark that closes what stands before it ("**Label.** text") is part of that.
        closed = ((end, _CLOSING.match(window, end)) for end in ends_in)
        found = {end if mark is None else mark.end() for end, mark in closed}
        inside = sorted(end for end in found if 0 < end < len(window) and not _goes_on(window, end))
        last = start + _WINDOW >= len(text)
        # The last sentence of a window may go on behind it: read it again from its beginning,
        # unless that would be most of the window.
        if last or not inside or inside[-1] < _WINDOW // 2:
            inside.append(len(window))
        ends += [start + end for end in inside]
        start = ends[-1]
    return ends


def _goes_on(text: str, end: int) -> bool:
    """Whether a sentence goes on where the segmenter ends it: behind an abbreviation or an ordinal of a
    language that it was not told, as a note need not be in its vault's."""
    begun, rest = text[max(0, end - 16) : end], text[end : end + 10]
    if begun[-1] in ".!?" and (rest[0] in ":,;" or rest[0].isalnum()):
        return True  # "NOTES.ORG", "Which?::That", "until 02.08., then"
    if _BLOCK.search(begun[len(begun.rstrip()) :] + rest[:4]):
        return False
    if answers(begun, rest) or (begun.rstrip().endswith(".") and _is_inside(text, end)):
        return True
    if (_ORDINAL.search(begun) and not _NO_NOUN.match(rest)) or (
        _DAY.search(begun) and _MONTH.match(text, end)
    ):
        return True
    words = [word.lstrip("([„“\"'*_") for word in begun.split()]
    before = ["".join(words[-count:]) for count in (1, 2, 3)]
    after = rest.split(maxsplit=1)[:1]
    known = _SHORT
    if rest[:1].isdigit():
        known |= _NUMBERED
    elif rest[:1].islower():
        known |= _LAST
    # The last are those that it would cut in two: `p.` of `p. ex.`.
    forms = [*before, *(word + next_.rstrip(",") for word in before[:2] for next_ in after)]
    return any(word in known or word[:1].lower() + word[1:] in known for word in forms)


def _is_inside(text: str, end: int) -> bool:
    """Whether a small letter follows what begins with a capital: who wrote it begins sentences so."""
    start = max(text.rfind(mark, 0, end - 2) for mark in ("\n", ". ")) + 1
    first = next(filter(str.isalpha, text[start:end]), "")
    return first.isupper() and text[end].islower() and not text[end + 1 : end + 2].isupper()


def clipped(text: str, start: int, end: int, at: int, most: int) -> str:
    """``text[start:end]`` on one line; of more than ``most`` characters, the words around ``at``."""
    if end - start <= most:
        return " ".join(text[start:end].split())
    room = most - 2  # for the marks that say where it was cut
    first = max(start, min(at - room // 2, end - room))
    last = min(first + room, end)
    if first > start and (blank := text.find(" ", first, at)) >= 0:
        first = blank + 1
    if last < end and (blank := text.rfind(" ", at, last)) > at:
        last = blank
    cut = " ".join(text[first:last].split())
    return f"{'…' if first > start else ''}{cut}{'…' if last < end else ''}"
