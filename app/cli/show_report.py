"""Shows the report of an index run.

Touches: terminal.
"""

from __future__ import annotations

from notehop.app.cli.output import show, styled, warn
from notehop.indexing.report import Report
from notehop.indexing.report_lines import report_lines, warning_lines


def show_report(report: Report) -> None:
    """Print what the run did, what the index holds now, and why each note left out was left out."""
    first, *rest = report_lines(report)
    show(styled((first, "bold")))
    for line in rest:
        show(styled(line))
    warn(warning_lines(report))
