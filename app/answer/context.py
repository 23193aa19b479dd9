"""The context that a language model is shown: sources first, then, apart and labelled, the connected
notes; within its window, and so that no text of a note closes or fakes the frame that holds it.

The frame consists of header lines (``[1] [folder] Title``), one ``---`` and one line that begins
with ``CONNECTED NOTES``. Note text is data and may hold all of these. What imitates the frame is
changed in the context only, never in what is stored or shown as a source:

- a marker (``[2]``, ``[C1]``, ``[1, 2]``) gets full-width brackets, ``［2］``, wherever it stands
  in prose, and in code where it begins a line and is followed by another bracket, as a header is;
- a line of dashes alone gets a backslash before it, ``\\---``, outside code;
- the capitals ``CONNECTED NOTES`` become ``Connected notes``, everywhere;
- every kind of line break becomes a plain one, and a fence left open is closed at the end, so that
  it cannot swallow the next header.

Spaces, zero-width characters and full-width letters in between do not help to get around it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from posixpath import dirname
from typing import TypeVar

from notehop.app.answer.citations import code_spans, inside, label_marker, open_fence
from notehop.app.answer.material import Material, lines_of, units
from notehop.app.models import ConnectedNote, LeftOut, Source
from notehop.indexing.llm.text import count_tokens, without_control
from notehop.indexing.vault.sentences import sentence_spans

_GAP = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_DASHES = r"\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"

_NAME = rf"[CcＣｃ]?{_GAP}\d+"
_MARKER = re.compile(
    rf"\[(?P<inside>{_GAP}{_NAME}{_GAP}(?:[,;{_DASHES}]{_GAP}{_NAME}{_GAP})*)\](?P<next>{_GAP}\[)?"
)
_RULE = re.compile(rf"^(?P<indent>{_GAP})(?P<rule>[{_DASHES}](?:{_GAP}[{_DASHES}]){{2,}}{_GAP})$")


def _spaced(word: str) -> str:
    """A pattern for ``word`` in plain or full-width capitals with nothing visible in between."""
    return _GAP.join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in word)


_TITLE = re.compile(rf"{_spaced('CONNECTED')}{_GAP}{_spaced('NOTES')}")


def body(text: str) -> str:
    """Return the text of a note such that no line of it can be taken for the frame.

    Idempotent; text that imitates nothing is returned as it is, line breaks aside.
    """
    text = _TITLE.sub("Connected notes", _BREAK.sub("\n", text))
    spans = code_spans(text)
    parts: list[str] = []
    at = 0
    for match in _MARKER.finditer(text):
        if inside(spans, match.start()) and not _heads_a_line(text, match):
            continue
        parts += [text[at : match.start()], f"［{match['inside']}］"]
        at = match.start() + len(match["inside"]) + 2
    text = _escape_rules("".join([*parts, text[at:]]))
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def one_line(text: str) -> str:
    """Return a title, folder or heading as one line without square brackets.

    A file name may hold a line break, and a title whatever its writer liked.
    """
    text = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())
    return _TITLE.sub("Connected notes", text.replace("[", "［").replace("]", "］"))


def _heads_a_line(text: str, match: re.Match[str]) -> bool:
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return (
        match["next"] is not None and re.fullmatch(rf"[>*+`~\-]?{_GAP}", line.strip()) is not None
    )


def _escape_rules(text: str) -> str:
    lines = text.split("\n")
    spans = code_spans(text)
    at = 0
    for number, line in enumerate(lines):
        match = _RULE.match(line)
        if match is not None and not inside(spans, at):
            lines[number] = f"{match['indent']}\\{match['rule']}"
        at += len(line) + 1
    return "\n".join(lines)


CONNECTED_TITLE = "CONNECTED NOTES (linked from retrieved results):"

ROOT = "/"  # what stands for the folder of a note at the top of the vault
BEGINNING = " (its beginning)"  # what a header says of a text that was shortened


def build_context(material: Material, shortened: Collection[str] = ()) -> str:
    """Return the context, sources in the order given, those of one note together in text order, at
    the place of the first of them; the empty string for nothing.

    Sources are headed ``[1] [folder] Title > Heading``; the part for connected notes is there only
    when there are any. Note text cannot imitate this frame (see :mod:`notehop.app.answer.context`), nor
    that which a chat template puts around it.

    :param shortened: markers and labels of what is not there whole.
    """
    best: dict[str, int] = {}
    for at, source in enumerate(material.sources):
        best.setdefault(source.path, at)
    ordered = sorted(material.sources, key=lambda source: (best[source.path], source.lines))
    parts = [source_part(source, source.marker in shortened) for source in ordered]
    if material.connected:
        parts += ["---", CONNECTED_TITLE]
        parts += [connected_part(note, note.label in shortened) for note in material.connected]
    return "\n\n".join(parts)


def source_part(source: Source, shortened: bool = False) -> str:
    """One source under its header."""
    end = BEGINNING if shortened else ""
    title = " > ".join(part for part in (source.title, source.heading) if part)
    head = f"{source.marker} {_folder(source.path)} {one_line(title)}{end}"
    return without_control(f"{head}\n{_text(source.text)}")


def connected_part(note: ConnectedNote, shortened: bool = False) -> str:
    """One connected note under its header."""
    head = f"{label_marker(note.label)} {_folder(note.path)} {one_line(note.title)}"
    end = BEGINNING if shortened else ""
    head = f"{head} (linked from: {one_line(note.linked_from.title)}){end}"
    return without_control(f"{head}\n{_text(note.text)}")


def _folder(path: str) -> str:
    return f"[{one_line(dirname(path)) or ROOT}]"


def _text(text: str) -> str:
    return body(text.strip())


USEFUL = 40  # tokens of a text that are worth showing without the rest: some two sentences
JOINT = 2  # tokens of the blank line between two parts

Part = TypeVar("Part", Source, ConnectedNote)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A context with the material that stands in it, shortened texts as they stand there.

    ``left_out`` names what does not, sources first, in the order of their markers.
    """

    context: str
    material: Material
    left_out: tuple[LeftOut, ...] = ()


