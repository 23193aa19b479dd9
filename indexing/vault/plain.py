"""The plain text of a note: what a reader sees of it, for embedding and for showing. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from notehop.indexing.vault.model import Edit, Note


def plain_text(note: Note, start: int, end: int) -> str:
    """Return ``note.text[start:end]`` with links replaced by their words and comments dropped.

    Block ids and reference definitions are dropped too; list bullets, quote and emphasis marks
    stay. An edit that begins before ``start`` only takes its text away.
    """
    edits = note.edits
    first = bisect_right(edits, start, key=_end_of)
    last = bisect_left(edits, end, key=_start_of)
    parts: list[str] = []
    at = start
    for edit in edits[first:last]:
        if edit.start >= start:
            parts += note.text[at : edit.start], edit.replacement
        at = edit.end
    if at < end:
        parts.append(note.text[at:end])
    return "".join(parts)


def _start_of(edit: Edit) -> int:
    return edit.start


def _end_of(edit: Edit) -> int:
    return edit.end
