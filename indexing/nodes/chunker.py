"""A note cut into chunks: sections, small ones joined, large ones cut at the best places. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, runtime_checkable

from notehop.indexing.nodes.break_points import (
    LONGEST_TOKEN,
    break_points,
    choose_breaks,
    token_starts,
)
from notehop.indexing.nodes.headings import Headings, stripped_span
from notehop.indexing.nodes.properties import property_texts
from notehop.indexing.stores.model import ChunkId, ChunkKind
from notehop.indexing.vault.model import Lines, Note
from notehop.indexing.vault.plain import OffsetMap, plain_map

CHUNKER = "sections-2"
"""Names the rules by which notes are cut; an index made by others has to be rebuilt."""


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of a note, ready to be embedded.

    The drafts of a note's text tile ``Note.text[body_start:]``: ``start`` and ``end`` are offsets
    of one after the other; those of its properties come behind them. ``first_line`` and
    ``last_line`` are those of its first and last character that is not blank. ``heading_path`` says
    where it stands, top_level first; ``headings`` holds (rank, text) of the headings above and
    inside it, in order. ``body`` is what is shown, ``embedded`` what the model sees.
    """

    id: ChunkId
    ordinal: int
    heading_path: tuple[str, ...]
    headings: tuple[tuple[int, str], ...]
    start: int
    end: int
    first_line: int
    last_line: int
    body: str
    embedded: str
    kind: ChunkKind = "text"

    @property
    def embedded_hash(self) -> str:
        """Name of the embedded text: equal hash, equal vector, whatever note it is in."""
        return hashlib.sha256(self.embedded.encode()).hexdigest()[:32]


def embedded_text(title: str, heading_path: Sequence[str], body: str) -> str:
    """Return what the model sees of a chunk: ``Title - A > B``, and the body on the next line.

    Without headings it is the title alone; a first heading that repeats the title is left out.
    """
    prefix = embedded_prefix(title, heading_path)
    return f"{prefix}\n{body}" if body else prefix


def embedded_prefix(title: str, heading_path: Sequence[str]) -> str:
    """Return the first line of :func:`embedded_text`; blanks in it are single spaces."""
    shown = " ".join(title.split())
    path = [" ".join(heading.split()) for heading in heading_path]
    if path and path[0].casefold() == shown.casefold():
        del path[0]
    return f"{shown} - {' > '.join(path)}" if path else shown


def chunk_id(path: str, anchor: Sequence[str], occurrence: int, embedded: str) -> ChunkId:
    """Name a chunk by the note, the headings it stands under and its embedded text.

    :param occurrence: 0, or how many chunks of the note before it have all of that in common.
    :returns: 32 hexadecimal digits.
    """
    whole = json.dumps([path, list(anchor), occurrence, embedded])
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


