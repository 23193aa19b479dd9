"""Shows an evaluation as tables."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from notehop.app.cli.output import headline, show, warn
from notehop.app.evaluation.metrics import ANSWERED, MeanEstimate, percent
from notehop.app.evaluation.run import AnswersEvaluated, Evaluated
from notehop.indexing.shown import counted, on_one_line, printable


def show_evaluation(found: Evaluated) -> None:
    """Print the settings with the set's measure and what they gain, in percent; `--json` has all measures."""
    headline(
        found.name, f"{counted(found.notes, 'note')}, {counted(len(found.questions), 'question')}"
    )
    lines: list[list[str]] = []
    for row in found.rows:
        gain = row.gains.get(found.measure)
        gained = [row.against or "" if gain else "", _bounded(gain, "+")]
        beside = [f"{row.passages:.1f}", f"{row.milliseconds:.1f}"]
        lines.append([row.setting, _bounded(row.measures[found.measure]), *gained, *beside])
    head = ["setting", f"{found.measure}, %", "over", "gain", "passages", "ms"]
    _show_table(head, lines)
    warn([f"{message} ({counted(count, 'time')})" for message, count in found.warnings.items()])


def show_answers(found: AnswersEvaluated) -> None:
    """Print an answer set by kind of question, in percent, a table a setting and one of what it gains,
    if it is held to another.
    """
    headline(found.name, f"{counted(found.notes, 'note')}, {counted(found.questions, 'question')}")
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


def _show_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table, as wide as it is."""
    rows = [[printable(on_one_line(cell)) for cell in line] for line in (head, *lines)]
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    show("")
    for name, *numbers in rows:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths, strict=True))
        typer.echo("  ".join((name.ljust(first), *cells)))
