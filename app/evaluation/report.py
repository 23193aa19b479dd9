"""The report of an evaluation: one page of HTML that needs nothing beside itself. Pure.

A plotting library would bring tens of megabytes for two plain plots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from notehop.app.evaluation.metrics import MeanEstimate
from notehop.app.evaluation.run import Evaluated, Row
from notehop.app.evaluation.tables import Table, gains, measures
from notehop.app.evaluation.variants import CURRENT, STOCK
from notehop.indexing.shown import counted, on_one_line, printable

CURVES = (STOCK, "bare semantic", "bare lexical", "fused", CURRENT)
"""Settings whose recall is drawn, where there are more than these five."""

CHANGES = 50
"""Questions that are listed as helped, and as hurt, by a setting."""

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width"><title>notehop: evaluation</title>
<style>
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; vertical-align: top;
  border-bottom: 1px solid #8884; }
th.name, td.name { text-align: left; }
.scroll { overflow-x: auto; }
figcaption { font-weight: 600; }
svg text { fill: currentColor; font-size: 12px; }
.grid { stroke: #8885; } .axis, .interval { stroke: currentColor; }
.up { fill: #009e73; } .down { fill: #d55e00; } .unsure { opacity: .35; }
summary { cursor: pointer; }
</style></head><body><h1>Evaluation</h1>
<p>Shares are in percent, with their 95 % interval (percentile bootstrap over questions). Gains are
paired, question by question; a bar is pale where its interval holds 0.</p>
"""


def report(found: Iterable[Evaluated]) -> str:
    """Make the page.

    :param found: the sets in the order to show; a page without any says so.
    """
    sets = "".join(map(_set, found)) or "<p>There was nothing to evaluate.</p>"
    return f"{_HEAD}{sets}</body></html>\n"


def _set(found: Evaluated) -> str:
    size = f"{counted(found.notes, 'note')}, {counted(len(found.questions), 'question')}"
    parts = [
        f"<h2>{_clean(found.name)}</h2>",
        f"<p>{_clean(f'{size}; helped and hurt by {found.measure}.')}</p>",
    ]
    for message, count in found.warnings.items():
        warned = f"Warning of {counted(count, 'search')}: {message}"
        parts.append(f"<p>{_clean(warned)}</p>")
    head, lines, read = gains(found, found.measure)
    changed = (
        ", ".join(f"{key}={value}" for key, value in row.overrides.items()) for row in found.rows
    )
    lines = [[*line, more] for line, more in zip(lines, changed, strict=True)]
    parts.append(_table(Table([*head, "changed settings"], lines, (*read, len(head)))))
    rows = found.rows
    if len(rows) > len(CURVES):
        rows = tuple(row for row in rows if row.setting in CURVES)
    if rows:
        parts.append(_curves(rows))
    if gained := [(row.setting, row.gains[found.measure]) for row in found.rows if row.gains]:
        title = f"What each setting gains over the one it is held to, {found.measure}, points"
        parts.append(_bars(title, gained))
    parts.append(_details("All measures", map(_table, measures(found, intervals=True))))
    parts += [_changes(found, row) for row in found.rows if row.helped or row.hurt]
    return "".join(parts)


def _changes(found: Evaluated, row: Row) -> str:
    known = {question.id: question for question in found.questions}
    head = ["question", "gold", "%", "first notes before", "first notes after"]
    parts: list[str] = []
    for name, changes in (("Helped", row.helped), ("Hurt", row.hurt)):
        lines = [
            [
                known[one.id].text,
                ", ".join(map(str, known[one.id].gold)),
                f"{100 * one.before:.0f} → {100 * one.after:.0f}",
                ", ".join(one.found_before),
                ", ".join(one.found_after),
            ]
            for one in changes[:CHANGES]
        ]
        if lines:
            parts.append(f"<h3>{name}</h3>{_table(Table(head, lines, (0, 1, 3, 4)))}")
        if len(changes) > CHANGES:
            parts.append(f"<p>And {len(changes) - CHANGES:,} more, which the JSON has.</p>")
    won = f"{len(row.helped):,} helped, {len(row.hurt):,} hurt"
    return _details(f"{row.setting} against {row.against}: {won}", parts)


