"""Shows an evaluation as a table.

Touches: terminal.
"""

from __future__ import annotations

from rich.table import Table

from app.cli.output import out
from app.container.evaluating import Evaluated
from app.evaluation.intervals import Estimate
from indexing.shown import counted

WIDTH = 110


def show_evaluation(found: Evaluated) -> None:
    """Print the settings of one golden set with their shares, intervals and gains, in percent."""
    size = f"{counted(found.notes, 'note')}, {counted(found.questions, 'question')}"
    table = Table(title=f"{found.name}: {size}")
    table.add_column("setting")
    for name in ("every gold note, %", "95 %", "against the first", "chunks", "ms"):
        table.add_column(name, justify="right")
    for row in found.rows:
        table.add_row(
            row.setting,
            f"{100 * row.share.value:.1f}",
            _bounds(row.share),
            f"{100 * row.gain.value:+.1f} ({_bounds(row.gain)})",
            f"{row.chunks:.1f}",
            f"{row.milliseconds:.1f}",
        )
    out().print(table, width=WIDTH)


def _bounds(estimate: Estimate) -> str:
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
