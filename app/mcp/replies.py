"""What the tools reply, and its text: as little as an agent needs to go on, and nothing twice.

Fields that are empty are left out of what is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from notehop.app.models.query import Strict
from notehop.app.models.reply import Flag, Support
from notehop.indexing.shown import counted, on_one_line, printable

CONTEXT = "context, not evidence"


class Place(Strict):
    """A passage of the vault, by file, headings and lines; ``lines`` count from 1."""

    file: str
    heading: str
    lines: tuple[int, int]


class Passage(Place):
    """A hit of a search; ``score`` compares within one reply only, ``relevance`` (0 to 1) across
    searches. ``weak``: it is no nearer than by chance."""

    marker: str
    score: float
    relevance: float | None = None
    weak: bool = False
    text: str


class Cited(Place):
    """A passage that the answer cites by its marker; ``uri`` opens it in the app.

    ``support`` tells how far it says what the answer cites it for, ``quote_lines`` where the words
    stand that say it best.
    """

    marker: str
    support: Support | None = None
    quote_lines: tuple[int, int] | None = None
    text: str
    uri: str


class Doubt(Strict):
    """A sentence of the answer that its sources do not bear out.

    ``flag``: it names no source (``uncited``), connected notes alone (``context``), or sources that
    do not say it (``unsupported``). ``lacks`` holds what it states that they do not have.
    """

    sentence: str
    flag: Flag | None = None
    lacks: list[str] = Field(default_factory=list)


class Found(Place):
    """A passage that was found and that the answer does not cite."""

    marker: str


class Nearby(Place):
    """A note that a source links to: context. ``reason`` names the link and its sentence."""

    label: str
    reason: str
    text: str = ""


class Told(Strict):
    """What every reply about a question carries.

    ``left_out`` names the first passages that did not fit the budget, ``left_out_count`` counts
    all. ``filters`` are those that were applied. ``searched_for`` maps words that stand nowhere in
    the notes to those that were searched for in their place. ``pending`` counts notes that changed since they
    were indexed.
    """

    connected_notes: list[Nearby] = Field(
        default_factory=list, description=f"One link away from the sources: {CONTEXT}."
    )
    left_out: list[Place] = Field(default_factory=list)
    left_out_count: int = 0
    warnings: list[str] = Field(default_factory=list)
    filters: list[str] = Field(default_factory=list)
    searched_for: dict[str, str] = Field(default_factory=dict)
    pending: int | None = None


class SearchReply(Told):
    """What matches, best first."""

    hits: list[Passage]


class AskReply(Told):
    """An answer; ``mode`` tells who wrote it: a model (``written_by``), or quotes from the notes.

    ``doubts`` are its sentences that are not to be taken on trust. ``not_read`` holds the markers
    and labels of what the model that wrote it was not shown whole, as it had no room.
    """

    answer: str
    mode: Literal["llm", "extractive", "none"]
    written_by: str | None = None
    doubts: list[Doubt] = Field(default_factory=list)
    not_read: list[str] = Field(default_factory=list)
    citations: list[Cited] = Field(default_factory=list)
    also_found: list[Found] = Field(default_factory=list)


class Seen(Strict):
    """A note near the ones asked about.

    ``way``: how it is linked with what is nearer to them: ``forward`` if that links to it.
    ``sentences`` are those that hold the links. ``written_by`` names the model that wrote ``text``,
    where it is not the note's own.
    """

    file: str
    title: str
    heading: str = ""
    lines: tuple[int, int] | None = None
    depth: int
    way: Literal["forward", "backward", "both"]
    score: float
    sentences: list[str] = Field(default_factory=list)
    text: str = ""
    written_by: str | None = None


class BrowseReply(Strict):
    """The notes around some, best first.

    ``start`` holds the files of those that were asked about, ``total`` counts all around them,
    ``left_out`` those that did not fit the budget.
    """

    start: list[str]
    notes: list[Seen]
    total: int
    left_out: int = 0
    warnings: list[str] = Field(default_factory=list)
    pending: int | None = None


class Heading(Strict):
    """A heading of a note."""

    level: int
    heading: str
    line: int


class NoteReply(Strict):
    """A note, or a part of it, as its file reads now.

    ``lines`` are those of ``text``. ``next_line`` is where to go on, if not all of it fit the
    budget. ``summary_by`` names the model that wrote ``summary``, where it is not the note's own.
    ``links_to`` and ``linked_from`` hold files, the first of them; the counts are of all.
    """

    file: str
    title: str
    section: str | None = None
    lines: tuple[int, int]
    text: str = ""
    next_line: int | None = None
    summary: str | None = None
    summary_by: str | None = None
    outline: list[Heading] = Field(default_factory=list)
    links_to: list[str] = Field(default_factory=list)
    links_to_count: int = 0
    linked_from: list[str] = Field(default_factory=list)
    linked_from_count: int = 0
    tags: list[str] = Field(default_factory=list)
    aliases: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    uri: str


class CapturedLink(Strict):
    """A note that the captured one has to do with; ``link`` is what to paste to link to it.

    ``written_by`` names the model that wrote ``snippet``, where it is not the note's own.
    """

    file: str
    title: str
    link: str
    snippet: str
    score: float
    written_by: str | None = None


class CaptureReply(Strict):
    """The note that was written: its path, and what the vault already has on it."""

    file: str
    message: str
    connections: list[CapturedLink] = Field(default_factory=list)


def search_text(reply: SearchReply) -> str:
    """Hits with their text, then what connects."""
    parts = [f"{hit.marker} {_at(hit)} ({_worth(hit)})\n{_quoted(hit.text)}" for hit in reply.hits]
    parts = parts or ["Nothing fits." if reply.left_out else "No hits."]
    return _joined([*_searched(reply), *parts, *_told(reply)])


def ask_text(reply: AskReply) -> str:
    """The answer, what it cites, what else there is."""
    by = f", {on_one_line(reply.written_by)}" if reply.written_by else ""
    parts = [*_searched(reply), f"Answer ({reply.mode}{by}):\n{_quoted(reply.answer)}"]
    if reply.doubts:
        doubts = "\n".join(f"{_quoted(one.sentence)}\n{_why(one)}" for one in reply.doubts)
        parts.append(f"Not borne out by the notes:\n{doubts}")
    if reply.not_read:
        parts.append(f"Not shown whole to the model that wrote it: {', '.join(reply.not_read)}")
    parts += [
        f"{one.marker} {_at(one)}{_borne_out(one)}\n{_quoted(one.text)}" for one in reply.citations
    ]
    if reply.also_found:
        found = "\n".join(f"{one.marker} {_at(one)}" for one in reply.also_found)
        parts.append(f"Also found, not cited:\n{found}")
    return _joined([*parts, *_told(reply)])


def browse_text(reply: BrowseReply) -> str:
    """The notes and the sentences that link them."""
    count = counted(reply.total, "note")
    parts = [f"{count} around {', '.join(on_one_line(path) for path in reply.start)}"]
    for note in reply.notes:
        links = "\n".join(_quoted(sentence) for sentence in note.sentences)
        about = note.text and f"{_quoted(note.text)}{_by(note.written_by)}"
        parts.append(f"{on_one_line(note.file)} (depth {note.depth}, {note.way})")
        parts[-1] += "".join(f"\n{part}" for part in (links, about) if part)
    if reply.left_out:
        parts.append(f"{counted(reply.left_out, 'note')} more did not fit the budget.")
    return _joined([*parts, *_warned(reply.warnings, reply.pending)])


def note_text(reply: NoteReply) -> str:
    """The note, where to go on, and where its links lead."""
    first, last = reply.lines
    parts = [f"{on_one_line(reply.file)}:{first}-{last}"]
    if reply.summary:
        parts.append(f"Summary:\n{_quoted(reply.summary)}{_by(reply.summary_by)}")
    if reply.text:
        parts.append(_quoted(reply.text))
    if reply.next_line is not None:
        parts.append(f"More from line {reply.next_line} on (from_line={reply.next_line}).")
    if reply.outline:
        lines = [
            f"{'#' * one.level} {on_one_line(one.heading)} :{one.line}" for one in reply.outline
        ]
        parts.append("Outline:\n" + "\n".join(f"> {line}" for line in lines))
    for label, paths, count in (
        ("Links to", reply.links_to, reply.links_to_count),
        ("Linked from", reply.linked_from, reply.linked_from_count),
    ):
        if paths:
            more = f" and {count - len(paths)} more" if count > len(paths) else ""
            parts.append(f"{label}: {'; '.join(on_one_line(path) for path in paths)}{more}")
    return _joined([*parts, *_warned(reply.warnings, None)])


def capture_text(reply: CaptureReply) -> str:
    """What was written, and what to link it with."""
    links = [
        f"{on_one_line(one.link)}\n{_quoted(one.snippet)}{_by(one.written_by)}"
        for one in reply.connections
    ]
    return _joined([on_one_line(reply.message), *links])


def _by(model: str | None) -> str:
    """What is said below a text that is not the note's own."""
    if model is None:
        return ""
    return f"\n(written by the model {on_one_line(model)}, not in the note)"


