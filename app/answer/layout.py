"""Lays out passages of one source as Markdown: lists stay lists, tables stay tables. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from notehop.app.answer.passages import Passage
from notehop.app.answer.stretch import Range
from notehop.app.models import Source

GAP = "…"
"""Stands where the source says something in between."""

_FLAT = ("prose", "property", "heading")

INDENT = "   "
"""Of a list in a list: as much as a number takes."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of one source, passages in the order in which they stand there.

    ``text`` is Markdown: prose is one line, list items, table rows and code keep their lines.
    ``ranges`` are half-open ranges of characters of the source's text, in order, whose words, white
    space and list and quote marks aside, are those of the quote. ``heading`` is the nearest one
    above it within the source, where that is not the source's own; ``name`` what the quote defines,
    by the name of its note, where the question has another name for it.
    """

    source: Source
    text: str
    ranges: tuple[Range, ...] = ()
    heading: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A passage to lay out: its place in the source, and whether what introduces it is shown."""

    order: int
    passage: Passage
    lead: bool


def laid_out(parts: Sequence[Part]) -> tuple[str, tuple[Range, ...]]:
    """Return the passages as they are shown, and where their words stand in the source.

    Sentences alone are one line, and so is a single item, which needs no list.

    :param parts: in text order, each once; at least one.
    """
    texts = {part.passage.text for part in parts}
    led: set[str] = set()
    shown: list[Part] = []
    for part in parts:
        passage = part.passage
        lead = part.lead and bool(passage.lead) and passage.lead not in texts | led
        led.add(passage.lead if lead else "")
        shown.append(Part(part.order, passage, lead))
    ranges = dict.fromkeys(
        place
        for part in shown
        for place in (*(part.passage.lead_ranges if _says(part) else ()), *part.passage.ranges)
    )
    flat = all(part.passage.kind in _FLAT for part in shown) or _is_single(shown)
    text = _flat(shown) if flat else "\n\n".join(_blocks(shown))
    return text, tuple(sorted(ranges))


def _says(part: Part) -> bool:
    """Whether the words of the lead are shown: the head of a table is shown with every row."""
    return part.lead or part.passage.kind in ("row", "code")


def _is_single(parts: Sequence[Part]) -> bool:
    passage = parts[0].passage
    if len(parts) > 1 or passage.kind != "item":
        return False
    return not parts[0].lead or passage.lead.endswith(":")


def _flat(parts: Sequence[Part]) -> str:
    words: list[str] = []
    for before, part in zip([None, *parts], parts, strict=False):
        if before is not None and not _adjacent(before, part):
            words.append(GAP)
        if part.lead:
            words.append(part.passage.lead)
        words.append(part.passage.text)
    return " ".join(words)


def _adjacent(before: Part, after: Part) -> bool:
    return before.order + 1 == after.order and before.passage.block == after.passage.block


def _blocks(parts: Sequence[Part]) -> Iterator[str]:
    """Runs of one kind, a block of Markdown each."""
    last: Part | None = None
    for kind, run in groupby(parts, key=lambda part: part.passage.kind):
        group = list(run)
        if last is not None and last.order + 1 != group[0].order:
            yield GAP
        if kind in _FLAT:
            yield _flat(group)
        elif kind == "item":
            yield _list(group)
        elif kind == "row":
            yield from _tables(group)
        else:
            yield from ("\n\n".join((*_lead(one), one.passage.written)) for one in group)
        last = group[-1]


def _lead(part: Part) -> tuple[str, ...]:
    return (part.passage.lead,) if part.lead else ()


def _list(parts: Sequence[Part]) -> str:
    top = min(part.passage.depth - (part.lead and part.passage.depth > 1) for part in parts)
    lines: list[str] = []
    for before, part in zip([None, *parts], parts, strict=False):
        passage = part.passage
        indent = INDENT * (passage.depth - top)
        if before is not None and before.passage.block == passage.block:
            gap = "" if before.order + 1 == part.order else f" {GAP}"
            lines[-1] += f"{gap} {passage.text}"
            continue
        if before is not None and before.order + 1 != part.order:
            lines.append(f"{indent}- {GAP}")
        if part.lead:
            lines += _introduction(passage, indent)
        lines.append(f"{indent}{passage.mark or '-'} {passage.text}")
    return "\n".join(lines)


def _introduction(item: Passage, indent: str) -> list[str]:
    """The line above a list: an item that it is part of, or a sentence."""
    if item.depth > 1:
        return [f"{indent.removesuffix(INDENT)}- {item.lead}"]
    # Only bullets and a number 1 may follow a paragraph without a blank line.
    return [item.lead] if item.mark in ("-", "*", "+", "1.", "1)") else [item.lead, ""]


def _tables(parts: Sequence[Part]) -> Iterator[str]:
    for frame, run in groupby(parts, key=lambda part: part.passage.frame):
        yield "\n".join([frame, *(part.passage.written for part in run)])
