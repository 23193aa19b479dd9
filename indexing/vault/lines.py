"""Where the lines of a text start. Pure."""

from __future__ import annotations

from bisect import bisect_right


class Lines:
    r"""Line numbers of offsets; lines end at ``\n`` only and are counted from 1."""

    def __init__(self, text: str) -> None:
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts
        self._length = len(text)

    def at(self, offset: int) -> int:
        """Line that holds the character at ``offset`` (the last one for the end of the text)."""
        return bisect_right(self._starts, offset)

    def start(self, line: int) -> int:
        """Offset of the first character of a line; the end of the text for one past the last."""
        return self._starts[line - 1] if line <= len(self._starts) else self._length

    def end(self, line: int) -> int:
        r"""Offset just after the last character of a line, before its ``\n``."""
        return self._starts[line] - 1 if line < len(self._starts) else self._length

    def __len__(self) -> int:
        return len(self._starts)
