"""The report of an evaluation: one page of HTML that needs nothing beside itself. Pure.

It is built as a tree of elements, so that no text of a note can be taken for markup. Three plain
plots are a few lines each; a plotting library would bring tens of megabytes for them, and pictures
that cannot follow the colours of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from notehop.app.evaluation.metrics import ANSWERS, CONTAINS, MEASURES, MeanEstimate, percent
from notehop.app.evaluation.runner import Evaluated, Row
from notehop.app.evaluation.variants import CURRENT, STOCK
from notehop.indexing.shown import counted, on_one_line, printable

CURVES = (STOCK, "bare semantic", "bare lexical", "fused", CURRENT)
"""Settings whose recall is drawn, where there are more than :data:`FEW`."""

FEW = 5

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
figure { margin: 1rem 0; }
figcaption { font-weight: 600; }
svg { max-width: 100%; height: auto; }
svg text { fill: currentColor; font-size: 12px; }
.grid { stroke: #8885; } .axis { stroke: currentColor; }
.interval { stroke: currentColor; stroke-width: 1.5; }
.up { fill: #009e73; } .down { fill: #d55e00; } .unsure { opacity: .35; }
summary { cursor: pointer; } .quiet { opacity: .7; }
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
    if len(rows) > FEW:
        rows = tuple(row for row in rows if row.setting in CURVES)
    if rows:
        title = "Recall of notes, %"
        _figure(body, title, curves(title, [(_clean(row.setting), row.recall) for row in rows]))
    gains = [(_clean(row.setting), row.gains[found.measure]) for row in found.rows if row.gains]
    if gains:
        title = f"What each setting gains over the one it is held to, {found.measure}, points"
        _figure(body, title, bars(title, gains))
    _answers(body, found)
    _measures(body, found)
    for row in found.rows:
        if row.helped or row.hurt:
            _changes(body, found, row)


def _gains(body: Element, found: Evaluated) -> None:
    head = ["setting", f"{found.measure}, %", "against", "gain", "helped", "hurt"]
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
    _table(body, [*head, "passages", "ms", "changed settings"], lines, names=(0, 2, 8))


def _measures(body: Element, found: Evaluated) -> None:
    """All measures that apply to a question of the set."""
    names = [name for name in MEASURES if any(name in row.measures for row in found.rows)]
    lines = [
        [row.setting, *(_estimate(row.measures.get(name)) for name in names)] for row in found.rows
    ]
    details = SubElement(body, "details")
    SubElement(details, "summary").text = "All measures"
    _table(details, ["setting", *names], lines, names=(0,))


def _answers(body: Element, found: Evaluated) -> None:
    """What the answers hold, with their length, where the set says its answers."""
    if all(row.words is None for row in found.rows):
        return
    names = [name for name in ANSWERS if any(name in row.measures for row in found.rows)]
    lines = []
    for row in found.rows:
        gain = row.gains.get(CONTAINS)
        values = (_estimate(row.measures.get(name)) for name in names)
        words = "" if row.words is None else f"{row.words:.0f}"
        lines.append(
            [row.setting, _estimate(gain, sign="+"), *values, _estimate(row.refused), words]
        )
    SubElement(body, "h3").text = "Answers"
    _paragraph(
        body,
        "Shares of the questions whose answer is known; refused: of "
        f"{counted(found.foreign, 'question')} that the vault cannot answer.",
    )
    head = ["setting", f"gain of {CONTAINS}", *names, "refused", "words"]
    _table(body, head, lines, names=(0,))


def _changes(body: Element, found: Evaluated, row: Row) -> None:
    details = SubElement(body, "details")
    title = (
        f"{_clean(row.setting)} against {_clean(str(row.against))}: "
        f"{len(row.helped):,} helped, {len(row.hurt):,} hurt"
    )
    SubElement(details, "summary").text = title
    values = [one.after - one.before for one in (*row.helped, *row.hurt)]
    _figure(details, f"{found.measure}, a bar a question", differences(title, values))
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


def _figure(parent: Element, title: str, plot: Element) -> None:
    figure = SubElement(parent, "figure")
    SubElement(figure, "figcaption").text = title
    figure.append(plot)


def _paragraph(parent: Element, text: str) -> None:
    SubElement(parent, "p").text = _clean(text)


def _estimate(one: MeanEstimate | None, sign: str = "") -> str:
    if one is None:
        return ""
    return f"{percent(one.value, sign)} ({percent(one.low)} to {percent(one.high)})"


def _clean(text: str) -> str:
    return on_one_line(printable(text))


DASHES = ("none", "12 3", "8 4", "5 5", "3 6")

WIDTH = 720
LEFT, RIGHT, TOP, BOTTOM = 200.0, 20.0, 12.0, 34.0
"""Pixels around a plot; names stand on the left."""

ROW = 22
"""Pixels of a bar with its name."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
"""Okabe and Ito's, which colour-blind readers tell apart."""


