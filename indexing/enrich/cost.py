"""What the texts that are missing will cost, before anything is sent. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from notehop.indexing.enrich.plan import Item
from notehop.indexing.enrich.prompts import OUTPUT_TOKENS
from notehop.indexing.enrich.report import numbered
from notehop.indexing.enrich.scribe import Scribe
from notehop.indexing.shown import counted

_COUNTED = 100
"""Requests whose tokens are counted; those of the others follow from their length."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What is to be written, and what that is expected to take.

    ``tokens_in`` are sent, ``tokens_out`` received; ``exact`` tells whether the model's own
    tokenizer counts the first. ``within`` is how many of the requests the budget covers.
    """

    summaries: int
    headers: int
    tokens_in: int
    tokens_out: int
    model: str
    host: str
    exact: bool
    within: int

    @property
    def calls(self) -> int:
        """Requests."""
        return self.summaries + self.headers

    @property
    def covered(self) -> bool:
        """Whether the budget of a run covers all of it."""
        return self.within >= self.calls

    def lines(self) -> list[str]:
        """The cost as a person reads it."""
        kinds = (("summary", self.summaries), ("header", self.headers))
        what = [numbered(count, kind) for kind, count in kinds if count]
        most = "" if self.exact else "up to "
        told = [
            f"To be written: {' and '.join(what)}, by {self.model}.",
            f"The text of the notes goes to {self.host}.",
            f"That takes {counted(self.calls, 'request')}: {most}{self.tokens_in:,} tokens sent, "
            f"about {self.tokens_out:,} received.",
        ]
        if not self.covered:
            told.append(
                "The budget of a run (enrich.max_calls, enrich.max_tokens) covers "
                f"{self.within:,} of them; the next run goes on."
            )
        return told


def cost_of(items: Sequence[Item], scribe: Scribe, max_calls: int, max_tokens: int) -> Cost:
    """Estimate what the items cost, and how many of them a budget covers."""
    sizes = sizes_of(items, scribe)
    within, spent = 0, 0
    for size in sizes[:max_calls]:
        spent += size + OUTPUT_TOKENS
        if spent > max_tokens:
            break
        within += 1
    summaries = sum(item.request.kind == "summary" for item in items)
    return Cost(
        summaries=summaries,
        headers=len(items) - summaries,
        tokens_in=sum(sizes),
        tokens_out=OUTPUT_TOKENS * len(items),
        model=scribe.model,
        host=scribe.host,
        exact=scribe.counter.exact and len(items) <= _COUNTED,
        within=within,
    )


def sizes_of(items: Sequence[Item], scribe: Scribe) -> list[int]:
    """The tokens that each item sends: counted for the first ones, by their length for the rest."""
    first = [scribe.size(item.request) for item in items[:_COUNTED]]
    lengths = [len(item.request.system) + len(item.request.prompt) for item in items]
    share = sum(first) / max(1, sum(lengths[:_COUNTED]))
    return first + [round(length * share) for length in lengths[_COUNTED:]]
