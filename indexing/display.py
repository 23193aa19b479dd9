"""Text of notes and names of files as a person may be shown them."""

from __future__ import annotations

import re
from datetime import datetime

from notehop.indexing.graph.files import is_note, is_pdf

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def printable(text: str) -> str:
    """Text of a note or a path without what a terminal would obey instead of showing."""
    return _CONTROLS.sub("�", text.replace("\r\n", "\n").replace("\r", "\n"))


def on_one_line(name: str) -> str:
    """A path, title or reason with ␊ for each line break: it must not pass for a line of ours."""
    return _BREAK.sub("␊", name)


def counted(count: int, noun: str) -> str:
    """``1 note`` or ``1,200 notes``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def shown_time(seconds: float) -> str:
    """A time, in seconds since the epoch, as it is where the reader is: ``2026-05-02 14:07``."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def ago(seconds: float) -> str:
    """How long ago something was: ``just now``, ``5 minutes ago``, ``3 days ago``."""
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(int(seconds // size), noun)} ago"
    return "just now"


def shown_size(count: int) -> str:
    """A number of bytes as people write it: ``1.2 MB``, ``0.3 kB``."""
    return f"{count / 1e6:,.1f} MB" if count >= 50_000 else f"{count / 1e3:,.1f} kB"


_PAGE = re.compile(r"Page (\d{1,9})(?: > .*)?", re.DOTALL)


def page_of(path: str, heading: str) -> int | None:
    """The page of a PDF by the heading that stands over its text; None for all else."""
    found = _PAGE.fullmatch(heading) if is_pdf(path) else None
    return int(found[1]) if found else None


def location(path: str, lines: tuple[int, int], heading: str = "") -> str:
    """Where something stands: a file with its first line, or its first and last; or with its page.

    Of a canvas or a base, whose lines nobody sees, the file alone.
    """
    if not is_note(path):
        page = page_of(path, heading)
        return f"{path}#page={page}" if page else path
    first, last = lines
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"


def location_below(path: str, lines: tuple[int, int], heading: str) -> str:
    """The same, and the heading over it where that says more."""
    place = location(path, lines, heading)
    return f"{place} > {heading}" if heading and not is_pdf(path) else place