def fit(material: Material, window: int) -> Fitted:
    """Return a context of at most ``window`` tokens, as full as whole sentences allow.

    Room is given to sources first, in their order, then to connected notes. What does not fit is
    cut at the end of a sentence, list item or table row, and left out where less than something
    useful would be left. Something of the first source is always there.

    :param window: tokens for the context alone, which are counted rather too many.
    """
    context = build_context(material)
    # No tokenizer makes more tokens than there are bytes.
    if len(context.encode()) <= window or count_tokens(context) <= window:
        return Fitted(context, material)
    return _Fitting(material, window).fitted()


class _Fitting:
    def __init__(self, material: Material, room: int) -> None:
        self._material = material
        self._room = room
        self._left = room
        self._cut: dict[str, int] = {}

    def fitted(self) -> Fitted:
        sources: list[Source] = []
        for source in self._material.sources:
            found = self._taken(source, source.marker, source_part, must=not sources)
            sources += [found] if found else []
        connected: list[ConnectedNote] = []
        self._left -= count_tokens(f"---\n\n{CONNECTED_TITLE}")
        for note in self._material.connected:
            near = self._taken(note, note.label, connected_part)
            connected += [near] if near else []
        # Counted together, parts may be a few tokens more than one by one.
        while True:
            kept = replace(self._material, sources=tuple(sources), connected=tuple(connected))
            context = build_context(kept, self._cut)
            if len(sources) + len(connected) <= 1 or count_tokens(context) <= self._room:
                break
            (connected or sources).pop()
        return Fitted(context, kept, tuple(self._left_out(kept)))

    def _taken(
        self, part: Part, name: str, shown: Callable[..., str], *, must: bool = False
    ) -> Part | None:
        """The part, or its beginning, that there is room for; None if there is none."""
        cost = count_tokens(shown(part)) + JOINT
        if cost <= self._left:
            self._left -= cost
            return part
        # Not behind a heading, which says nothing alone.
        ends = [one.end for one in units(part.text, sentence_spans) if one.kind != "heading"]
        head = count_tokens(shown(part.model_copy(update={"text": ""}), shortened=True))
        room = self._left - head - JOINT
        fits = bisect_right(ends, room, key=lambda end: count_tokens(part.text[:end]))
        if fits == 0 or fits == len(ends) or count_tokens(part.text[: ends[fits - 1]]) < USEFUL:
            if not must:
                return None
            fits = max(1, min(fits, len(ends)))
        end = ends[fits - 1] if ends else len(part.text)
        self._left = max(0, room - count_tokens(part.text[:end]))
        if end < len(part.text.rstrip()):
            self._cut[name] = end
        return part.model_copy(update={"text": part.text[:end]})

    def _left_out(self, kept: Material) -> list[LeftOut]:
        there = {*(one.marker for one in kept.sources), *(one.label for one in kept.connected)}
        parts: dict[str, Source | ConnectedNote] = {
            **{one.marker: one for one in self._material.sources},
            **{one.label: one for one in self._material.connected},
        }
        found = []
        for name, one in parts.items():
            if name in there and name not in self._cut:
                continue
            start = self._cut[name] if name in there else 0
            start += len(one.text[start:]) - len(one.text[start:].lstrip()) if start else 0
            found.append(
                LeftOut(
                    marker=name,
                    path=one.path,
                    title=one.title,
                    heading=one.heading,
                    lines=lines_of(one, start, len(one.text)) if start else one.lines,
                    part="end" if start else "whole",
                    tokens=count_tokens(one.text[start:]),
                )
            )
        return found
