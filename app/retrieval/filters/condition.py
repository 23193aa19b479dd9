"""Owns what a filter is once it has been read, however it was written. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["tag", "path", "after", "before", "type", "property", "phrase"]

KEYS: dict[str, Kind] = {
    "tag": "tag",
    "tags": "tag",
    "path": "path",
    "after": "after",
    "before": "before",
    "type": "type",
}
"""What may stand before the colon in any vault; keys of its front matter come to it."""


_BARE = re.compile(r"[^\s:/\"“”()][^\s\"“”()]*(?<![.,;?!])|/(?!/)[^\s\"“”()]*(?<![.,;?!])")
"""Values that need no quotes."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that a note, or for a phrase a passage, must have; ``negated``: must not have.

    ``key`` is that of a property, empty for other kinds. ``value`` is as it was written.
    """

    kind: Kind
    value: str
    key: str = ""
    negated: bool = False

    def __str__(self) -> str:
        """The condition as it is written in a query."""
        bare = self.kind != "phrase" and _BARE.fullmatch(self.value)
        value = self.value if bare else f'"{self.value}"'
        key = "" if self.kind == "phrase" else f"{self.key or self.kind}:"
        return f"{'-' if self.negated else ''}{key}{value}"
