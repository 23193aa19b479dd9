"""Keeps the text of notes from closing or faking the frame of the context that holds it.

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

from notehop.app.answer.code_spans import code_spans, inside, open_fence

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
