"""An answer before it is checked: its text, with quotes laid out, and what the text names. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Literal

from notehop.app.answer.citations import MarkerFilter, Range
from notehop.app.answer.context import body
from notehop.app.answer.material import Material, headings_at, ranked_headings
from notehop.app.answer.quotes.blocks import STOPS, Passage
from notehop.app.answer.quotes.passages import SentenceSpans, passages
from notehop.app.models import LeftOut, Source
from notehop.indexing.shown import on_one_line
from notehop.indexing.vault.dates import day_in_name
from notehop.indexing.vault.properties import inline_fields

GAP = "…"  # stands where the source says something in between

_EVENTS = ("prose", "item")
_FLAT = ("prose", "property", "heading")

INDENT = "   "  # of a list in a list: as much as a number takes


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of one source, passages in the order in which they stand there.

    ``text`` is Markdown: prose is one line, list items, table rows and code keep their lines.
    ``ranges`` are half-open ranges of characters of the source's text, in order, whose words, white
    space and list and quote marks aside, are those of the quote. ``headings`` are those above it,
    the outermost first; ``name`` what the quote defines, by the name of its note, where the
    question has another name for it.
    """

    source: Source
    text: str
    ranges: tuple[Range, ...] = ()
    headings: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A passage to lay out: its place in the source, and whether what introduces it is shown."""

    order: int
    passage: Passage
    lead: bool


def laid_out(parts: Sequence[Part], *, goes_on: bool = False) -> tuple[str, tuple[Range, ...]]:
    """Return the passages as they are shown, and where their words stand in the source.

    Sentences alone are one line, and so is a single item, which needs no list.

    :param parts: in text order, each once; at least one.
    :param goes_on: whether the list or table that they end with has more.
    """
    texts = {part.passage.text for part in parts}
    shown: list[Part] = []
    ranges: set[Range] = set()
    for part in parts:
        passage = part.passage
        lead = part.lead and bool(passage.lead) and passage.lead not in texts
        texts |= {passage.lead} if lead else set()
        shown.append(Part(part.order, passage, lead))
        # The head of a table is shown with every row.
        led = lead or passage.kind in ("row", "code")
        ranges.update(passage.ranges, passage.lead_ranges if led else ())
    first = shown[0]
    single = len(shown) == 1 and first.passage.kind == "item"
    if single and first.lead:
        single = first.passage.lead.endswith(":")
    flat = single or all(part.passage.kind in _FLAT for part in shown)
    text = _flat(shown) if flat else "\n\n".join(_blocks(shown))
    if goes_on and parts[-1].passage.kind == "item":
        mark = parts[-1].passage.mark
        text += f"\n{mark if mark in ('*', '+') else '-'} {GAP}"
    elif goes_on and parts[-1].passage.kind == "row":
        text += f"\n\n{GAP}"
    return text, tuple(sorted(ranges))


def _flat(parts: Sequence[Part]) -> str:
    shown = ""
    for before, part in zip([None, *parts], parts, strict=False):
        passage = part.passage
        if before is not None and before.order + 1 != part.order:
            shown += f" {GAP} "
        elif before is not None and before.passage.block != passage.block:
            together = passage.entry and before.passage.group == passage.group
            shown += "\n" if together else "\n\n"
        elif before is not None:
            shown += "\n" if passage.begins_line else " "
        if part.lead:
            shown += passage.lead + (" " if passage.kind == "item" else "\n")
        # "1. Vorsitzender …" is read as an item of a list.
        shown += f"{passage.mark} " if passage.mark[:1].isdigit() else ""
        shown += passage.written or passage.text
    return shown


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
            for frame, rows in groupby(group, key=lambda part: part.passage.frame):
                yield "\n".join([frame, *(part.passage.written for part in rows)])
        else:
            for one in group:
                yield (
                    f"{one.passage.lead}\n\n{one.passage.written}"
                    if one.lead
                    else one.passage.written
                )
        last = group[-1]


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
        if part.lead and passage.depth > 1:
            # An item that it is part of.
            lines.append(f"{indent.removesuffix(INDENT)}- {passage.lead}")
        elif part.lead:
            lines.append(passage.lead)
            # Only bullets and a number 1 may follow a paragraph without a blank line.
            lines += [] if passage.mark in ("-", "*", "+", "1.", "1)") else [""]
        lines.append(f"{indent}{passage.mark or '-'} {passage.text}")
    return "\n".join(lines)


Mode = Literal["llm", "extractive", "none"]

QUOTED = "Quoted from the notes:"
"""The first line of an extractive answer, so that nobody takes it for a model's."""

UNSURE = "I am not sure that your notes answer this; the nearest passages:"
"""The first line where the quotes are less likely to answer than :data:`SURE`."""

SURE = 0.85
"""Likelihood from which quotes are shown as an answer: above it 79 in 100 hold what is asked for,
below it 50 (docs/evaluation.md)."""

EVEN = 0.5  # least likelihood of an answer; what it costs is in docs/evaluation.md

