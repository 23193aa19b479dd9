"""The name of a captured note: one that every disk takes, and that a link can say. Pure."""

from __future__ import annotations

import re
from datetime import datetime
from unicodedata import category, normalize

from notehop.indexing.vault.model import Note
from notehop.indexing.vault.plain import plain_text, without_emphasis

MAX_BYTES = 180
"""Bytes of a file name. Most disks take 255; sync tools add "(conflicted copy …)" to it."""

FIRST_LINE = 60
"""Characters of a text's first line that make a title: enough to know it by."""

_FORBIDDEN = re.compile(r'[\[\]#^|\\/:*?"<>%]+')
"""What Windows, macOS or a link of the app does not take in a name; ``%%`` would be a comment."""

_JOINERS = "\u200c\u200d"
"""Cannot be seen, and are part of words and of emoji."""

_LEADING = re.compile(r"(?:[ \t>]*(?:#{1,6}|[-*+]|\d{1,9}[.)])(?=[ \t])[ \t]*)*(?:\[.\][ \t]+)?")
_LONGEST_LINE = 2_000  # characters; what stands behind them is in no title


def title_of(note: Note) -> str:
    """The first line of a note that says something, without its marks, cut between words."""
    for line in plain_text(note, note.body_start, len(note.text)).splitlines():
        line = line[:_LONGEST_LINE]
        said = without_emphasis(line[_LEADING.match(line).end() :])  # type: ignore[union-attr]
        said = " ".join(said.split())
        if any(char.isalnum() for char in said):
            return _shortened(said, FIRST_LINE)
    return ""


def file_name(title: str, now: datetime, number: int = 1) -> str:
    """The name of a note captured at a time: ``2026-11-22 0931 Title.md``.

    It begins with a digit, so that it is none of the names that Windows keeps for itself.

    :param title: any text; nothing of it may be left.
    :param number: 2 and up where the name without one is taken.
    """
    moment, end = now.strftime("%Y-%m-%d %H%M"), f" {number}.md" if number > 1 else ".md"
    room = MAX_BYTES - len(f"{moment} {end}".encode())
    said = cut_bytes(safe(title), room)
    return f"{moment} {said}".rstrip(" .") + end


def safe(title: str) -> str:
    """A title as a part of a file name: what a disk or a link refuses becomes a blank."""
    seen = "".join(char if _is_seen(char) else " " for char in normalize("NFC", title))
    return " ".join(_FORBIDDEN.sub(" ", seen).split()).strip(" .")


def cut_bytes(text: str, most: int) -> str:
    """The beginning of a text in at most so many bytes of UTF-8, cut between words if it can be."""
    data = text.encode()
    if len(data) <= most:
        return text
    cut = data[:most].decode(errors="ignore")
    return (cut.rsplit(" ", 1)[0] if " " in cut[len(cut) // 2 :] else cut).rstrip(" .,;:-")


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    cut = text[:most]
    return (cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut).rstrip(" .,;:-")


def _is_seen(char: str) -> bool:
    """Whether a character is no control, lone surrogate, or sign that turns text around."""
    return char in _JOINERS or not category(char).startswith("C")
