"""A note cut into chunks: sections, small ones joined, large ones cut at the best places. Pure."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from notehop.indexing.nodes.break_points import (
    LONGEST_TOKEN,
    break_points,
    choose_breaks,
    open_fence,
    token_starts,
)
from notehop.indexing.stores.rows import ChunkId, ChunkKind
from notehop.indexing.vault.model import Lines, Note
from notehop.indexing.vault.plain import OffsetMap, plain_map, plain_text
from notehop.indexing.vault.properties import property_texts

if TYPE_CHECKING:
    from notehop.indexing.embed.embedder import TokenOffsets

CHUNKER = "sections-6"  # the rules by which notes are cut; an index made by others is rebuilt


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of a note, ready to be embedded.

    Those of the text tile ``Note.text[body_start:]`` by ``start`` and ``end``; those of the properties
    come behind. The lines are those of the first and last character that is not blank.
    ``heading_path`` says where it stands, from the top; ``headings`` holds (rank, text) of the headings
    above and inside it, in order. ``body`` is shown, ``embedded`` is what the model sees.
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
        return text_id(self.embedded)


def text_id(text: str) -> str:
    """Name of the vector of a text: equal text, equal vector, one row."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def embedded_text(title: str, heading_path: Sequence[str], body: str) -> str:
    """What the model sees of a chunk: :func:`embedded_prefix`, and the body on the next line."""
    prefix = embedded_prefix(title, heading_path)
    return f"{prefix}\n{body}" if body else prefix


def embedded_prefix(title: str, heading_path: Sequence[str]) -> str:
    """``Title - A > B``, blanks as single spaces; a first heading that repeats the title is left out."""
    shown = " ".join(title.split())
    path = [" ".join(heading.split()) for heading in heading_path]
    if path and path[0].casefold() == shown.casefold():
        del path[0]
    return f"{shown} - {' > '.join(path)}" if path else shown


def chunk_id(path: str, anchor: Sequence[str], occurrence: int, embedded: str) -> ChunkId:
    """Name a chunk, in 32 hexadecimal digits, by the note, the headings it stands under, its embedded
    text, and how many chunks of the note before it have all of that in common."""
    return text_id(json.dumps([path, list(anchor), occurrence, embedded]))


SEAM = 2  # tokens by which a whole may differ from its parts, tokenized one by one
_ATTEMPTS = 4
_LEADING_BLANK_LINES = re.compile(r"(?:[^\S\n]*\n)+")


def split_note(
    note: Note, count: TokenOffsets, max_tokens: int, min_tokens: int, language: str = "en"
) -> list[ChunkDraft]:
    """Cut a note into chunks.

    Sections start at headings of rank 1 and 2. One under ``min_tokens`` of text joins the one that
    follows, the last the one before. One that is too long is cut at deeper headings, paragraphs, lines,
    sentences, words, or anywhere, the earlier the better; every character of the body is in
    exactly one chunk. What the properties say comes last, in chunks of their own kind. A note with
    neither gives one without text, of its title and aliases, so that links lead to it.

    :param max_tokens: tokens that a chunk may have, the line of title and headings included, which
        is cut to half of them. More only where one link or embed alone shows a longer text.
    :param language: ISO code, for the ends of sentences.
    """
    return _Splitter(note, count, max_tokens, min_tokens, language).drafts()


class _Piece(NamedTuple):
    start: int
    end: int
    body: str


