"""Shows an evaluation as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from notehop.app.cli.output import headline, out, show, show_line, show_table, warn
from notehop.app.evaluation.answer_sets import HELD, REFUSED, AnswerRow, AnswersEvaluated
from notehop.app.evaluation.answer_sets import MEASURES as ANSWER_MEASURES
from notehop.app.evaluation.links import SuggestionsEvaluated
from notehop.app.evaluation.metrics import (
    CHUNKS,
    CONTAINS,
    CONTEXT,
    LINKED,
    MEASURES,
    NOTES,
    MeanEstimate,
    percent,
)
from notehop.app.evaluation.runner import Evaluated, Row
from notehop.indexing.shown import counted, on_one_line

WIDTH = 160  # columns that a table may take

_SHORT = {LINKED: "by link", CONTEXT: "context", "answer.context": "shown"}
"""Measures as the head of a column, where that is not the last part of their name."""

CHANGES = 10  # questions that are listed as helped, and as hurt
LONGEST = 70  # characters of a question that are shown


def show_evaluation(found: Evaluated, *, changes: bool) -> None:
    """Print the settings with the set's measure and what they gain, then all measures, in percent.

    :param changes: whether to list the questions that the last setting helped and hurt.
    """
    size = f"{counted(found.notes, 'note')}, {counted(len(found.questions), 'question')}"
    headline(found.name, size)
    _show_gains(found, found.measure)
    if found.measure != CONTAINS and CONTAINS in found.rows[0].measures:
        _show_gains(found, CONTAINS)
    # What the context holds stands beside the ranking of notes.
    for unit, beside in ((NOTES, (CONTEXT, LINKED)), (CHUNKS, ()), ("answer", ())):
        _show_measures(found, unit, [*beside, *(m for m in MEASURES if m.startswith(f"{unit}."))])
    if changes:
        _show_changes(found, found.rows[-1])
    warn([f"{message} ({counted(count, 'search')})" for message, count in found.warnings.items()])


def show_answers(found: AnswersEvaluated) -> None:
    """Print an answer set by kind of question, in percent, and what it comes to."""
    headline(found.name, f"{counted(found.notes, 'note')}, {counted(found.questions, 'question')}")
    for setting, rows in found.settings.items():
        _show_answer_rows(setting, rows)
        if any(row.gains for row in rows):
            _show_answer_rows(f"gained by {setting}", rows, gained=True)
    for one in found.each:
        values = " ".join(name for name in (*HELD[:4], REFUSED) if one.get(name))
        asked = f"{one['kind']} {one['why'] or ''} {one['id']}: {one['question']}"
        show_line(asked, (f"  {values}", "dim"))
        show_line(str(one["answer"]), indent=2)
    show(f"{found.name}: {found.conclusion}")


def show_suggestions_evaluated(found: SuggestionsEvaluated) -> None:
    """Print how many of the links that were taken out are suggested again, in percent."""
    taken = counted(found.pairs, "linked pair")
    headline(found.name, f"{counted(found.notes, 'note')}, {taken} taken out")
    said = {"unnamed": "words of the link gone, too", "named": "words of the link left"}
    cells = [
        [said[kind], _narrow(found.recall[kind], ""), _narrow(found.precision[kind], "")]
        for kind in said
    ]
    _show_table(("%", "among the first 10", "of all suggested"), cells, named=0)


def _show_answer_rows(title: str, rows: Sequence[AnswerRow], *, gained: bool = False) -> None:
    """Measures by group, each with its interval; an empty cell is one that does not apply."""
    cells: list[list[str]] = []
    for row in rows:
        has = row.gains if gained else row.measures
        values = [_narrow(has.get(name), "+" * gained) for name in ANSWER_MEASURES]
        cells.append([row.group, str(row.questions), *values])
    head = (f"{title}, %", "", *(name.replace(" of ", "/") for name in ANSWER_MEASURES))
    _show_table(head, cells, named=0)


def _narrow(estimate: MeanEstimate | None, sign: str) -> str:
    """An estimate in whole percent, empty where there is none: sets have a hundred questions."""
    if estimate is None:
        return ""
    low, value, high = (round(100 * x) for x in (estimate.low, estimate.value, estimate.high))
    return f"{value:{sign}} ({low} to {high})"


def _show_gains(found: Evaluated, measure: str) -> None:
    """One measure of each setting, and what it gains; changes and time are of the set's measure."""
    usual = measure == found.measure
    numbers = {row.setting: str(number) for number, row in enumerate(found.rows, start=1)}
    rows: list[list[str]] = []
    for row in found.rows:
        gain = row.gains.get(measure)
        cells = [numbers[row.setting], row.setting, _bounded(row.measures[measure])]
        if row.against is None or gain is None:
            cells += [""] * (4 if usual else 2)
        else:
            changes = [str(len(row.helped)), str(len(row.hurt))] * usual
            cells += [numbers[row.against], _bounded(gain, "+"), *changes]
        rows.append([*cells, *([f"{row.milliseconds:.1f}"] * usual)])
    more = ["+", "-", "ms"] * usual
    _show_table(("", "setting", f"{measure}, %", "over", "gain", *more), rows)


def _show_measures(found: Evaluated, title: str, names: Sequence[str]) -> None:
    """Some measures in percent; one that applies to no question is an empty cell, or not there."""
    names = [name for name in names if any(name in row.measures for row in found.rows)]
    answers = title == "answer" and any(row.words is not None for row in found.rows)
    rows: list[list[str]] = []
    for number, row in enumerate(found.rows, start=1):
        values = map(row.measures.get, names)
        shown = ["" if one is None else percent(one.value) for one in values]
        words = [] if not answers else ["" if row.words is None else f"{row.words:.0f}"]
        rows.append([str(number), row.setting, *shown, *words])
    short = (_SHORT.get(name, name.partition(".")[2]) for name in names)
    if names:
        _show_table(("", f"{title}, %", *short, *(["words"] * answers)), rows)


def _show_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, named: int = 1) -> None:
    """Print a table as wide as it is: on a narrow terminal lines break, and no number is lost."""
    show_table(head, rows, read=(named,), width=max(out().width, WIDTH))


def _show_changes(found: Evaluated, row: Row) -> None:
    texts = {question.id: question.text for question in found.questions}
    for name, changes in (("helped", row.helped), ("hurt", row.hurt)):
        headline(f"{name} by {row.setting}", counted(len(changes), "question"))
        for change in changes[:CHANGES]:
            text = on_one_line(texts[change.id])
            clipped = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
            values = f"{change.before:.2f} -> {change.after:.2f}  "
            show_line((values, "dim"), clipped, (f"  {change.id}", "dim"), indent=2)
        if len(changes) > CHANGES:
            show(f"and {len(changes) - CHANGES:,} more (--json has all)", indent=2)


def _bounded(estimate: MeanEstimate, sign: str = "") -> str:
    """An estimate with its interval, in percent."""
    value, low, high = percent(estimate.value, sign), percent(estimate.low), percent(estimate.high)
    return f"{value} ({low} to {high})"
