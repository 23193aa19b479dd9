"""An answer before it is checked: its text, with quotes laid out, and what the text names. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, zip_longest
from typing import Literal

from notehop.app.answer.citations import MarkerFilter, Range
from notehop.app.answer.context import escape_body
from notehop.app.answer.material import Material, headings_at, ranked_headings
from notehop.app.answer.quotes.blocks import END_MARKS, Passage
from notehop.app.answer.quotes.passages import SentenceSpans, split_into_passages
from notehop.app.models import LeftOut, Source
from notehop.indexing.display import on_one_line
from notehop.indexing.vault.dates import day_in_name
from notehop.indexing.vault.properties import inline_fields

ELLIPSIS = "…"  # stands where the source says something in between

_EVENT_KINDS = ("prose", "item")
_INLINE_KINDS = ("prose", "property", "heading")

LIST_INDENT = "   "  # of a list in a list: as much as a number takes


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of one source, passages in the order in which they stand there.

    ``text`` is Markdown: prose is one line, list items, table rows and code keep their lines.
    ``ranges`` are half-open ranges of characters of the source's text, in order, whose words, white
    space and list and quote marks aside, are those of the quote. ``headings`` are those above it,
    the outermost first; ``defined_name`` what the quote defines, by the name of its note, where the
    question has another name for it.
    """

    source: Source
    text: str
    ranges: tuple[Range, ...] = ()
    headings: tuple[str, ...] = ()
    defined_name: str = ""


@dataclass(frozen=True, slots=True)
class QuotePart:
    """A passage to lay out: its place in the source, and whether what introduces it is shown."""

    order: int
    passage: Passage
    shows_lead: bool


def lay_out(parts: Sequence[QuotePart], *, goes_on: bool = False) -> tuple[str, tuple[Range, ...]]:
    """Return the passages as they are shown, and where their words stand in the source.

    Sentences alone are one line, and so is a single item, which needs no list.

    :param parts: in text order, each once; at least one.
    :param goes_on: whether the list or table that they end with has more.
    """
    texts = {part.passage.text for part in parts}
    shown: list[QuotePart] = []
    ranges: set[Range] = set()
    for part in parts:
        passage = part.passage
        lead = part.shows_lead and bool(passage.lead) and passage.lead not in texts
        texts |= {passage.lead} if lead else set()
        shown.append(QuotePart(part.order, passage, lead))
        # The head of a table is shown with every row.
        led = lead or passage.kind in ("row", "code")
        ranges.update(passage.ranges, passage.lead_ranges if led else ())
    first = shown[0]
    single = len(shown) == 1 and first.passage.kind == "item"
    if single and first.shows_lead:
        single = first.passage.lead.endswith(":")
    flat = single or all(part.passage.kind in _INLINE_KINDS for part in shown)
    text = _inline_markdown(shown) if flat else "\n\n".join(_block_markdown(shown))
    if goes_on and parts[-1].passage.kind == "item":
        mark = parts[-1].passage.mark
        text += f"\n{mark if mark in ('*', '+') else '-'} {ELLIPSIS}"
    elif goes_on and parts[-1].passage.kind == "row":
        text += f"\n\n{ELLIPSIS}"
    return text, tuple(sorted(ranges))


def _inline_markdown(parts: Sequence[QuotePart]) -> str:
    shown = ""
    for before, part in zip([None, *parts], parts, strict=False):
        passage = part.passage
        if before is not None and before.order + 1 != part.order:
            shown += f" {ELLIPSIS} "
        elif before is not None and before.passage.block != passage.block:
            together = passage.entry and before.passage.group == passage.group
            shown += "\n" if together else "\n\n"
        elif before is not None:
            shown += "\n" if passage.begins_line else " "
        if part.shows_lead:
            shown += passage.lead + (" " if passage.kind == "item" else "\n")
        # "1. Vorsitzender …" is read as an item of a list.
        shown += f"{passage.mark} " if passage.mark[:1].isdigit() else ""
        shown += passage.markdown or passage.text
    return shown


def _block_markdown(parts: Sequence[QuotePart]) -> Iterator[str]:
    """Runs of one kind, a block of Markdown each."""
    last: QuotePart | None = None
    for kind, run in groupby(parts, key=lambda part: part.passage.kind):
        group = list(run)
        if last is not None and last.order + 1 != group[0].order:
            yield ELLIPSIS
        if kind in _INLINE_KINDS:
            yield _inline_markdown(group)
        elif kind == "item":
            yield _list_markdown(group)
        elif kind == "row":
            for frame, rows in groupby(group, key=lambda part: part.passage.table_head):
                yield "\n".join([frame, *(part.passage.markdown for part in rows)])
        else:
            for one in group:
                yield (
                    f"{one.passage.lead}\n\n{one.passage.markdown}"
                    if one.shows_lead
                    else one.passage.markdown
                )
        last = group[-1]