def _why(doubt: Doubt) -> str:
    lacks = ", ".join(on_one_line(one) for one in doubt.lacks)
    return "; ".join(part for part in (doubt.flag or "", lacks and f"not there: {lacks}") if part)


def _borne_out(one: Cited) -> str:
    said = "" if one.support is None else f"support {one.support}"
    if one.quote_lines is not None:
        first, last = one.quote_lines
        lines = f"line {first}" if first == last else f"lines {first}-{last}"
        said = f"{said}, by {lines}" if said else lines
    return f" ({said})" if said else ""


def _told(reply: Told) -> Iterable[str]:
    if reply.connected_notes:
        yield f"Connected notes ({CONTEXT}):"
        yield from (_near(note) for note in reply.connected_notes)
    if reply.left_out_count:
        places = "; ".join(_at(one) for one in reply.left_out)
        more = reply.left_out_count - len(reply.left_out)
        rest = f" and {more} more" if more else ""
        yield f"Did not fit the budget: {places}{rest}. Raise budget, or use read_note."
    if reply.filters:
        yield f"Filters: {on_one_line(' '.join(reply.filters))}"
    yield from _warned(reply.warnings, reply.pending)


def _searched(reply: Told) -> Iterable[str]:
    """What was searched for, where that is not what was written."""
    if reply.searched_for:
        told = (f"{new} (for {old})" for old, new in reply.searched_for.items())
        yield f"Searched for: {on_one_line(', '.join(told))}"


def _worth(hit: Passage) -> str:
    if hit.relevance is None:
        return f"score {hit.score}"
    return f"score {hit.score}, relevance {hit.relevance:.2f}{', weak' if hit.weak else ''}"


def _near(note: Nearby) -> str:
    told = f"{note.label} {_at(note)}\n{_quoted(note.reason)}"
    return f"{told}\n{_quoted(note.text)}" if note.text else told


def _warned(warnings: Sequence[str], pending: int | None) -> Iterable[str]:
    yield from (f"Note: {on_one_line(warning)}" for warning in warnings)
    if pending:
        yield f"Note: {counted(pending, 'note')} changed since they were indexed."


def _at(place: Place) -> str:
    first, last = place.lines
    heading = f" > {on_one_line(place.heading)}" if place.heading else ""
    return f"{on_one_line(place.file)}:{first}-{last}{heading}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in printable(text).splitlines())


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(parts)
