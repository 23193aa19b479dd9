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
.grid { stroke: #8885; } .axis { stroke: currentColor; }
.up { fill: #009e73; } .down { fill: #d55e00; } .unsure { opacity: .35; }
summary { cursor: pointer; }
</style></head><body><h1>Evaluation</h1>
<p>Shares are in percent, with their 95 % interval (percentile bootstrap over questions). Gains are
paired, question by question; a bar is pale where its interval holds 0.</p>
"""


def report(found: Iterable[Evaluated]) -> str:
    """Make the page of some sets, in the order to show."""
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
        title = f"What each setting gains over the one it is held to, {found.measure}"
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


COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's, which colour-blind readers tell apart."""


def _curves(rows: Sequence[Row]) -> str:
    """Recall over the cut-offs 1, 2, …, a line a setting; their names stand below each other."""
    steps, lines = len(rows[0].recall), ""
    for share in range(0, 101, 20):
        level = 240 - 2.3 * share
        lines += f'<line class="grid" x1="40" x2="520" y1="{level:.0f}" y2="{level:.0f}"/>'
        lines += f'<text x="8" y="{level + 4:.0f}">{share}</text>'
    for at, row in enumerate(rows):
        colour = COLOURS[at % len(COLOURS)]
        points = " ".join(
            f"{40 + 480 * n / (steps - 1):.1f},{240 - 230 * value:.1f}"
            for n, value in enumerate(row.recall)
        )
        # A line over another leaves gaps to see that one through.
        dashes = f"stroke-dasharray:{12 - 2 * at} {at}"
        style = f"fill:none;stroke:{colour};stroke-width:2;{dashes}"
        name = _clean(f"{row.setting} {100 * row.recall[-1]:.1f}")
        lines += f'<polyline points="{points}" style="{style}"/>'
        lines += f'<text x="528" y="{20 + 16 * at}" style="fill:{colour}">{name}</text>'
    lines += f'<text x="230" y="256">notes looked at, 1 to {steps}</text>'
    shown = f'<svg role="img" aria-label="Recall of notes" width="720" viewBox="0 0 720 260">{lines}</svg>'
    return f"<figure><figcaption>Recall of notes, %</figcaption>{shown}</figure>"


def _bars(title: str, rows: Sequence[tuple[str, MeanEstimate]]) -> str:
    """A bar a row around 0, as long as what is gained, with the interval as a line over it."""
    reach = max(max(abs(one.low), abs(one.high)) for _, one in rows) or 0.01
    bars = ""
    for name, one in rows:
        low, value, high = (250 * share / reach for share in (one.low, one.value, one.high))
        sure = "" if one.low > 0 or one.high < 0 else " unsure"
        bars += (
            f'<tr><td class="name">{_clean(name)}<td>'
            f'<svg role="img" aria-label="{100 * one.value:+.1f}" width="500" viewBox="-250 0 500 12">'
            f'<rect class="{"up" if value >= 0 else "down"}{sure}" x="{min(value, 0):.1f}" '
            f'width="{abs(value):.1f}" height="12"/><line class="axis" y2="12"/>'
            f'<line class="axis" x1="{low:.1f}" x2="{high:.1f}" y1="6" y2="6"/></svg>\n'
        )
    return f"<figure><figcaption>{_clean(title)}</figcaption><table>{bars}</table></figure>"
