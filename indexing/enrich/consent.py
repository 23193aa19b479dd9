"""Whether the owner of the notes agrees to what an enrichment costs.

Touches: terminal (standard error and input).
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from notehop.indexing.shown import counted, printable

if TYPE_CHECKING:
    from notehop.indexing.enrich.cost import Cost
    from notehop.indexing.enrich.enricher import Agree


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
            said = stdin.readline().strip().casefold()
            return None if said in ("y", "yes") else "not agreed to; the index is complete without"
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