def _list_markdown(parts: Sequence[QuotePart]) -> str:
    top = min(part.passage.depth - (part.shows_lead and part.passage.depth > 1) for part in parts)
    lines: list[str] = []
    for before, part in zip([None, *parts], parts, strict=False):
        passage = part.passage
        indent = LIST_INDENT * (passage.depth - top)
        if before is not None and before.passage.block == passage.block:
            gap = "" if before.order + 1 == part.order else f" {ELLIPSIS}"
            lines[-1] += f"{gap} {passage.text}"
            continue
        if before is not None and before.order + 1 != part.order:
            lines.append(f"{indent}- {ELLIPSIS}")
        if part.shows_lead and passage.depth > 1:
            # An item that it is part of.
            lines.append(f"{indent.removesuffix(LIST_INDENT)}- {passage.lead}")
        elif part.shows_lead:
            lines.append(passage.lead)
            # Only bullets and a number 1 may follow a paragraph without a blank line.
            lines += [] if passage.mark in ("-", "*", "+", "1.", "1)") else [""]
        lines.append(f"{indent}{passage.mark or '-'} {passage.text}")
    return "\n".join(lines)


Mode = Literal["llm", "extractive", "none"]

QUOTED_OPENING = "Quoted from the notes:"
"""The first line of an extractive answer, so that nobody takes it for a model's."""

UNSURE_OPENING = "I am not sure that your notes answer this; the nearest passages:"
"""The first line where the quotes are less likely to answer than :data:`CONFIDENT_LIKELIHOOD`."""

CONFIDENT_LIKELIHOOD = 0.85
"""Likelihood from which quotes are shown as an answer: above it 79 in 100 hold what is asked for,
below it 50 (docs/evaluation.md). The page has it again, in app/web/static/views/ask.js."""

MIN_ANSWER_LIKELIHOOD = 0.5  # least likelihood of an answer; what it costs is in docs/evaluation.md

NO_ANSWER = "I found nothing in your notes that answers this."
"""The whole of an answer when nothing was found, and its first sentence when nothing answers."""

MODEL_REFUSAL = "The vault does not say."  # what a language model is told to say then

FILTERED_OPENING = "There is no question beside the filters. The newest notes that they leave:"
"""The first line of an answer where the query is nothing but filters."""

UNCITED_WARNING = "the answer cites no source; check it against the sources below"

MAX_QUOTED_NOTES = 3  # notes of a kind that are quoted from their beginning; more are listed
MAX_WORDS_PER_NOTE = 120  # words that are quoted of each of a few, at most
MAX_WORDS_PER_SUMMARY = 60  # words of what is quoted of a note in a list of notes, at most
NEAR_LIKELIHOOD = 0.25  # likelihood from which it is not said that nothing is near
MAX_NEAREST_NOTES = 3  # notes that are named as the nearest when none answers
MAX_MISSING_WORDS = 3  # words of a question that are named because no note has them


@dataclass(frozen=True, slots=True)
class QuotedSpan:
    """A piece of an answer that quotes a source: its half-open range, marker included.

    ``ranges`` are those of the source's text whose words it holds.
    """

    start: int
    end: int
    marker: str
    ranges: tuple[tuple[int, int], ...] = ()

    def shifted(self, by: int) -> QuotedSpan:
        return replace(self, start=self.start + by, end=self.end + by)


