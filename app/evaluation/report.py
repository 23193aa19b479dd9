"""The report of an evaluation: one page of HTML that needs nothing beside itself. Pure.

It is built as a tree of elements, so that no text of a note can be taken for markup; a plotting
library would bring tens of megabytes for two plain plots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from notehop.app.evaluation.metrics import MEASURES, MeanEstimate, percent
from notehop.app.evaluation.run import CURRENT, STOCK
from notehop.app.evaluation.runner import Evaluated, Row
from notehop.indexing.shown import counted, on_one_line, printable

CURVES = (STOCK, "bare semantic", "bare lexical", "fused", CURRENT)
"""Settings whose recall is drawn, where there are more than these five."""

CHANGES = 50
"""Questions that are listed as helped, and as hurt, by a setting."""

_STYLE = """
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
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing is fetched or run, whatever stands in a note's title."""


def report(found: Iterable[Evaluated]) -> str:
    """Make the page.

    :param found: the sets in the order to show; a page without any says so.
    """
    page = Element("html", lang="en")
    head = SubElement(page, "head")
    SubElement(head, "meta", charset="utf-8")
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": _POLICY})
    SubElement(head, "meta", name="viewport", content="width=device-width")
    SubElement(head, "title").text = "notehop: evaluation"
    SubElement(head, "style").text = _STYLE
    body = SubElement(page, "body")
    SubElement(body, "h1").text = "Evaluation"
    _paragraph(
        body,
        "Shares are in percent, with their 95 % interval (percentile bootstrap over questions). "
        "Gains are paired, question by question; a bar is pale where its interval holds 0.",
    )
    sets = list(found)
    if not sets:
        _paragraph(body, "There was nothing to evaluate.")
    for one in sets:
        _set(body, one)
    return f"<!DOCTYPE html>\n{tostring(page, encoding='unicode', method='html')}\n"


def _set(body: Element, found: Evaluated) -> None:
    SubElement(body, "h2").text = _clean(found.name)
    size = f"{counted(found.notes, 'note')}, {counted(len(found.questions), 'question')}"
    _paragraph(body, f"{size}; helped and hurt by {found.measure}.")
    for message, count in found.warnings.items():
        _paragraph(body, f"Warning of {counted(count, 'search')}: {message}")
    _gains(body, found)
    rows = found.rows
    if len(rows) > len(CURVES):
        rows = tuple(row for row in rows if row.setting in CURVES)
    if rows:
        _curves(_figure(body, "Recall of notes, %"), rows)
    gains = [(row.setting, row.gains[found.measure]) for row in found.rows if row.gains]
    if gains:
        title = f"What each setting gains over the one it is held to, {found.measure}, points"
        _bars(_figure(body, title), gains)
    names = [name for name in MEASURES if any(name in row.measures for row in found.rows)]
    lines = [
        [
            row.setting,
            *(_estimate(row.measures.get(name)) for name in names),
            "" if row.words is None else f"{row.words:.0f}",
        ]
        for row in found.rows
    ]
    _table(_details(body, "All measures"), ["setting", *names, "words"], lines, names=(0,))
    for row in found.rows:
        if row.helped or row.hurt:
            _changes(body, found, row)


def _gains(body: Element, found: Evaluated) -> None:
    lines = []
    for row in found.rows:
        gain = row.gains.get(found.measure)
        lines.append(
            [
                row.setting,
                _estimate(row.measures[found.measure]),
                row.against or "",
                _estimate(gain, sign="+"),
                "" if gain is None else str(len(row.helped)),
                "" if gain is None else str(len(row.hurt)),
                f"{row.passages:.1f}",
                f"{row.milliseconds:.1f}",
                ", ".join(f"{key}={value}" for key, value in row.overrides.items()),
            ]
        )
    head = ["setting", f"{found.measure}, %", "against", "gain", "helped", "hurt"]
    _table(body, [*head, "passages", "ms", "changed settings"], lines, names=(0, 2, 8))


def _changes(body: Element, found: Evaluated, row: Row) -> None:
    won = f"{len(row.helped):,} helped, {len(row.hurt):,} hurt"
    details = _details(body, f"{row.setting} against {row.against}: {won}")
    known = {question.id: question for question in found.questions}
    for name, changes in (("Helped", row.helped), ("Hurt", row.hurt)):
        if not changes:
            continue
        SubElement(details, "h3").text = name
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
        head = ["question", "gold", "%", "first notes before", "first notes after"]
        _table(details, head, lines, names=(0, 1, 3, 4))
        if len(changes) > CHANGES:
            _paragraph(details, f"And {len(changes) - CHANGES:,} more, which the JSON has.")