SILENT = "I found nothing in your notes that answers this."
"""The whole of an answer when nothing was found, and its first sentence when nothing answers."""

DECLINED = "The vault does not say."  # what a language model is told to say then

LISTED = "There is no question beside the filters. The newest notes that they leave:"
"""How an answer begins where the query is nothing but filters."""

UNCITED = "the answer cites no source; check it against the sources below"

FEW = 3  # notes of a kind that are quoted from their beginning; more are listed
LONGEST = 120  # words that are quoted of each of a few, at most
SUMMARY = 60  # words of what is quoted of a note in a list of notes, at most
FAINT = 0.25  # likelihood from which it is not said that nothing is near
NEAREST = 3  # notes that are named as the nearest when none answers
MISSING = 3  # words of a question that are named because no note has them


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of an answer that quotes a source: its half-open range, marker included.

    ``ranges`` are those of the source's text whose words it holds.
    """

    start: int
    end: int
    marker: str
    ranges: tuple[tuple[int, int], ...] = ()

    def moved(self, by: int) -> Said:
        return replace(self, start=self.start + by, end=self.end + by)


@dataclass(frozen=True, slots=True)
class Draft:
    """``cited`` holds markers of sources (``[1]``), ``mentioned`` labels of connected notes.

    ``said`` tells where the text is quotes, in order; ``left_out`` what a language model was not
    shown; ``material`` is what the markers mean, where connected notes were made sources.
    ``likelihood`` is that of the quotes to answer, 0 to 1; None where it was not asked.
    """

    text: str
    mode: Mode
    cited: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    material: Material | None = None
    likelihood: float | None = None


def without_opening(answer: str) -> str:
    """An extractive answer without the line that says how it was made."""
    return answer.removeprefix(QUOTED).removeprefix(UNSURE).strip()


def written(text: str, material: Material) -> Draft:
    """The draft of what a language model wrote, its markers checked."""
    checked = MarkerFilter(*markers_of(material))
    text = checked.feed(text) + checked.close()
    warnings = []
    if checked.unknown:
        total = sum(checked.unknown.values())
        names = ", ".join(f"[{name}]" for name in checked.unknown)
        noun, were = ("marker", "was") if total == 1 else ("markers", "were")
        warnings.append(f"{total} {noun} of the answer named no source and {were} removed: {names}")
    return Draft(text, "llm", tuple(checked.cited), tuple(checked.mentioned), tuple(warnings))


def markers_of(material: Material) -> tuple[list[str], list[str]]:
    """What an answer may name: the markers of sources, and the labels of connected notes."""
    markers = [source.marker for source in material.sources]
    return markers, [note.label for note in material.connected]


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found for a question: the quotes, and the likelihood that they answer it.

    ``missing`` are words of the question, as they are written there, that no note has, those aside
    which say what kind of answer is wanted; ``unmentioned`` are the sides of a comparison that no
    source speaks of.
    """

    quotes: Sequence[Quote] = ()
    likelihood: float = 0.0
    missing: Sequence[str] = ()
    unmentioned: Sequence[str] = ()

    @property
    def answers(self) -> bool:
        """Whether that is an answer."""
        return bool(self.quotes) and self.likelihood >= EVEN


def quoted(found: Looked, opening: str = "") -> Draft:
    """The draft of an extractive answer: each quote with its marker, then note and heading.

    A quote of several lines is a quote block, so that its lists and tables stay what they are.

    :param opening: the first line of quotes that were looked up; empty for one that says how sure they are.
    """
    sure = found.likelihood >= SURE
    text = opening or (QUOTED if sure else UNSURE)
    said: list[Said] = []
    for quote in found.quotes:
        marker = quote.source.marker
        words = body(quote.text)
        if "\n" in words:
            shown = "\n".join(f"> {line}".rstrip() for line in words.split("\n"))
            piece = f"{shown}\n\n{marker}"
        else:
            piece = f"“{words}” {marker}"
        if quote.name:
            text += f"\n\n{on_one_line(quote.name)}:"
        start = len(text) + 2
        said.append(Said(start, start + len(piece), marker, tuple(quote.ranges)))
        text = f"{text}\n\n{piece}\n— {place_of(quote.source, quote.headings)}"
    # A question may be answered in other words than its own.
    if lacks := _what_lacks(() if sure else found.missing, found.unmentioned):
        text += f"\n\n{lacks}"
    cited = tuple(dict.fromkeys(quote.source.marker for quote in found.quotes))
    likelihood = None if opening else found.likelihood
    return Draft(text, "extractive", cited, said=tuple(said), likelihood=likelihood)


