"""How headings divide a note into sections. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from notehop.indexing.vault.lines import Lines
from notehop.indexing.vault.model import Heading, Section

SPLITTING_RANKS = 2  # H1 and H2; deeper headings stay in the text of their section


def sections_of(
    headings: Sequence[Heading], lines: Lines, start: int, end: int
) -> tuple[Section, ...]:
    """Divide ``[start, end)`` at the headings of rank 1 and 2; no sections if it is empty.

    :param headings: in the order of the text.
    """
    cuts: list[tuple[int, int, tuple[str, ...]]] = []
    above = ""
    for heading in headings:
        if heading.level > SPLITTING_RANKS:
            continue
        if heading.level == 1:
            above = heading.plain
            path: tuple[str, ...] = (heading.plain,)
        else:
            path = (above, heading.plain) if above else (heading.plain,)
        cuts.append((lines.start(heading.line), heading.level, path))
    if start < end and (not cuts or cuts[0][0] > start):
        cuts.insert(0, (start, 0, ()))
    ends = [cut[0] for cut in cuts[1:]] + [end] * bool(cuts)
    return tuple(
        Section(path, level, lines.at(first), lines.at(max(last - 1, first)), first, last)
        for (first, level, path), last in zip(cuts, ends, strict=True)
    )
