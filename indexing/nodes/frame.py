"""The line of title and headings over the text of a chunk, and the room it leaves. Pure."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from notehop.indexing.nodes.chunks import embedded_prefix
from notehop.indexing.nodes.places import LONGEST_TOKEN, token_starts


@runtime_checkable
class CountTokens(Protocol):
    """Tells the tokens of a text, special tokens and prompt left out.

    :class:`notehop.indexing.embed.tokens.TokenOffsets` is one.
    """

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return (start, end) of each token, in order."""

    def size(self, text: str) -> int:
        """Return how many there are."""


class Frame:
    """Sets the chunks of one note under its title; each heading path is measured once."""

    def __init__(self, title: str, count: CountTokens, max_tokens: int) -> None:
        self._title = title
        self._count = count
        self._max = max_tokens
        self._known: dict[tuple[str, ...], tuple[str, int]] = {}

    def starts(self, text: str) -> list[int]:
        """Return where the tokens of a text start, over-long ones divided."""
        return token_starts(self._count(text), len(text))

    def size(self, text: str) -> int:
        """Return how many tokens a text has; over-long ones, and runs of blanks, are not free."""
        return max(self._count.size(text), len(text) // LONGEST_TOKEN)

    def embedded(self, path: tuple[str, ...], body: str) -> str:
        """Return what the model sees of a chunk."""
        prefix = self._prefix(path)[0]
        return f"{prefix}\n{body}" if body else prefix

    def room(self, path: tuple[str, ...]) -> int:
        """Return how many tokens of text fit under a heading path: at least 1."""
        return max(1, self._max - self._prefix(path)[1])

    def excess(self, path: tuple[str, ...], body: str) -> int:
        """Return how many tokens a chunk has more than it may; negative if it fits."""
        return self.size(self.embedded(path, body)) - self._max

    def fitted(self, text: str) -> str:
        """Cut a text at the end of the window."""
        return self._shortened(text, self._max)

    def _prefix(self, path: tuple[str, ...]) -> tuple[str, int]:
        """The first line, at most half the window, and its tokens with the line's end."""
        if path not in self._known:
            line = self._shortened(embedded_prefix(self._title, path), max(1, self._max // 2))
            self._known[path] = line, self.size(f"{line}\n")
        return self._known[path]

    def _shortened(self, text: str, most: int) -> str:
        if self.size(text) <= most:
            return text
        starts = self.starts(text)
        return text[: starts[most]].rstrip() if len(starts) > most else text
