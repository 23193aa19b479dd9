"""An evaluation as tables, for the terminal and the report: what stands in each cell, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from notehop.app.evaluation import answer_sets
from notehop.app.evaluation.links import SuggestionsEvaluated
from notehop.app.evaluation.metrics import (
    CHUNKS,
    CONTEXT,
    LINKED,
    MEASURES,
    NOTES,
    MeanEstimate,
    percent,
)
from notehop.app.evaluation.run import Evaluated

_SHORT = {LINKED: "by link", CONTEXT: "context", "answer.context": "shown"}
"""Measures as the head of a column, where that is not the last part of their name."""


class Table(NamedTuple):
    """A table with its head; the columns ``read`` hold text, all others numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    read: Sequence[int] = (0,)


def bounded(one: MeanEstimate | None, sign: str = "") -> str:
    """An estimate with its interval, in percent; empty where there is none."""
    if one is None:
        return ""
    return f"{percent(one.value, sign)} ({percent(one.low)} to {percent(one.high)})"


def gains(found: Evaluated, measure: str) -> Table:
    """One measure of each setting, and what it gains; what changed is of the set's measure."""
    usual = measure == found.measure
    head = ["setting", f"{measure}, %", "over", "gain"]
    lines: list[list[str]] = []
    for row in found.rows:
        gain = row.gains.get(measure)
        over = row.against or "" if gain else ""
        line = [row.setting, bounded(row.measures.get(measure)), over, bounded(gain, "+")]
        if usual:
            line += [str(len(row.helped)), str(len(row.hurt))] if gain else ["", ""]
            line += [f"{row.passages:.1f}", f"{row.milliseconds:.1f}"]
        lines.append(line)
    return Table([*head, *(["+", "-", "passages", "ms"] * usual)], lines, (0, 2))


def measures(found: Evaluated, *, intervals: bool = False) -> list[Table]:
    """All measures in percent, a table for notes, one for passages and one for answers."""
    tables: list[Table] = []
    # What the context holds stands beside the ranking of notes.
    for unit, beside in ((NOTES, (CONTEXT, LINKED)), (CHUNKS, ()), ("answer", ())):
        names = [*beside, *(name for name in MEASURES if name.startswith(f"{unit}."))]
        names = [name for name in names if any(name in row.measures for row in found.rows)]
        if not names:
            continue
        words = unit == "answer" and any(row.words is not None for row in found.rows)
        short = (_SHORT.get(name, name.partition(".")[2]) for name in names)
        lines: list[list[str]] = []
        for row in found.rows:
            values = [row.measures.get(name) for name in names]
            cells = [
                bounded(one) if intervals or one is None else percent(one.value) for one in values
            ]
            said = ["" if row.words is None else f"{row.words:.0f}"] * words
            lines.append([row.setting, *cells, *said])
        tables.append(Table([f"{unit}, %", *short, *(["words"] * words)], lines))
    return tables


def by_group(found: answer_sets.AnswersEvaluated) -> list[Table]:
    """An answer set by kind of question, a table a setting and one of what it gains, if it is held
    to another; an empty cell is one that does not apply."""
    tables: list[Table] = []
    names = answer_sets.MEASURES
    for setting, rows in found.settings.items():
        for title, sign in ((setting, ""), (f"gained by {setting}", "+")):
            lines: list[list[str]] = []
            for row in rows:
                has = row.gains if sign else row.measures
                values = [_narrow(has.get(name), sign) for name in names]
                lines.append([row.group, str(row.questions), *values])
            if not sign or any(row.gains for row in rows):
                head = [f"{title}, %", "", *(name.replace(" of ", "/") for name in names)]
                tables.append(Table(head, lines))
    return tables


def suggested_again(found: SuggestionsEvaluated) -> Table:
    """How many of the links that were taken out are suggested again, in percent."""
    said = {"unnamed": "words of the link gone, too", "named": "words of the link left"}
    lines = [
        [told, _narrow(found.recall[kind]), _narrow(found.precision[kind])]
        for kind, told in said.items()
    ]
    return Table(("%", "among the first 10", "of all suggested"), lines)


def _narrow(one: MeanEstimate | None, sign: str = "") -> str:
    """An estimate in whole percent: sets have a hundred questions."""
    if one is None:
        return ""
    low, value, high = (round(100 * x) for x in (one.low, one.value, one.high))
    return f"{value:{sign}} ({low} to {high})"