def _table(table: Table) -> str:
    lines = ""
    for tag, cells in [("th", table.head), *(("td", row) for row in table.rows)]:
        names = (' class="name"' if at in table.read else "" for at in range(len(cells)))
        shown = (f"<{tag}{name}>{_clean(cell)}" for name, cell in zip(names, cells, strict=True))
        lines += f"<tr>{''.join(shown)}\n"
    return f'<div class="scroll"><table>{lines}</table></div>'


def _details(summary: str, parts: Iterable[str]) -> str:
    return f"<details><summary>{_clean(summary)}</summary>{''.join(parts)}</details>"


def _clean(text: str) -> str:
    """Text of a note or a question, which can be taken for neither markup nor a line of ours."""
    return escape(on_one_line(printable(text)), quote=False)


WIDTH, LEFT, RIGHT = 720, 200, 20
"""Pixels of a plot; names stand on the left, before its margin."""

ROW = 22
"""Pixels of a bar with its name."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's, which colour-blind readers tell apart."""


def _figure(title: str, height: float, parts: Iterable[str]) -> str:
    return (
        f'<figure><figcaption>{_clean(title)}</figcaption><svg role="img" width="{WIDTH}" '
        f'viewBox="0 0 {WIDTH} {height}">{"".join(parts)}</svg></figure>'
    )


def _curves(rows: Sequence[Row]) -> str:
    """Recall over the cut-offs 1, 2, …, a line a setting; their names stand below each other."""
    height, right, steps = 240, WIDTH - LEFT, len(rows[0].recall)
    parts: list[str] = []
    for tenth in range(0, 11, 2):
        level = height - (height - 10) * tenth / 10
        parts += [
            _line(40, level, right, level, "grid"),
            _text(34, level + 4, f"{10 * tenth}", "end"),
        ]
    for at, row in enumerate(rows):
        colour = COLOURS[at % len(COLOURS)]
        points = " ".join(
            f"{40 + (right - 40) * n / (steps - 1):.1f},{height - (height - 10) * value:.1f}"
            for n, value in enumerate(row.recall)
        )
        # A line over another leaves gaps to see that one through.
        dashes = f"stroke-dasharray:{12 - 2 * at} {at}"
        style = f"fill:none;stroke:{colour};stroke-width:2;{dashes}"
        parts.append(f'<polyline points="{points}" style="{style}"/>')
        name = f"{row.setting} {100 * row.recall[-1]:.1f}"
        parts.append(_text(right + 8, 20 + 16 * at, name, style=f"fill:{colour}"))
    parts.append(_text(right / 2, height + 16, f"notes looked at, 1 to {steps}", "middle"))
    return _figure("Recall of notes, %", height + 20, parts)


def _bars(title: str, rows: Sequence[tuple[str, MeanEstimate]]) -> str:
    """A bar a row around 0, in percent, with the interval as a line over it."""
    bottom = ROW * len(rows) + 10
    reach = max(max(abs(one.low), abs(one.high)) for _, one in rows) or 0.01

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value + reach) / (2 * reach)

    parts: list[str] = []
    for value in (-reach, -reach / 2, 0.0, reach / 2, reach):
        parts.append(_line(x(value), 0, x(value), bottom, "grid" if value else "axis"))
        parts.append(_text(x(value), bottom + 16, f"{100 * value:+.1f}", "middle"))
    for at, (name, one) in enumerate(rows):
        middle = ROW * at + ROW / 2
        start, end = sorted((x(0), x(one.value)))
        sure = "" if one.low > 0 or one.high < 0 else " unsure"
        parts.append(
            f'<rect class="{"up" if one.value >= 0 else "down"}{sure}" height="12" x="{start:.1f}" '
            f'y="{middle - 6:.1f}" width="{end - start:.1f}"/>'
        )
        parts.append(_line(x(one.low), middle, x(one.high), middle, "interval"))
        parts.append(_text(LEFT - 8, middle + 4, name, "end"))
    return _figure(title, bottom + 20, parts)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start", style: str = "") -> str:
    place = f'text-anchor="{anchor}" x="{x:.1f}" y="{y:.1f}" style="{style}"'
    return f"<text {place}>{_clean(text)}</text>"