def curves(title: str, series: Sequence[tuple[str, Sequence[float]]]) -> Element:
    """Lines over the cut-offs 1, 2, …; values from 0 to 1, names on the right of the plot.

    :param series: name -> values, the same number each, at least two.
    """
    height, left, right = 260.0, 40.0, 190.0
    steps = len(series[0][1])
    lowest = int(10 * min(min(values) for _, values in series)) / 10
    svg = _svg(title, height)
    width = WIDTH - left - right

    def x(place: int) -> float:
        return left + width * place / (steps - 1)

    def y(value: float) -> float:
        return TOP + (height - TOP - BOTTOM) * (1 - value) / ((1 - lowest) or 1)

    for tenth in range(round(10 * lowest), 11):
        _line(svg, left, y(tenth / 10), left + width, y(tenth / 10), "grid")
        _text(svg, left - 6, y(tenth / 10) + 4, f"{10 * tenth}", anchor="end")
    for place in range(steps):
        if place == 0 or (place + 1) % 5 == 0:
            _text(svg, x(place), height - BOTTOM + 16, str(place + 1), anchor="middle")
    _text(svg, left + width / 2, height - 4, "notes looked at", anchor="middle")
    names = spread([y(values[-1]) + 4 for _, values in series], 14)
    for at, ((name, values), beside) in enumerate(zip(series, names, strict=True)):
        points = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in enumerate(values))
        colour = COLOURS[at % len(COLOURS)]
        # A line over another leaves gaps to see that one through.
        style = (
            f"fill:none;stroke:{colour};stroke-width:2;stroke-dasharray:{DASHES[at % len(DASHES)]}"
        )
        SubElement(svg, "polyline", points=points, style=style)
        text = _text(svg, left + width + 8, beside, f"{name} {100 * values[-1]:.1f}")
        text.set("style", f"fill:{colour}")
    return svg


def bars(title: str, rows: Sequence[tuple[str, MeanEstimate]]) -> Element:
    """A bar a row around 0, in percent, with the interval as a line over it; at least one row."""
    height = TOP + ROW * len(rows) + BOTTOM
    svg = _svg(title, height)
    width = WIDTH - LEFT - RIGHT
    reach = max(max(abs(one.low), abs(one.high)) for _, one in rows) or 0.01

    def x(value: float) -> float:
        return LEFT + width * (value + reach) / (2 * reach)

    bottom = height - BOTTOM
    for value in (-reach, -reach / 2, 0.0, reach / 2, reach):
        _line(svg, x(value), TOP, x(value), bottom, "grid" if value else "axis")
        _text(svg, x(value), bottom + 16, f"{100 * value:+.1f}", anchor="middle")
    for at, (name, one) in enumerate(rows):
        middle = TOP + ROW * at + ROW / 2
        sort = "sure" if one.low > 0 or one.high < 0 else "unsure"
        start, end = sorted((x(0), x(one.value)))
        _bar(svg, one.value >= 0, sort, start, middle - 6, end - start, 12)
        _line(svg, x(one.low), middle, x(one.high), middle, "interval")
        for bound in (one.low, one.high):
            _line(svg, x(bound), middle - 4, x(bound), middle + 4, "interval")
        _text(svg, LEFT - 8, middle + 4, name, anchor="end")
    return svg


def differences(title: str, values: Sequence[float]) -> Element:
    """A bar a question, gains first and losses last, from -1 to 1; at least one value."""
    height, left = 150.0, 40.0
    svg = _svg(title, height)
    width = WIDTH - left - RIGHT
    middle, reach = height / 2, height / 2 - TOP
    step = width / max(len(values), 20)
    for bound in (-1, 0, 1):
        level = middle - reach * bound
        _line(svg, left, level, left + width, level, "grid" if bound else "axis")
        _text(svg, left - 6, level + 4, f"{100 * bound:+d}" if bound else "0", anchor="end")
    for at, value in enumerate(sorted(values, reverse=True)):
        top = middle - reach * max(value, 0)
        width, height = max(0.8 * step, 0.5), reach * abs(value)
        _bar(svg, value > 0, "sure", left + step * at, top, width, height)
    return svg


def spread(places: Sequence[float], apart: float) -> list[float]:
    """Move places down until they are ``apart`` from each other, in their order from the top."""
    found = list(places)
    last = float("-inf")
    for at in sorted(range(len(found)), key=lambda at: (found[at], at)):
        found[at] = last = max(found[at], last + apart)
    return found


def _svg(title: str, height: float) -> Element:
    svg = Element("svg", viewBox=f"0 0 {WIDTH} {height:.0f}", role="img", width=str(WIDTH))
    svg.set("aria-label", title)
    SubElement(svg, "title").text = title
    return svg


def _bar(
    svg: Element, gain: bool, sort: str, x: float, y: float, width: float, height: float
) -> None:
    sizes = {"x": x, "y": y, "width": width, "height": height}
    written = {key: f"{size:.1f}" for key, size in sizes.items()}
    SubElement(svg, "rect", {"class": f"{sort} {'up' if gain else 'down'}"}, **written)


def _line(svg: Element, x1: float, y1: float, x2: float, y2: float, sort: str) -> None:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    SubElement(svg, "line", {"class": sort}, **{key: f"{at:.1f}" for key, at in ends.items()})


def _text(svg: Element, x: float, y: float, text: str, *, anchor: str = "start") -> Element:
    found = SubElement(svg, "text", {"text-anchor": anchor}, x=f"{x:.1f}", y=f"{y:.1f}")
    found.text = text
    return found
