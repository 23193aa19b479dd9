"""How much of a reply fits a budget of tokens. Pure.

Every model counts otherwise, and none of their tokenizers is here: three bytes of UTF-8 a token is
on the safe side for prose (English has four to five, Cyrillic four, Chinese three).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from pydantic import BaseModel

BYTES = 3
"""Bytes of a token."""

ItemT = TypeVar("ItemT", bound=BaseModel)


def tokens(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES)


class Purse:
    """What is left of a budget."""

    def __init__(self, budget: int) -> None:
        self.left = budget

    def pay(self, text: str) -> None:
        """Spend what has to be said in any case."""
        self.left -= tokens(text)

    def buys(self, text: str) -> bool:
        """Spend what a text costs, if there is enough."""
        cost = tokens(text)
        if cost > self.left:
            return False
        self.left -= cost
        return True

    def first(self, items: Iterable[ItemT]) -> list[ItemT]:
        """The first of some items, up to the one that there is not enough for.

        None beyond it, though it may be smaller: what is best stays first.
        """
        found: list[ItemT] = []
        for item in items:
            if not self.buys(item.model_dump_json(exclude_defaults=True)):
                break
            found.append(item)
        return found

    def lines(self, lines: Sequence[str]) -> int:
        """How many of the lines there is enough for, and spend it."""
        for number, line in enumerate(lines):
            if not self.buys(f"{line}\n"):
                return number
        return len(lines)
