"""Where a text that is too long for the model may be cut, at what price, and which cuts are best. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from notehop.indexing.vault.plain import sentence_spans

# Prices of a cut.
HEADING, PARAGRAPH, LINE, SENTENCE, FENCED, WRAP, WORD, ORPHAN, ANYWHERE = (
    0.0,  # before a heading
    0.1,  # before a paragraph
    0.2,  # before a list item, a row, a quote, or a line after a finished one
    0.3,  # between sentences
    0.45,  # between lines of code
    0.5,  # where a line breaks in the middle of a sentence
    0.7,  # between words
    0.9,  # between a heading and what it heads
    1.0,  # inside a word
)

STEP_SHARE = 16  # of a chunk between cuts inside a sentence or a word: closer ones cost time

# Characters that count as one token at most. Tokenizers give a word of 400,000 letters one unknown
# token, and a run of blanks none, which would make one chunk of anything.
LONGEST_TOKEN = 64

_FENCE = re.compile(r"[ \t>]{0,12}(`{3,}|~{3,})")
_CLOSING = re.compile(rf"^{_FENCE.pattern}[ \t]*$", re.MULTILINE)
_WORD = re.compile(r"\S+")
_ITEM = re.compile(r"\s*(?:[-*+|>#]|\d{1,9}[.)]\s)")
_FINISHED = re.compile(r"(?:[.!?:;…。！？：；][\"'”’»)\]*_`]*|  |\\|\|)\n?$")

BreakPoint = tuple[int, float]  # offset of the first character after the cut, and its price


def token_starts(offsets: Iterable[tuple[int, int]], length: int) -> list[int]:
    """Where tokens start, by their (start, end) in a text of so many characters, ascending; over-long
    tokens and gaps count once a stretch."""
    starts: list[int] = []
    last = 0
    for start, end in offsets:
        if start - last > LONGEST_TOKEN:
            starts.extend(range(last, start, LONGEST_TOKEN))
        starts.extend(range(start, max(end, start + 1), LONGEST_TOKEN))
        last = max(last, end)
    if length - last > LONGEST_TOKEN:
        starts.extend(range(last, length, LONGEST_TOKEN))
    return starts


def break_points(
    text: str, starts: Sequence[int], budget: int, headings: Sequence[tuple[int, int]], language: str
) -> list[BreakPoint]:
    """Where a text may be cut, ascending, each position once at its lowest price.

    Sentences are offered only inside paragraphs and lines that fill more than half a chunk, words
    only inside sentences that fill more than one, and places inside a word only where nothing else
    is left.

    :param starts: of the tokens.
    :param budget: tokens that a chunk can hold, at least 1.
    :param headings: (start, end) of the headings in the text, ascending.
    """
    found = dict(_line_places(text))
    found |= {start: HEADING for start, _ in headings}
    whole = [at for at, price in found.items() if price != WRAP]
    for start, end in _gaps(whole, len(text), starts, budget / 2):
        for at, _ in sentence_spans(text[start:end], language)[1:]:
            found[start + at] = min(SENTENCE, found.get(start + at, ANYWHERE))
    step = max(1, budget // STEP_SHARE)
    for start, end in _gaps(found, len(text), starts, budget):
        words = (m.start() for m in _WORD.finditer(text, start, end) if m.start() > start)
        for at in _spread(words, start, starts, step):
            found.setdefault(at, WORD)
    for start, end in _gaps(found, len(text), starts, budget):
        inside = starts[bisect_left(starts, start) : bisect_left(starts, end)]
        for at in _spread(inside, start, starts, step):
            found.setdefault(at, ANYWHERE)
    order = sorted(found)
    for _, end in headings:
        under = len(text) - len(text[end:].lstrip())
        for at in order[bisect_left(order, end) : bisect_right(order, under)]:
            found[at] = ORPHAN
    return [(at, found[at]) for at in order if 0 < at < len(text)]


def _gaps(found: Iterable[int], length: int, starts: Sequence[int], limit: float) -> list[tuple[int, int]]:
    """The stretches between two positions that hold more tokens than a limit."""
    edges = [0, *sorted(found), length]
    return [
        (start, end)
        for start, end in pairwise(edges)
        if bisect_left(starts, end) - bisect_left(starts, start) > limit
    ]


def _spread(positions: Iterable[int], start: int, starts: Sequence[int], step: int) -> Iterator[int]:
    """Keep positions that are at least ``step`` tokens after the one kept before."""
    last = bisect_left(starts, start)
    for at in positions:
        if (before := bisect_left(starts, at)) - last >= step:
            last = before
            yield at


def _line_places(text: str) -> Iterator[BreakPoint]:
    """Starts of lines that are not blank: after a blank line a paragraph's, in a fence its own."""
    at = 0
    before = fence = ""
    for line in text.splitlines(keepends=True):
        if fence and line.strip():
            yield at, FENCED
        elif line.strip() and not before.strip():
            yield at, PARAGRAPH
        elif line.strip():
            yield at, LINE if _ITEM.match(line) or _FINISHED.search(before) else WRAP
        before = line
        fence = _fence_after(line, fence)
        at += len(line)


