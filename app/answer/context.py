"""The context that a language model is shown: sources first, then, apart and labelled, the connected
notes; within its window, and so that no text of a note closes or fakes the frame that holds it.

The frame consists of header lines (``[1] [folder] Title``), one ``---`` and one line that begins
with ``CONNECTED NOTES``. Note text is data and may hold all of these. What imitates the frame is
changed in the context only, never in what is stored or shown as a source:

- a marker (``[2]``, ``[C1]``, ``[1, 2]``) gets full-width brackets, ``［2］``, wherever it stands
  in prose, and in code where it begins a line and is followed by another bracket, as a header is;
- ``【2】``, which some models write for it, becomes ``〔2〕``, everywhere;
- a line of dashes alone gets a backslash before it, ``\\---``, outside code;
- the capitals ``CONNECTED NOTES`` become ``Connected notes``, everywhere;
- every kind of line break becomes a plain one, and a fence left open is closed at the end, so that
  it cannot swallow the next header.

Spaces, zero-width characters and full-width letters in between do not help to get around it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from posixpath import dirname

from notehop.app.answer.citations import code_spans, is_inside, marker_of, unclosed_fence
from notehop.app.answer.material import Material
from notehop.app.models import ConnectedNote, LeftOut, Source
from notehop.indexing.llm.text import count_tokens, without_control

_GAP = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
_BREAK = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_DASHES = r"\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"

_NAME = rf"[CcＣｃ]?{_GAP}\d+"
_MARKER = re.compile(
    rf"\[(?P<inside>{_GAP}{_NAME}{_GAP}(?:[,;{_DASHES}]{_GAP}{_NAME}{_GAP})*)\](?P<next>{_GAP}\[)?"
)
_OTHER_MARKER = re.compile(rf"【({_GAP}[Cc]?\d[^】\n]{{0,1000}})】")
_RULE = re.compile(rf"^(?P<indent>{_GAP})(?P<rule>[{_DASHES}](?:{_GAP}[{_DASHES}]){{2,}}{_GAP})$")


def _spaced_pattern(word: str) -> str:
    """A pattern for ``word`` in plain or full-width capitals with nothing visible in between."""
    return _GAP.join(f"[{letter}{chr(ord(letter) + 0xFEE0)}]" for letter in word)


_TITLE = re.compile(rf"{_spaced_pattern('CONNECTED')}{_GAP}{_spaced_pattern('NOTES')}")


def escape_body(text: str) -> str:
    """Return the text of a note such that no line of it can be taken for the frame.

    Idempotent; text that imitates nothing is returned as it is, line breaks aside.
    """
    text = _TITLE.sub("Connected notes", _BREAK.sub("\n", text))
    text = _OTHER_MARKER.sub(r"〔\1〕", text)
    spans = code_spans(text)
    parts: list[str] = []
    at = 0
    for match in _MARKER.finditer(text):
        if is_inside(spans, match.start()) and not _is_line_header(text, match):
            continue
        parts += [text[at : match.start()], f"［{match['inside']}］"]
        at = match.start() + len(match["inside"]) + 2
    text = _escape_rules("".join([*parts, text[at:]]))
    fence = unclosed_fence(text)
    return f"{text}\n{fence}" if fence else text


def escape_title(text: str) -> str:
    """Return a title, folder or heading as one line without square brackets.

    A file name may hold a line break, and a title whatever its writer liked.
    """
    text = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", text).split())
    return _TITLE.sub("Connected notes", text.replace("[", "［").replace("]", "］"))


def _is_line_header(text: str, match: re.Match[str]) -> bool:
    line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    return match["next"] is not None and re.fullmatch(rf"[>*+`~\-]?{_GAP}", line.strip()) is not None


def _escape_rules(text: str) -> str:
    lines = text.split("\n")
    spans = code_spans(text)
    at = 0
    for number, line in enumerate(lines):
        match = _RULE.match(line)
        if match is not None and not is_inside(spans, at):
            lines[number] = f"{match['indent']}\\{match['rule']}"
        at += len(line) + 1
    return "\n".join(lines)


CONNECTED_TITLE = "CONNECTED NOTES (linked from retrieved results):"

ROOT_FOLDER = "/"  # what stands for the folder of a note at the top of the vault


def build_context(material: Material) -> str:
    """Return the context, sources in the order given, those of one note together in text order, at
    the place of the first of them; the empty string for nothing.

    Sources are headed ``[1] [folder] Title > Heading``; the part for connected notes is there only
    when there are any. Note text cannot imitate this frame (see :mod:`notehop.app.answer.context`), nor
    that which a chat template puts around it.
    """
    best: dict[str, int] = {}
    for at, source in enumerate(material.sources):
        best.setdefault(source.path, at)
    ordered = sorted(material.sources, key=lambda source: (best[source.path], source.lines))
    parts = [render_source(source) for source in ordered]
    if material.connected:
        parts += ["---", CONNECTED_TITLE]
        parts += [render_connected(note) for note in material.connected]
    return "\n\n".join(parts)


def render_source(source: Source) -> str:
    """One source under its header."""
    title = " > ".join(part for part in (source.title, source.heading) if part)
    head = f"{source.marker} {_folder_label(source.path)} {escape_title(title)}"
    return without_control(f"{head}\n{escape_body(source.text.strip())}")


def render_connected(note: ConnectedNote) -> str:
    """One connected note under its header."""
    head = f"{marker_of(note.label)} {_folder_label(note.path)} {escape_title(note.title)}"
    head = f"{head} (linked from: {escape_title(note.linked_from.title)})"
    return without_control(f"{head}\n{escape_body(note.text.strip())}")


def _folder_label(path: str) -> str:
    return f"[{escape_title(dirname(path)) or ROOT_FOLDER}]"


SEPARATOR_TOKENS = 2  # tokens of the blank line between two parts


@dataclass(frozen=True, slots=True)
class FittedContext:
    """A context with the material that stands in it; ``left_out`` names what does not, sources first, in
    the order of their markers."""

    context: str
    material: Material
    left_out: tuple[LeftOut, ...] = ()


def fit_context(material: Material, window: int) -> FittedContext:
    """Return a context of at most ``window`` tokens, of whole sources and connected notes.

    Room is given to sources first, in their order, then to connected notes. The first source is always
    there, though it be longer than the window.

    :param window: tokens for the context alone, which are counted rather too many.
    """
    context = build_context(material)
    # No tokenizer makes more tokens than there are bytes.
    if len(context.encode()) <= window or count_tokens(context) <= window:
        return FittedContext(context, material)
    left_out: list[LeftOut] = []
    room = window

    def fits(name: str, part: Source | ConnectedNote, shown: str, must: bool = False) -> bool:
        nonlocal room
        cost = count_tokens(shown) + SEPARATOR_TOKENS
        if cost <= room or must:
            room = max(0, room - cost)
            return True
        place = part.model_dump(include={"path", "title", "heading", "lines"})
        left_out.append(LeftOut(marker=name, tokens=count_tokens(part.text), **place))
        return False

    sources = [
        one
        for at, one in enumerate(material.sources)
        if fits(one.marker, one, render_source(one), must=at == 0)
    ]
    room -= count_tokens(f"---\n\n{CONNECTED_TITLE}") + SEPARATOR_TOKENS
    connected = [one for one in material.connected if fits(one.label, one, render_connected(one))]
    fitting = replace(material, sources=tuple(sources), connected=tuple(connected))
    return FittedContext(build_context(fitting), fitting, tuple(left_out))
