"""Shows an evaluation as tables."""

from __future__ import annotations

from notehop.app.cli.output import headline, out, show, show_line, show_table, warn
from notehop.app.evaluation import tables
from notehop.app.evaluation.answer_sets import HELD, REFUSED, AnswersEvaluated
from notehop.app.evaluation.links import SuggestionsEvaluated
from notehop.app.evaluation.metrics import CONTAINS
from notehop.app.evaluation.run import Evaluated
from notehop.indexing.shown import counted, on_one_line

# On a narrow terminal lines break, and no number is lost.
WIDTH = 160  # columns that a table may take
CHANGES = 10  # questions that are listed as helped, and as hurt
LONGEST = 70  # characters of a question that are shown


def show_evaluation(found: Evaluated, *, changes: bool) -> None:
    """Print the settings with the set's measure and what they gain, then all measures, in percent.

    :param changes: whether to list the questions that the last setting helped and hurt.
    """
    size = f"{counted(found.notes, 'note')}, {counted(len(found.questions), 'question')}"
    headline(found.name, size)
    shown = [tables.gains(found, found.measure)]
    if found.measure != CONTAINS and CONTAINS in found.rows[0].measures:
        shown.append(tables.gains(found, CONTAINS))
    for table in (*shown, *tables.measures(found)):
        _show_table(table)
    row = found.rows[-1]
    texts = {question.id: on_one_line(question.text) for question in found.questions}
    for name, changed in (("helped", row.helped), ("hurt", row.hurt)) if changes else ():
        headline(f"{name} by {row.setting}", counted(len(changed), "question"))
        for one in changed[:CHANGES]:
            text = texts[one.id]
            clipped = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
            values = f"{one.before:.2f} -> {one.after:.2f}  "
            show_line((values, "dim"), clipped, (f"  {one.id}", "dim"), indent=2)
        if len(changed) > CHANGES:
            show(f"and {len(changed) - CHANGES:,} more (--json has all)", indent=2)
    warn([f"{message} ({counted(count, 'search')})" for message, count in found.warnings.items()])


def show_answers(found: AnswersEvaluated) -> None:
    """Print an answer set by kind of question, in percent, and what it comes to."""
    headline(found.name, f"{counted(found.notes, 'note')}, {counted(found.questions, 'question')}")
    for table in tables.by_group(found):
        _show_table(table)
    for one in found.each:
        values = " ".join(name for name in (*HELD[:4], REFUSED) if one.get(name))
        asked = f"{one['kind']} {one['why'] or ''} {one['id']}: {one['question']}"
        show_line(asked, (f"  {values}", "dim"))
        show_line(str(one["answer"]), indent=2)
    show(f"{found.name}: {found.conclusion}")


def show_suggestions_evaluated(found: SuggestionsEvaluated) -> None:
    """Print how many of the links that were taken out are suggested again."""
    taken = counted(found.pairs, "linked pair")
    headline(found.name, f"{counted(found.notes, 'note')}, {taken} taken out")
    _show_table(tables.suggested_again(found))


def _show_table(table: tables.Table) -> None:
    show_table(table.head, table.rows, read=table.read, width=max(out().width, WIDTH))
