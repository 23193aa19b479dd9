"""An answer before it is dressed for an edge: its text, and what the text names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from notehop.app.answer.citations import check_citations
from notehop.app.answer.frame import body
from notehop.app.answer.layout import Quote
from notehop.app.answer.markers import Grammar, grammar_for
from notehop.app.answer.material import Material
from notehop.app.models import LeftOut, Source
from notehop.indexing.shown import on_one_line

Mode = Literal["llm", "extractive", "none"]

QUOTED = "Quoted from the notes:"
"""The first line of an extractive answer, so that nobody takes it for a model's."""

SILENT = "I found nothing in your notes that answers this."
"""The whole of an answer when nothing was found, and its first sentence when nothing answers."""

DECLINED = "The vault does not say."
"""What a language model is told to say then."""

LISTED = "There is no question beside the filters. The newest notes that they leave:"
"""How an answer begins where the query is nothing but filters."""

UNCITED = "the answer cites no source; check it against the sources below"

NEAREST = 3
"""Notes that are named as the nearest when none answers."""

MISSING = 3
"""Words of a question that are named because no note has them."""


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of an answer that quotes a source: its half-open range, marker included.

    ``ranges`` are those of the source's text whose words it holds.
    """

    start: int
    end: int
    marker: str
    ranges: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """``cited`` holds markers of sources (``[1]``), ``mentioned`` labels of connected notes.

    ``said`` tells where the text is quotes, in order; ``left_out`` what a language model was not
    shown; ``material`` is what the markers mean, where connected notes were made sources.
    """

    text: str
    mode: Mode
    cited: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    said: tuple[Said, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    material: Material | None = None


def written(text: str, material: Material) -> Draft:
    """The draft of what a language model wrote, its markers checked."""
    checked = check_citations(text.strip(), *names_of(material), grammar_of(material))
    warnings = []
    if checked.unknown:
        total = sum(count for _, count in checked.unknown)
        names = ", ".join(f"[{name}]" for name, _ in checked.unknown)
        noun = "marker" if total == 1 else "markers"
        warnings.append(f"{total} {noun} of the answer named no source and {_were(total)}: {names}")
    if not checked.cited:
        warnings.append(UNCITED)
    return Draft(checked.text, "llm", checked.cited, checked.mentioned, tuple(warnings))


def names_of(material: Material) -> tuple[list[str], list[str]]:
    """What an answer may name: the markers of sources and the labels of connected notes."""
    return (
        [source.marker for source in material.sources],
        [note.label for note in material.connected],
    )


def grammar_of(material: Material) -> Grammar:
    """How the markers of an answer from the material may be written."""
    shown = [source.text for source in material.sources]
    return grammar_for([*shown, *(note.text for note in material.connected)])


def quoted(quotes: Sequence[Quote], unmentioned: Sequence[str] = ()) -> Draft:
    """The draft of an extractive answer: each quote with its marker, then note and heading.

    A quote of several lines is a quote block, so that its lists and tables stay what they are.

    :param unmentioned: what was asked about, too, and the sources say nothing of.
    """
    text = QUOTED
    said: list[Said] = []
    for quote in quotes:
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
        text = f"{text}\n\n{piece}\n— {place_of(quote.source, quote.heading)}"
    if unmentioned:
        text += f"\n\n{_nothing_about(unmentioned)}"
    cited = tuple(quote.source.marker for quote in quotes)
    return Draft(text, "extractive", cited, said=tuple(said))


def silent(
    material: Material, missing: Sequence[str] = (), unmentioned: Sequence[str] = ()
) -> Draft:
    """The honest answer when nothing in the sources answers; it names the nearest notes.

    :param missing: words of the question that stand in no note.
    :param unmentioned: as of :func:`quoted`.
    """
    text = SILENT
    if unmentioned:
        text += f" {_nothing_about(unmentioned)}"
    elif missing:
        noun = "word" if len(missing) == 1 else "words"
        text += f" No note has the {noun} {_either(missing)}."
    nearest = list(dict.fromkeys(place_of(source) for source in material.sources))[:NEAREST]
    if nearest:
        text += f" Nearest: {'; '.join(nearest)}."
    # What is linked from notes that do not answer is noise.
    return Draft(text, "none", material=replace(material, connected=(), connected_nodes=()))


def listed(sources: Sequence[Source]) -> Draft:
    """The answer where nothing was asked: the notes that its filters leave were looked up."""
    notes = dict.fromkeys(on_one_line(source.title) for source in sources)
    return Draft(f"{LISTED} {'; '.join(notes)}.", "none")


def place_of(source: Source, within: str = "") -> str:
    """Note and heading as a person reads them, on one line.

    :param within: a heading below that of the source.
    """
    parts = (source.title, source.heading, within)
    return on_one_line(" > ".join(part for part in parts if part))


def _nothing_about(what: Sequence[str]) -> str:
    return f"I found nothing about {_either(what)}."


def _either(words: Sequence[str]) -> str:
    shown = [f"“{body(on_one_line(word))}”" for word in words[:MISSING]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _were(count: int) -> str:
    return "was removed" if count == 1 else "were removed"