def _table(
    parent: Element, head: Sequence[str], lines: Iterable[Sequence[str]], names: Sequence[int]
) -> None:
    """A table; the columns ``names`` hold text, the others numbers."""
    table = SubElement(SubElement(parent, "div", {"class": "scroll"}), "table")
    for cells, tag in [(head, "th"), *((line, "td") for line in lines)]:
        row = SubElement(table, "tr")
        for at, cell in enumerate(cells):
            element = SubElement(row, tag, {"class": "name"} if at in names else {})
            element.text = _clean(cell)


def _paragraph(parent: Element, text: str) -> None:
    SubElement(parent, "p").text = _clean(text)


def _details(parent: Element, summary: str) -> Element:
    details = SubElement(parent, "details")
    SubElement(details, "summary").text = _clean(summary)
    return details


def _estimate(one: MeanEstimate | None, sign: str = "") -> str:
    if one is None:
        return ""
    return f"{percent(one.value, sign)} ({percent(one.low)} to {percent(one.high)})"


def _clean(text: str) -> str:
    return on_one_line(printable(text))


WIDTH, LEFT, RIGHT = 720, 200, 20
"""Pixels of a plot; names stand on the left, before its margin."""

ROW = 22
"""Pixels of a bar with its name."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's, which colour-blind readers tell apart."""


def _figure(parent: Element, title: str) -> Element:
    figure = SubElement(parent, "figure")
    SubElement(figure, "figcaption").text = _clean(title)
    about = {"role": "img", "aria-label": _clean(title), "width": str(WIDTH)}
    return SubElement(figure, "svg", about)


def _curves(svg: Element, rows: Sequence[Row]) -> None:
    """Recall over the cut-offs 1, 2, …, a line a setting; their names stand below each other."""
    height, right = 240, WIDTH - LEFT
    svg.set("viewBox", f"0 0 {WIDTH} {height + 20}")
    steps = len(rows[0].recall)
    for tenth in range(0, 11, 2):
        level = height - (height - 10) * tenth / 10
        _line(svg, 40, level, right, level, "grid")
        _text(svg, 34, level + 4, f"{10 * tenth}", "end")
    for at, row in enumerate(rows):
        colour = COLOURS[at % len(COLOURS)]
        points = " ".join(
            f"{40 + (right - 40) * n / (steps - 1):.1f},{height - (height - 10) * value:.1f}"
            for n, value in enumerate(row.recall)
        )
        # A line over another leaves gaps to see that one through.
        style = f"fill:none;stroke:{colour};stroke-width:2;stroke-dasharray:{12 - 2 * at} {at}"
        SubElement(svg, "polyline", points=points, style=style)
        name = f"{_clean(row.setting)} {100 * row.recall[-1]:.1f}"
        _text(svg, right + 8, 20 + 16 * at, name).set("style", f"fill:{colour}")
    _text(svg, right / 2, height + 16, f"notes looked at, 1 to {steps}", "middle")


def _bars(svg: Element, rows: Sequence[tuple[str, MeanEstimate]]) -> None:
    """A bar a row around 0, in percent, with the interval as a line over it."""
    bottom = ROW * len(rows) + 10
    svg.set("viewBox", f"0 0 {WIDTH} {bottom + 20}")
    reach = max(max(abs(one.low), abs(one.high)) for _, one in rows) or 0.01

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value + reach) / (2 * reach)

    for value in (-reach, -reach / 2, 0.0, reach / 2, reach):
        _line(svg, x(value), 0, x(value), bottom, "grid" if value else "axis")
        _text(svg, x(value), bottom + 16, f"{100 * value:+.1f}", "middle")
    for at, (name, one) in enumerate(rows):
        middle = ROW * at + ROW / 2
        start, end = sorted((x(0), x(one.value)))
        sure = one.low > 0 or one.high < 0
        kind = f"{'up' if one.value >= 0 else 'down'}{'' if sure else ' unsure'}"
        place = {"x": f"{start:.1f}", "y": f"{middle - 6:.1f}", "width": f"{end - start:.1f}"}
        SubElement(svg, "rect", {"class": kind, "height": "12"}, **place)
        _line(svg, x(one.low), middle, x(one.high), middle, "interval")
        _text(svg, LEFT - 8, middle + 4, _clean(name), "end")


def _line(svg: Element, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    SubElement(svg, "line", {"class": kind}, **{key: f"{at:.1f}" for key, at in ends.items()})


def _text(svg: Element, x: float, y: float, text: str, anchor: str = "start") -> Element:
    found = SubElement(svg, "text", {"text-anchor": anchor}, x=f"{x:.1f}", y=f"{y:.1f}")
    found.text = text
    return found
