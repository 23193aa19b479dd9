"""Lays out the context: sources first, then, apart and labelled, the connected notes."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import dirname

from app.answer.frame import body, one_line
from app.answer.markers import label_marker
from app.models import ConnectedNote, Source

CONNECTED_TITLE = "CONNECTED NOTES (linked from retrieved results):"

ROOT = "/"
"""What stands for the folder of a note at the top of the vault."""


def build_context(sources: Sequence[Source], connected: Sequence[ConnectedNote]) -> str:
    """Return the context in the order given; the empty string for nothing.

    Sources are headed ``[1] [folder] Title > Heading``; the part for connected notes is there only
    when there are any. Note text cannot imitate this frame (see :mod:`app.answer.frame`).
    """
    parts = [_source(source) for source in sources]
    if connected:
        parts += ["---", CONNECTED_TITLE]
        parts += [_connected(note) for note in connected]
    return "\n\n".join(parts)


def _source(source: Source) -> str:
    title = " > ".join(part for part in (source.title, source.heading) if part)
    return f"{source.marker} {_folder(source.path)} {one_line(title)}\n{_text(source.text)}"


def _connected(note: ConnectedNote) -> str:
    head = f"{label_marker(note.label)} {_folder(note.path)} {one_line(note.title)}"
    return f"{head} (linked from: {one_line(note.linked_from.title)})\n{_text(note.text)}"


def _folder(path: str) -> str:
    return f"[{one_line(dirname(path)) or ROOT}]"


def _text(text: str) -> str:
    return body(text.strip())