def silent(material: Material, found: Looked | None = None) -> Draft:
    """The honest answer when nothing in the sources answers; it names the nearest notes, where any is near.

    :param found: what would be quoted, were it likelier; None where nothing was looked for.
    """
    text, likelihood = SILENT, None if found is None else found.likelihood
    found = found or Looked()
    if lacks := _what_lacks(found.missing, found.unmentioned):
        text += f" {lacks}"
    near, said = [source for source in material.sources if not source.weak], "Nearest"
    if not near and found.likelihood >= FAINT:
        near, said = [one.source for one in found.quotes], "Nearest, if anything"
    nearest = list(dict.fromkeys(place_of(source) for source in near))[:NEAREST]
    if material.sources:
        text += f" {said}: {'; '.join(nearest)}." if nearest else " No passage is near it."
    return Draft(text, "none", material=material.unconnected(), likelihood=likelihood)


def listed(sources: Sequence[Source]) -> Draft:
    """The answer where nothing was asked: the notes that its filters leave were looked up."""
    notes = dict.fromkeys(on_one_line(source.title) for source in sources)
    return Draft(f"{LISTED} {'; '.join(notes)}.", "none")


NONE = "No "
"""How it is said that there is nothing to list."""


def of_a_kind(material: Material, sentences: SentenceSpans) -> Draft:
    """The answer to a question for the notes of a kind: a few are quoted from their beginning, of
    more each is named, with its first words where those are few."""
    if material.listed.startswith(NONE):
        return Draft(body(on_one_line(material.listed)), "none")
    opening = f"{body(on_one_line(material.listed))}:"
    read = [passages(source.text, sentences) for source in material.sources]
    if len(read) <= FEW and all(read):
        quotes = [_beginning(*one) for one in zip(material.sources, read, strict=True)]
        return quoted(Looked(quotes), opening)
    text = f"{opening}\n"
    said: list[Said] = []
    for source, found in zip(material.sources, read, strict=True):
        text += f"\n- {body(on_one_line(source.title))}"
        if telling := _telling(source, found):
            start = len(text) + 2
            ends = (" " if one.text.endswith(STOPS) else "; " for one in telling[:-1])
            parts = zip(telling, [*ends, ""], strict=True)
            text += f": {body(''.join(f'{one.text}{end}' for one, end in parts))} {source.marker}"
            ranges = (*chain.from_iterable(one.ranges for one in telling),)
            said.append(Said(start, len(text), source.marker, ranges))
        else:
            # A name alone states nothing that the note could bear out.
            text += f" {source.marker}"
    cited = tuple(source.marker for source in material.sources)
    return Draft(text, "extractive", cited, said=tuple(said))


def _telling(source: Source, found: Sequence[Passage]) -> list[Passage]:
    """What is quoted of a note in a list of notes: its first words, of a daily note what was on that day, if
    it says more than a line that was asked for."""
    told = [one for one in found[:1] if one.kind in _FLAT or len(found) == 1]
    if day_in_name(source.path) is not None:
        events = [one for one in found if one.kind in _EVENTS]
        # A field begins at 0.
        told = [one for one in events if all(at for *_, (at, _) in inline_fields(one.text))] or told
    words = 0
    for at, one in enumerate(told):
        words += len(one.text.split())
        if words > (SUMMARY // 2 if at else SUMMARY):
            return told[:at]
    return told


def of_tasks(material: Material) -> Draft:
    """The answer to a question for open tasks: each as it stands, note by note."""
    text, heading = f"{body(on_one_line(material.listed))}:\n", ""
    said: list[Said] = []
    cited: list[str] = []
    for source in material.sources:
        about = material.of(source.marker)
        items: Sequence[Range] = about.get("tasks", ())
        for first, last in items:
            place = place_of(source, headings_at(source.text, ranked_headings(about), first))
            if place != heading:
                text, heading = f"{text}\n{body(place)}\n", place
            start = len(text) + 2
            text += f"- {body(source.text[first:last])} {source.marker}\n"
            said.append(Said(start, len(text) - 1, source.marker, ((first, last),)))
        cited += [source.marker] if items else []
    return Draft(text.rstrip("\n"), "extractive", tuple(cited), said=tuple(said))


def _beginning(source: Source, read: Sequence[Passage]) -> Quote:
    """The first passages of a source, as many as are quoted of one."""
    parts: list[Part] = []
    left = LONGEST
    for order, passage in enumerate(read):
        left -= len(passage.text.split())
        if parts and left < 0:
            break
        parts.append(Part(order, passage, lead=True))
    return Quote(source, *laid_out(parts))


def place_of(source: Source, headings: Sequence[str] = ()) -> str:
    """Note and heading as a person reads them, on one line.

    :param headings: those above a place in the source, where there are any.
    """
    parts = headings or source.heading.split(" > ")
    # The heading of a whole note often says its name again.
    heading = parts[1:] if parts[0] == source.title else parts
    return on_one_line(" > ".join(part for part in (source.title, *heading) if part))


def _what_lacks(missing: Sequence[str], unmentioned: Sequence[str]) -> str:
    if unmentioned:
        return f"I found nothing about {_either(unmentioned)}."
    if missing:
        return f"No note has the word{'s' if len(missing) > 1 else ''} {_either(missing)}."
    return ""


def _either(words: Sequence[str]) -> str:
    shown = [f"“{body(on_one_line(word))}”" for word in words[:MISSING]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