class _Splitter:
    def __init__(
        self, note: Note, count: TokenOffsets, max_tokens: int, min_tokens: int, language: str
    ) -> None:
        self._note, self._count, self._language = note, count, language
        self._max = max_tokens
        self._min = 1 if note.sections_apart else max(1, min_tokens)
        self._headings = Headings(note)
        self._prefixes: dict[tuple[str, ...], tuple[str, int]] = {}
        self._seen: Counter[tuple[tuple[str, ...] | None, str]] = Counter()
        self._drafts: list[ChunkDraft] = []

    def drafts(self) -> list[ChunkDraft]:
        note, lines = self._note, Lines(self._note.text)
        if plain_text(note, note.body_start, len(note.text)).strip():
            fence = ""
            headings = {heading.start for heading in note.headings}
            for piece in (piece for part in self._sections() for piece in self._pieces(*part)):
                path, embedded = self._framed(piece)
                first, last = stripped_span(note.text, piece.start, piece.end)
                # What a list or quote holds ends with it, closed or not; code has no heading.
                inside = fence and first not in headings and not piece.body.startswith(">")
                kind: ChunkKind = "code" if inside else "text"
                self._add(piece, embedded, (lines.at(first), lines.at(last)), path, kind)
                fence = open_fence(piece.body, fence if inside else "")
        # A token has some three characters; what is over is not embedded, but found by its words.
        fits = 3 * self._room(())
        for text, first, last in property_texts(note, bool(self._drafts), fits):
            embedded = embedded_text(note.title, (), " ".join(text.split()))
            piece = _Piece(lines.start(first), lines.start(last + 1), text)
            embedded = self._fitted(embedded, self._max)
            self._add(piece, embedded, (first, last), ("properties",), "properties")
        if not self._drafts:
            embedded = embedded_text(note.title, (), ", ".join(note.aliases))
            embedded = self._fitted(embedded, self._max)
            piece = _Piece(note.body_start, len(note.text), "")
            self._add(piece, embedded, (1, note.text.rstrip().count("\n") + 1), ())
        return self._drafts

    def _add(
        self,
        piece: _Piece,
        embedded: str,
        lines: tuple[int, int],
        anchor: tuple[str, ...],
        kind: ChunkKind = "text",
    ) -> None:
        is_text = kind != "properties"
        # Properties are told apart from all chunks of the note that say the same.
        twin = anchor if is_text else None, embedded
        occurrence = self._seen[twin]
        self._seen.update([twin, (None, embedded)] if is_text else [twin])
        self._drafts.append(
            ChunkDraft(
                id=chunk_id(self._note.path, anchor, occurrence, embedded),
                ordinal=len(self._drafts),
                heading_path=anchor if is_text else (),
                headings=self._headings.around(piece.start, piece.end) if is_text else (),
                start=piece.start,
                end=piece.end,
                first_line=lines[0],
                last_line=lines[1],
                body=piece.body,
                embedded=embedded,
                kind=kind,
            )
        )

    def _sections(self) -> list[tuple[int, int, int]]:
        """Start, end and tokens of sections; a small one joins what follows, the last the one before."""
        note = self._note
        found: list[tuple[int, int, int]] = []
        start, size = note.body_start, 0
        for first, end in pairwise([*note.sections, len(note.text)]):
            size += self._size(plain_text(note, first, end))
            if size >= self._min:
                found.append((start, end, size))
                start, size = end, 0
        if start < len(note.text):
            before = found.pop() if found else (start, start, 0)
            found.append((before[0], len(note.text), before[2] + size))
        return found

    def _pieces(self, start: int, end: int, size: int) -> list[_Piece]:
        plain = plain_map(self._note, start, end)
        whole = _Piece(start, end, _trimmed(plain.text))
        room = self._room(self._headings.path(start, end))
        if size + SEAM <= room or (size <= room + SEAM and self._excess(whole) <= 0):
            return [whole]
        budget = min(map(self._room, self._headings.paths(start, end)))
        for _ in range(_ATTEMPTS):
            pieces = self._cut(start, end, plain, budget)
            worst = max(map(self._excess, pieces))
            if worst <= 0 or budget == 1:
                break
            budget = max(1, budget - worst)
        return pieces

    def _cut(self, start: int, end: int, plain: OffsetMap, budget: int) -> list[_Piece]:
        starts = token_starts(self._count(plain.text), len(plain.text))
        headings = [
            (plain.to_plain(at), plain.to_plain(until)) for at, until in self._headings.between(start, end)
        ]
        offered = break_points(plain.text, starts, budget, headings, self._language)
        possible = [place for place in offered if plain.to_raw(place[0]) is not None]
        cuts = choose_breaks(possible, starts, len(plain.text), budget, self._min)
        edges = pairwise([0, *cuts, len(plain.text)])
        raw = pairwise([start, *(plain.to_raw(at) or 0 for at in cuts), end])
        return [
            _Piece(*span, _trimmed(plain.text[first:last]))
            for span, (first, last) in zip(raw, edges, strict=True)
        ]

    def _framed(self, piece: _Piece) -> tuple[tuple[str, ...], str]:
        """The heading path of a chunk, and what the model sees of it."""
        path = self._headings.path(piece.start, piece.end)
        prefix = self._prefix(path)[0]
        return path, f"{prefix}\n{piece.body}" if piece.body else prefix

    def _excess(self, piece: _Piece) -> int:
        """How many tokens a chunk has more than it may; negative if it fits."""
        return self._size(self._framed(piece)[1]) - self._max

    def _room(self, path: tuple[str, ...]) -> int:
        """How many tokens of text fit under a heading path: at least 1."""
        return max(1, self._max - self._prefix(path)[1])

    def _prefix(self, path: tuple[str, ...]) -> tuple[str, int]:
        """The first line, at most half the window, and its tokens with the line's end."""
        if path not in self._prefixes:
            line = self._fitted(embedded_prefix(self._note.title, path), max(1, self._max // 2))
            self._prefixes[path] = line, self._size(f"{line}\n")
        return self._prefixes[path]

    def _size(self, text: str) -> int:
        """How many tokens a text has; over-long ones, and runs of blanks, are not free."""
        return max(self._count.size(text), len(text) // LONGEST_TOKEN)

    def _fitted(self, text: str, most: int) -> str:
        """A text cut after so many tokens."""
        if self._size(text) <= most:
            return text
        starts = token_starts(self._count(text), len(text))
        return text[: starts[most]].rstrip() if len(starts) > most else text


def _trimmed(text: str) -> str:
    """Drop blank lines at the start and blanks at the end; the first line keeps its indentation."""
    blank = _LEADING_BLANK_LINES.match(text)
    return (text[blank.end() :] if blank else text).rstrip()


Stack = tuple[tuple[int, str], ...]  # (rank, text) of the headings above a position, from the top


class Headings:
    """The headings of a note and what stands under each."""

    def __init__(self, note: Note) -> None:
        self._text, self._edits = note.text, note.edits
        self._headings = [heading for heading in note.headings if not heading.fact]
        self._starts = [heading.start for heading in self._headings]
        self._stacks: list[Stack] = [()]  # before the first heading, and under each
        stack: list[tuple[int, str]] = []
        for heading in self._headings:
            while stack and stack[-1][0] >= heading.level:
                stack.pop()
            if heading.plain.strip():
                stack.append((heading.level, heading.plain))
            self._stacks.append(tuple(stack))

    def _inside(self, start: int, end: int) -> range:
        """Which headings start in ``[start, end)``."""
        return range(bisect_left(self._starts, start), bisect_left(self._starts, end))

    def between(self, start: int, end: int) -> list[tuple[int, int]]:
        """(start, end) of the headings that start in ``[start, end)``."""
        return [(self._starts[at], self._headings[at].end) for at in self._inside(start, end)]

    def paths(self, start: int, end: int) -> list[tuple[str, ...]]:
        """Every heading path that text of a stretch stands under, in order."""
        return [self._above(at) for at in (start, *(at for at, _ in self.between(start, end)))]

    def around(self, start: int, end: int) -> Stack:
        """The headings over the start of a stretch, and those it holds, in order."""
        inside = self._inside(start, end)
        outer = self._stacks[inside.start]
        if inside:
            outer = tuple(h for h in outer if h in self._stacks[inside.start + 1])
        held = (self._headings[at] for at in inside)
        return (*outer, *((one.level, one.plain) for one in held if one.plain.strip()))

    def path(self, start: int, end: int) -> tuple[str, ...]:
        """The heading path of a chunk.

        A chunk that begins in the middle of a section stands under all headings above it. One that
        begins with a heading names what all its text has in common, since it shows the rest itself;
        where that is nothing, the headings above its first text.
        """
        first = self._first_shown(start, end)
        inside = self._inside(start, end)
        if not inside or self._starts[inside.start] > first:
            return self._above(first)
        ends = [*self._starts[inside.start + 1 : inside.stop], end]
        under = [
            self._stacks[at + 1]
            for at, until in zip(inside, ends, strict=True)
            if self._text[self._headings[at].end : until].strip()
        ]
        if not under:
            return self._above(first)
        common = takewhile(lambda headings: len(set(headings)) == 1, zip(*under, strict=False))
        shared = tuple(text for (_, text), *_ in common)
        return shared or tuple(text for _, text in under[0])

    def _first_shown(self, start: int, end: int) -> int:
        """The first character of a stretch that is not blank, nor in what no reader sees."""
        first = stripped_span(self._text, start, end)[0]
        for edit in self._edits[bisect_right(self._edits, first, key=attrgetter("end")) :]:
            if edit.start > first or edit.replacement.strip():
                break
            first = stripped_span(self._text, edit.end, end)[0]
        return first

    def _above(self, at: int) -> tuple[str, ...]:
        """The headings over a position; a heading's own start counts as under it."""
        return tuple(text for _, text in self._stacks[bisect_right(self._starts, at)])


def stripped_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The offsets of the first and the last character that is not blank; the start twice if all are."""
    inside = text[start:end]
    if not inside.strip():
        return start, start
    return end - len(inside.lstrip()), start + len(inside.rstrip()) - 1