def open_fence(text: str, fence: str = "") -> str:
    """The marks of the fence that is open behind a text, given those before it; empty for none."""
    for line in text.splitlines():
        fence = _fence_after(line, fence)
    return fence


def _fence_after(line: str, fence: str) -> str:
    if not (mark := _FENCE.match(line)):
        return fence
    run, rest = mark[1], line[mark.end() :]
    if not fence:
        return "" if "`" in run and "`" in rest else run
    closes = run[0] == fence[0] and len(run) >= len(fence) and not rest.strip()
    return "" if closes else fence


def reopened(text: str) -> str:
    """A text that begins in a fence, with the mark above it that opens one."""
    closing = _CLOSING.search(text)
    return f"{closing[1] if closing else '```'}\n{text}"


# Price of a chunk: two paragraphs are rather cut apart than one sentence from the next, but a cut in
# code or inside a sentence is worth one chunk more.
CHUNK_PRICE = 0.15
TINY_PRICE = 0.5  # price of a chunk so small that it would have joined its neighbour as a section
UNEVEN_PRICE = 0.1  # price of an empty chunk; half empty costs a quarter of it
IMPOSSIBLE = 1_000.0  # price of a chunk over its budget: taken only where there is no place to cut


def choose_breaks(
    places: Sequence[BreakPoint], starts: Sequence[int], length: int, budget: int, min_tokens: int
) -> list[int]:
    """Choose the cuts that make few chunks at good places.

    The sum of prices is least: of each cut, of each chunk, of chunks under ``min_tokens``, and of
    uneven filling. Among equals the later cut wins.

    :param places: ascending; ``starts`` are those of tokens.
    :param budget: tokens that a chunk can hold.
    :returns: positions, ascending; empty if one chunk holds all.
    """
    ends = [0, *(at for at, _ in places), length]
    prices = [0.0, *(price for _, price in places), 0.0]
    tokens = [bisect_left(starts, at) for at in ends]
    tokens[-1] = len(starts)
    best = [0.0] + [float("inf")] * (len(ends) - 1)
    before = [0] * len(ends)
    for i in range(len(ends) - 1):
        for j in range(i + 1, len(ends)):
            size = tokens[j] - tokens[i]
            if size > budget and j > i + 1:
                break
            chunk = CHUNK_PRICE + (TINY_PRICE if size < min_tokens else 0.0)
            chunk += UNEVEN_PRICE * (1 - size / budget) ** 2
            if size > budget:
                chunk = IMPOSSIBLE * size / budget
            price = best[i] + prices[j] + chunk
            if price <= best[j]:
                best[j], before[j] = price, i
    cuts = []
    at = before[-1]
    while at:
        cuts.append(ends[at])
        at = before[at]
    return cuts[::-1]
