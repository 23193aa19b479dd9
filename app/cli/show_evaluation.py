"""Shows an evaluation as tables."""

from __future__ import annotations

from collections.abc import Sequence

from notehop.app.cli.output import headline, out, show_table, warn
from notehop.app.evaluation.metrics import (
    ANSWERED,
    CONTEXT,
    LINKED,
    MEASURES,
    MeanEstimate,
    percent,
)
from notehop.app.evaluation.run import AnswersEvaluated, Evaluated
from notehop.indexing.shown import counted

# On a narrow terminal lines break, and no number is lost.
WIDTH = 160  # columns that a table may take

_SHORT = {LINKED: "by link", CONTEXT: "context"}
"""Measures as the head of a column, where that is not the last part of their name."""


def show_evaluation(found: Evaluated) -> None:
    """Print the settings with the set's measure and what they gain, then all measures, in percent."""
    _headline(found.name, found.notes, len(found.questions))
    lines: list[list[str]] = []
    for row in found.rows:
        gain = row.gains.get(found.measure)
        gained = [row.against or "" if gain else "", _bounded(gain, "+")]
        beside = [f"{row.passages:.1f}", f"{row.milliseconds:.1f}"]
        lines.append([row.setting, _bounded(row.measures[found.measure]), *gained, *beside])
    head = ["setting", f"{found.measure}, %", "over", "gain", "passages", "ms"]
    _show_table(head, lines, read=(0, 2))
    short = (_SHORT.get(name, name.partition(".")[2]) for name in MEASURES)
    cells = [
        [row.setting, *(percent(one.value) for one in row.measures.values())] for row in found.rows
    ]
    _show_table(["notes, %", *short], cells)
    warn([f"{message} ({counted(count, 'time')})" for message, count in found.warnings.items()])


def show_answers(found: AnswersEvaluated) -> None:
    """Print an answer set by kind of question, in percent, a table a setting and one of what it gains,
    if it is held to another.
    """
    _headline(found.name, found.notes, found.questions)
    for setting, rows in found.settings.items():
        for title, sign in ((setting, ""), (f"gained by {setting}", "+")):
            lines: list[list[str]] = []
            for row in rows:
                has = row.gains if sign else row.measures
                values = [_narrow(has.get(name), sign) for name in ANSWERED]
                lines.append([row.group, str(row.questions), *values])
            if not sign or any(row.gains for row in rows):
                head = [f"{title}, %", "", *(name.replace(" of ", "/") for name in ANSWERED)]
                _show_table(head, lines)


def _headline(name: str, notes: int, questions: int) -> None:
    headline(name, f"{counted(notes, 'note')}, {counted(questions, 'question')}")


def _bounded(one: MeanEstimate | None, sign: str = "") -> str:
    """An estimate with its interval, in percent; empty where there is none."""
    if one is None:
        return ""
    return f"{percent(one.value, sign)} ({percent(one.low)} to {percent(one.high)})"


def _narrow(one: MeanEstimate | None, sign: str = "") -> str:
    """An estimate in whole percent: sets have a hundred questions."""
    if one is None:
        return ""
    low, value, high = (round(100 * x) for x in (one.low, one.value, one.high))
    return f"{value:{sign}} ({low} to {high})"


def _show_table(
    head: Sequence[str], lines: Sequence[Sequence[str]], *, read: Sequence[int] = (0,)
) -> None:
    show_table(head, lines, read=read, width=max(out().width, WIDTH))