@runtime_checkable
class CountTokens(Protocol):
    """Tells the tokens of a text, special tokens and prompt left out.

    :class:`notehop.indexing.embed.tokenizer.TokenOffsets` is one.
    """

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each token, in order."""

    def size(self, text: str) -> int:
        """Return how many there are."""


class ChunkPrefix:
    """Sets the chunks of one note under its title; each heading path is measured once."""

    def __init__(self, title: str, count: CountTokens, max_tokens: int) -> None:
        self._title = title
        self._count = count
        self._max = max_tokens
        self._known: dict[tuple[str, ...], tuple[str, int]] = {}

    def starts(self, text: str) -> list[int]:
        """Return where the tokens of a text start, over-long ones divided."""
        return token_starts(self._count(text), len(text))

    def size(self, text: str) -> int:
        """Return how many tokens a text has; over-long ones, and runs of blanks, are not free."""
        return max(self._count.size(text), len(text) // LONGEST_TOKEN)

    def embedded(self, path: tuple[str, ...], body: str) -> str:
        """Return what the model sees of a chunk."""
        prefix = self._prefix(path)[0]
        return f"{prefix}\n{body}" if body else prefix

    def room(self, path: tuple[str, ...]) -> int:
        """Return how many tokens of text fit under a heading path: at least 1."""
        return max(1, self._max - self._prefix(path)[1])

    def excess(self, path: tuple[str, ...], body: str) -> int:
        """Return how many tokens a chunk has more than it may; negative if it fits."""
        return self.size(self.embedded(path, body)) - self._max

    def fitted(self, text: str) -> str:
        """Cut a text at the end of the window."""
        return self._shortened(text, self._max)

    def _prefix(self, path: tuple[str, ...]) -> tuple[str, int]:
        """The first line, at most half the window, and its tokens with the line's end."""
        if path not in self._known:
            line = self._shortened(embedded_prefix(self._title, path), max(1, self._max // 2))
            self._known[path] = line, self.size(f"{line}\n")
        return self._known[path]

    def _shortened(self, text: str, most: int) -> str:
        if self.size(text) <= most:
            return text
        starts = self.starts(text)
        return text[: starts[most]].rstrip() if len(starts) > most else text


SEAM = 2
"""Tokens by which a whole may differ from its parts, tokenized one by one."""

_ATTEMPTS = 4
_LEADING_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)+")


def split_note(
    note: Note,
    count: CountTokens,
    max_tokens: int,
    min_tokens: int,
    language: str = "en",
) -> list[ChunkDraft]:
    """Cut a note into chunks.

    Sections start at headings of rank 1 and 2. One under ``min_tokens`` joins the one that follows,
    the last the one before. One that is too long is cut at deeper headings, paragraphs, lines,
    sentences, words, or anywhere, the earlier the better; every character of the body is in
    exactly one chunk. What the properties say comes last, in chunks of their own kind. A note with
    neither gives one without text, of its title and aliases, so that links lead to it.

    :param count: tells tokens; special tokens and the prompt are not its matter.
    :param max_tokens: tokens that a chunk may have, the line of title and headings included, which
        is cut to half of them. More only where one link or embed alone shows a longer text.
    :param min_tokens: tokens of text below which a section does not stand alone.
    :param language: ISO code, for the ends of sentences.
    """
    return _Splitter(note, count, max_tokens, min_tokens, language).drafts()


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A part of a note with its plain text and how many tokens that has."""

    start: int
    end: int
    plain: OffsetMap
    size: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chunk without its frame."""

    start: int
    end: int
    body: str


class _Splitter:
    def __init__(
        self, note: Note, count: CountTokens, max_tokens: int, min_tokens: int, language: str
    ) -> None:
        self._note = note
        self._min = 1 if note.sections_apart else max(1, min_tokens)
        self._language = language
        self._frame = ChunkPrefix(note.title, count, max_tokens)
        self._headings = Headings(note)

    def drafts(self) -> list[ChunkDraft]:
        sections = self._joined(self._sections())
        lines = Lines(self._note.text)
        if not any(part.plain.text.strip() for part in sections):
            return self._properties(lines) or [self._empty()]
        text = self._text(sections, lines)
        return [*text, *self._properties(lines, text)]

    def _text(self, sections: list[_Stretch], lines: Lines) -> list[ChunkDraft]:
        seen: Counter[tuple[tuple[str, ...], str]] = Counter()
        drafts: list[ChunkDraft] = []
        for piece in (piece for part in sections for piece in self._pieces(part)):
            path = self._headings.path(piece.start, piece.end)
            embedded = self._frame.embedded(path, piece.body)
            first, last = stripped_span(self._note.text, piece.start, piece.end)
            drafts.append(
                ChunkDraft(
                    id=chunk_id(self._note.path, path, seen[path, embedded], embedded),
                    ordinal=len(drafts),
                    heading_path=path,
                    headings=self._headings.around(piece.start, piece.end),
                    start=piece.start,
                    end=piece.end,
                    first_line=lines.at(first),
                    last_line=lines.at(last),
                    body=piece.body,
                    embedded=embedded,
                )
            )
            seen[path, embedded] += 1
        return drafts

    def _properties(self, lines: Lines, text: Sequence[ChunkDraft] = ()) -> list[ChunkDraft]:
        note = self._note
        drafts: list[ChunkDraft] = []
        # A token has some three characters; what is over is not embedded, but found by its words.
        fits = 3 * self._frame.room(())
        for found in property_texts(note, bool(text), fits):
            flat = " ".join(found.text.split())
            embedded = self._frame.fitted(embedded_text(note.title, (), flat))
            same = sum(one.embedded == embedded for one in (*text, *drafts))
            drafts.append(
                ChunkDraft(
                    id=chunk_id(note.path, ("properties",), same, embedded),
                    ordinal=len(text) + len(drafts),
                    heading_path=(),
                    headings=(),
                    start=lines.start(found.first_line),
                    end=lines.start(found.last_line + 1),
                    first_line=found.first_line,
                    last_line=found.last_line,
                    body=found.text,
                    embedded=embedded,
                    kind="properties",
                )
            )
        return drafts

    def _empty(self) -> ChunkDraft:
        note = self._note
        embedded = self._frame.fitted(embedded_text(note.title, (), ", ".join(note.aliases)))
        return ChunkDraft(
            id=chunk_id(note.path, (), 0, embedded),
            ordinal=0,
            heading_path=(),
            headings=(),
            start=note.body_start,
            end=len(note.text),
            first_line=1,
            last_line=note.text.rstrip().count("\n") + 1,
            body="",
            embedded=embedded,
        )

    def _sections(self) -> Iterator[_Stretch]:
        note = self._note
        edges = [note.body_start, *note.sections, len(note.text)]
        for start, end in pairwise(edges):
            if start < end:
                plain = plain_map(note, start, end)
                yield _Stretch(start, end, plain, self._frame.size(plain.text))

    def _joined(self, sections: Iterator[_Stretch]) -> list[_Stretch]:
        """Join what is too small with what follows; the last with what is before it."""
        joined: list[_Stretch] = []
        waiting: _Stretch | None = None
        for section in sections:
            waiting = self._join(waiting, section) if waiting else section
            if waiting.size >= self._min:
                joined.append(waiting)
                waiting = None
        if waiting is not None:
            joined.append(self._join(joined.pop(), waiting) if joined else waiting)
        return joined

    def _join(self, first: _Stretch, second: _Stretch) -> _Stretch:
        return _Stretch(
            first.start,
            second.end,
            plain_map(self._note, first.start, second.end),
            first.size + second.size,
        )

    def _pieces(self, part: _Stretch) -> list[_Piece]:
        whole = _Piece(part.start, part.end, _trimmed(part.plain.text))
        room = self._frame.room(self._headings.path(part.start, part.end))
        if part.size + SEAM <= room or (part.size <= room + SEAM and self._excess(whole) <= 0):
            return [whole]
        budget = min(map(self._frame.room, self._headings.paths(part.start, part.end)))
        pieces = [whole]
        for _ in range(_ATTEMPTS):
            pieces = self._cut(part, budget)
            worst = max(map(self._excess, pieces))
            if worst <= 0 or budget == 1:
                break
            budget = max(1, budget - worst)
        return pieces

    def _excess(self, piece: _Piece) -> int:
        return self._frame.excess(self._headings.path(piece.start, piece.end), piece.body)

    def _cut(self, part: _Stretch, budget: int) -> list[_Piece]:
        plain = part.plain
        starts = self._frame.starts(plain.text)
        headings = [
            (plain.to_plain(at), plain.to_plain(until))
            for at, until in self._headings.between(part.start, part.end)
        ]
        offered = break_points(plain.text, starts, budget, headings, self._language)
        possible = [place for place in offered if plain.to_raw(place.at) is not None]
        cuts = choose_breaks(possible, starts, len(plain.text), budget, self._min)
        pieces = []
        start = at = 0
        raw = part.start
        for at in (*cuts, len(plain.text)):
            until = plain.to_raw(at)
            end = part.end if until is None or at == len(plain.text) else until
            pieces.append(_Piece(raw, end, _trimmed(plain.text[start:at])))
            start, raw = at, end
        return pieces


def _trimmed(text: str) -> str:
    """Drop blank lines at the start and blanks at the end; the first line keeps its indentation."""
    blank = _LEADING_BLANK_LINES.match(text)
    return (text[blank.end() :] if blank else text).rstrip()