@dataclass(frozen=True, slots=True)
class Draft:
    """``cited`` holds markers of sources (``[1]``), ``mentioned`` labels of connected notes.

    ``quoted_spans`` tells where the text is quotes, in order; ``left_out`` what a language model was not
    shown; ``material`` is what the markers mean, where connected notes were made sources.
    ``likelihood`` is that of the quotes to answer, 0 to 1; None where it was not asked.
    """

    text: str
    mode: Mode
    cited: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    quoted_spans: tuple[QuotedSpan, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    material: Material | None = None
    likelihood: float | None = None


def strip_opening(answer: str) -> str:
    """Return an extractive answer without the line that says how it was made."""
    return answer.removeprefix(QUOTED_OPENING).removeprefix(UNSURE_OPENING).strip()


def draft_from_model(text: str, material: Material) -> Draft:
    """Return the draft of a language model's text, its markers checked."""
    marker_filter = MarkerFilter(*allowed_markers(material))
    text = marker_filter.feed(text) + marker_filter.close()
    warnings = []
    if marker_filter.unknown:
        total = sum(marker_filter.unknown.values())
        names = ", ".join(f"[{name}]" for name in marker_filter.unknown)
        noun, were = ("marker", "was") if total == 1 else ("markers", "were")
        warnings.append(f"{total} {noun} of the answer named no source and {were} removed: {names}")
    return Draft(text, "llm", tuple(marker_filter.cited), tuple(marker_filter.mentioned), tuple(warnings))


def allowed_markers(material: Material) -> tuple[list[str], list[str]]:
    """Return the markers of sources and the labels of connected notes, which an answer may name."""
    markers = [source.marker for source in material.sources]
    return markers, [note.label for note in material.connected]


@dataclass(frozen=True, slots=True)
class QuoteResult:
    """The quotes for a question, and the likelihood that they answer it.

    ``missing_words`` are words of the question, as they are written there, that no note has, those aside
    which say what kind of answer is wanted; ``unmentioned_sides`` are the sides of a comparison that no
    source speaks of.
    """

    quotes: Sequence[Quote] = ()
    likelihood: float = 0.0
    missing_words: Sequence[str] = ()
    unmentioned_sides: Sequence[str] = ()

    @property
    def is_answer(self) -> bool:
        """Whether there are quotes, as likely as an answer has to be."""
        return bool(self.quotes) and self.likelihood >= MIN_ANSWER_LIKELIHOOD


def draft_quotes(result: QuoteResult, opening: str = "") -> Draft:
    """Return the draft of an extractive answer: each quote with its marker, then note and heading.

    A quote of several lines is a quote block, so that its lists and tables stay what they are.

    :param opening: the first line of quotes that were looked up; empty for one that says how sure they are.
    """
    is_confident = result.likelihood >= CONFIDENT_LIKELIHOOD
    text = opening or (QUOTED_OPENING if is_confident else UNSURE_OPENING)
    spans: list[QuotedSpan] = []
    for quote, following in zip_longest(result.quotes, result.quotes[1:]):
        marker = quote.source.marker
        words = escape_body(quote.text)
        if "\n" in words:
            shown = "\n".join(f"> {line}".rstrip() for line in words.split("\n"))
            piece = f"{shown}\n\n{marker}"
        else:
            piece = f"“{words}” {marker}"
        if quote.defined_name:
            text += f"\n\n{on_one_line(quote.defined_name)}:"
        start = len(text) + 2
        spans.append(QuotedSpan(start, start + len(piece), marker, tuple(quote.ranges)))
        text = f"{text}\n\n{piece}"
        place = note_and_heading(quote.source, quote.headings)
        same = following is not None and following.source is quote.source
        if not (same and following.headings == quote.headings):  # else it stands below both
            text += f"\n— {place}"
    # A question may be answered in other words than its own.
    if missing := _missing_sentence(() if is_confident else result.missing_words, result.unmentioned_sides):
        text += f"\n\n{missing}"
    cited = tuple(dict.fromkeys(quote.source.marker for quote in result.quotes))
    likelihood = None if opening else result.likelihood
    return Draft(text, "extractive", cited, quoted_spans=tuple(spans), likelihood=likelihood)


def draft_no_answer(material: Material, result: QuoteResult | None = None) -> Draft:
    """Return the draft for when nothing in the sources answers; it names the nearest notes, if any is near.

    :param result: what would be quoted, were it likelier; None where nothing was looked for.
    """
    text, likelihood = NO_ANSWER, None if result is None else result.likelihood
    result = result or QuoteResult()
    if missing := _missing_sentence(result.missing_words, result.unmentioned_sides):
        text += f" {missing}"
    near, label = [source for source in material.sources if not source.weak], "Nearest"
    if not near and result.likelihood >= NEAR_LIKELIHOOD:
        near, label = [one.source for one in result.quotes], "Nearest, if anything"
    nearest = list(dict.fromkeys(note_and_heading(source) for source in near))[:MAX_NEAREST_NOTES]
    if material.sources:
        text += f" {label}: {'; '.join(nearest)}." if nearest else " No passage is near it."
    return Draft(text, "none", material=material.without_connected(), likelihood=likelihood)


def draft_filtered_notes(sources: Sequence[Source]) -> Draft:
    """Return the draft where nothing was asked but filters: the notes that they leave, by name."""
    notes = dict.fromkeys(on_one_line(source.title) for source in sources)
    return Draft(f"{FILTERED_OPENING} {'; '.join(notes)}.", "none")


NOTHING_LISTED_PREFIX = "No "
"""The beginning of a list heading that says that there is nothing to list."""


def draft_note_list(material: Material, sentences: SentenceSpans) -> Draft:
    """Return the draft for the notes of a kind: a few are quoted from their beginning, of more each is
    named, with its first words where those are few."""
    if material.list_heading.startswith(NOTHING_LISTED_PREFIX):
        return Draft(escape_body(on_one_line(material.list_heading)), "none")
    opening = f"{escape_body(on_one_line(material.list_heading))}:"
    passages_by_source = [split_into_passages(source.text, sentences) for source in material.sources]
    if len(passages_by_source) <= MAX_QUOTED_NOTES and all(passages_by_source):
        quotes = [_quote_beginning(*one) for one in zip(material.sources, passages_by_source, strict=True)]
        return draft_quotes(QuoteResult(quotes), opening)
    text = f"{opening}\n"
    spans: list[QuotedSpan] = []
    for source, passages in zip(material.sources, passages_by_source, strict=True):
        text += f"\n- {escape_body(on_one_line(source.title))}"
        if summary := _summary_passages(source, passages):
            start = len(text) + 2
            ends = (" " if one.text.endswith(END_MARKS) else "; " for one in summary[:-1])
            parts = zip(summary, [*ends, ""], strict=True)
            text += f": {escape_body(''.join(f'{one.text}{end}' for one, end in parts))} {source.marker}"
            ranges = (*chain.from_iterable(one.ranges for one in summary),)
            spans.append(QuotedSpan(start, len(text), source.marker, ranges))
        else:
            # A name alone states nothing that the note could bear out.
            text += f" {source.marker}"
    cited = tuple(source.marker for source in material.sources)
    return Draft(text, "extractive", cited, quoted_spans=tuple(spans))


def _summary_passages(source: Source, passages: Sequence[Passage]) -> list[Passage]:
    """Return what is quoted of a note in a list of notes: its first words, of a daily note what was on that
    day, if it says more than a line that was asked for."""
    summary = [one for one in passages[:1] if one.kind in _INLINE_KINDS or len(passages) == 1]
    if day_in_name(source.path) is not None:
        events = [one for one in passages if one.kind in _EVENT_KINDS]
        # A field begins at 0.
        summary = [one for one in events if all(at for *_, (at, _) in inline_fields(one.text))] or summary
    words = 0
    for at, passage in enumerate(summary):
        words += len(passage.text.split())
        if words > (MAX_WORDS_PER_SUMMARY // 2 if at else MAX_WORDS_PER_SUMMARY):
            return summary[:at]
    return summary


def draft_task_list(material: Material) -> Draft:
    """Return the draft for open tasks: each as it stands, note by note."""
    text, heading = f"{escape_body(on_one_line(material.list_heading))}:\n", ""
    spans: list[QuotedSpan] = []
    cited: list[str] = []
    for source in material.sources:
        metadata = material.metadata_of(source.marker)
        items: Sequence[Range] = metadata.get("tasks", ())
        for first, last in items:
            place = note_and_heading(source, headings_at(source.text, ranked_headings(metadata), first))
            if place != heading:
                text, heading = f"{text}\n{escape_body(place)}\n", place
            start = len(text) + 2
            text += f"- {escape_body(source.text[first:last])} {source.marker}\n"
            spans.append(QuotedSpan(start, len(text) - 1, source.marker, ((first, last),)))
        cited += [source.marker] if items else []
    return Draft(text.rstrip("\n"), "extractive", tuple(cited), quoted_spans=tuple(spans))


def _quote_beginning(source: Source, passages: Sequence[Passage]) -> Quote:
    """The first passages of a source, as many as are quoted of one."""
    parts: list[QuotePart] = []
    left = MAX_WORDS_PER_NOTE
    for order, passage in enumerate(passages):
        left -= len(passage.text.split())
        if parts and left < 0:
            break
        parts.append(QuotePart(order, passage, shows_lead=True))
    return Quote(source, *lay_out(parts))


def note_and_heading(source: Source, headings: Sequence[str] = ()) -> str:
    """Return note and heading as a person reads them, on one line.

    :param headings: those above a place in the source, where there are any.
    """
    parts = headings or source.heading.split(" > ")
    # The heading of a whole note often says its name again.
    heading = parts[1:] if parts[0] == source.title else parts
    return on_one_line(" > ".join(part for part in (source.title, *heading) if part))


def _missing_sentence(missing: Sequence[str], unmentioned: Sequence[str]) -> str:
    if unmentioned:
        return f"I found nothing about {_join_quoted_words(unmentioned)}."
    if missing:
        return f"No note has the word{'s' if len(missing) > 1 else ''} {_join_quoted_words(missing)}."
    return ""


def _join_quoted_words(words: Sequence[str]) -> str:
    shown = [f"“{escape_body(on_one_line(word))}”" for word in words[:MAX_MISSING_WORDS]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
