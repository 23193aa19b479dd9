"""What an enrichment will cost, whether the owner of the notes agrees to that, and what it did.

Touches: terminal (standard error and input).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from notehop.indexing.enrich.prompts import OUTPUT_TOKENS
from notehop.indexing.shown import counted, printable

if TYPE_CHECKING:
    from notehop.indexing.enrich.planner import Item
    from notehop.indexing.enrich.writer import TextWriter


_NOUNS = {
    "extract": ("summary by extraction", "summaries by extraction"),
    "summary": ("summary by the model", "summaries by the model"),
    "header": ("header of a passage", "headers of passages"),
}


def numbered(count: int, kind: str) -> str:
    """``1 header of a passage`` or ``12 summaries by the model``."""
    return f"{count:,} {_NOUNS[kind][count != 1]}"


@dataclass(slots=True)
class EnrichReport:
    """What a run did. ``written`` counts texts by kind, ``waiting`` are left for the next run,
    ``failed`` were asked for and not given. ``stopped`` says why the run did not do all there was;
    ``calls`` and ``tokens`` are what it cost. ``generation`` is the one that holds the headers, if
    any were put into the index."""

    written: dict[str, int] = field(default_factory=dict)
    waiting: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    stopped: str | None = None
    generation: int | None = None
    warnings: list[str] = field(default_factory=list)

    def warn(self, text: str) -> None:
        """Warn of something once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def lines(self) -> list[str]:
        """The report as a person reads it; none if there was nothing to do."""
        done = [numbered(count, kind) for kind, count in self.written.items() if count]
        if self.waiting:
            done.append(f"{self.waiting:,} waiting")
        if self.failed:
            done.append(f"{self.failed:,} failed")
        if not done:
            return []
        cost = f" ({counted(self.calls, 'request')}, {self.tokens:,} tokens)" if self.calls else ""
        return [f"  enrich {', '.join(done)}{cost}"]


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
        found = [
            f"To be written: {' and '.join(what)}, by {self.model}.",
            f"The text of the notes goes to {self.host}.",
            f"That takes {counted(self.calls, 'request')}: {most}{self.tokens_in:,} tokens sent, "
            f"about {self.tokens_out:,} received.",
        ]
        if not self.covered:
            found.append(
                "The budget of a run (enrich.max_calls, enrich.max_tokens) covers "
                f"{self.within:,} of them; the next run goes on."
            )
        return found


def cost_of(
    items: Sequence[Item],
    sizes: Sequence[int],
    writer: TextWriter,
    max_calls: int,
    max_tokens: int,
) -> Cost:
    """Estimate what the items cost, and how many of them a budget covers.

    :param sizes: of the items, by :func:`sizes_of`.
    """
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
        model=writer.model,
        host=writer.host,
        exact=writer.counter.exact and len(items) <= _COUNTED,
        within=within,
    )


def sizes_of(items: Sequence[Item], writer: TextWriter) -> list[int]:
    """The tokens that each item sends: counted for the first ones, by their length for the rest."""
    first = [writer.size(item.request) for item in items[:_COUNTED]]
    lengths = [len(item.request.system) + len(item.request.prompt) for item in items]
    share = sum(first) / max(1, sum(lengths[:_COUNTED]))
    return first + [round(length * share) for length in lengths[_COUNTED:]]


Agree = Callable[[Cost], str | None]
"""Gets the cost before anything is sent; says why not to go on, or None to go on."""


def agreement(*, yes: bool, read: TextIO | None = None, write: TextIO | None = None) -> Agree:
    """Show what it costs and ask, where somebody is there to answer.

    Without a terminal, it goes on by itself within the budget of a run, and not beyond.

    :param yes: it was agreed to beforehand, as far as the budget goes.
    """

    def agree(cost: Cost) -> str | None:
        stdin, stderr = read or sys.stdin, write or sys.stderr
        for line in cost.lines():
            stderr.write(f"{printable(line)}\n")
        stderr.flush()
        if yes:
            return None
        if stdin is not None and stdin.isatty() and stderr.isatty():
            stderr.write("Go on? [y/N] ")
            stderr.flush()
            reply = stdin.readline().strip().casefold()
            return None if reply in ("y", "yes") else "not agreed to; the index is complete without"
        return within_budget(cost)

    return agree


def within_budget(cost: Cost) -> str | None:
    """Agree where nobody is there to ask, to what the budget of a run covers, and to no part of
    more."""
    if cost.covered:
        return None
    return (
        f"{counted(cost.calls, 'request')} are more than the budget of a run covers, and "
        "nobody is here to agree; run: notehop index --yes, which goes as far as the budget"
    )
