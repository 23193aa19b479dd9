"""The plain text of a stretch of a note, and the way back from it to the note. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from notehop.indexing.vault.model import Note


class PlainMap:
    """``note.text[start:end]`` with the note's edits applied.

    ``text`` is what :func:`notehop.indexing.vault.plain.plain_text` returns; the two directions below turn
    offsets into it into offsets into the note, and back.
    """

    def __init__(self, note: Note, edit_starts: list[int], start: int, end: int) -> None:
        """Apply the edits that lie in a stretch.

        :param edit_starts: the starts of ``note.edits``, made once a note.
        """
        parts: list[str] = []
        self._plain: list[int] = []  # where each part starts in the plain text,
        self._raw: list[int] = []  # where in the note,
        self._copied: list[bool] = []  # and whether it stands there as it is
        length = 0

        def add(raw: int, text: str, *, copied: bool) -> None:
            nonlocal length
            self._plain.append(length)
            self._raw.append(raw)
            self._copied.append(copied)
            parts.append(text)
            length += len(text)

        first = bisect_left(edit_starts, start)
        # An edit that begins before only takes its text away.
        at = max(start, note.edits[first - 1].end) if first else start
        for i in range(first, len(edit_starts)):
            edit = note.edits[i]
            if edit.start >= end:
                break
            if edit.start > at:
                add(at, note.text[at : edit.start], copied=True)
            add(edit.start, edit.replacement, copied=False)
            at = edit.end
        if at < end or not parts:
            add(at, note.text[at:end], copied=True)
        self.start = start
        self.end = end
        self.text = "".join(parts)

    def to_raw(self, plain: int) -> int | None:
        """Return the offset in the note; None inside a replacement, where nothing can be cut.

        Between two parts it is the first offset that fits, so that marks go with what they mark.
        """
        if plain >= len(self.text):
            return self.end
        part = bisect_left(self._plain, plain)
        if part < len(self._plain) and self._plain[part] == plain:
            return self._raw[part]
        part -= 1
        return self._raw[part] + plain - self._plain[part] if self._copied[part] else None

    def to_plain(self, raw: int) -> int:
        """Return the offset in the plain text; inside a replaced stretch, its start."""
        part = max(0, bisect_right(self._raw, raw) - 1)
        inside = raw - self._raw[part] if self._copied[part] else 0
        return min(self._plain[part] + max(0, inside), len(self.text))
