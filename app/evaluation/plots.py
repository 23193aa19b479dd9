"""Plots of an evaluation as SVG elements: curves, bars with intervals, differences. Pure.

Three plain plots are a few lines each; a plotting library would bring tens of megabytes for them,
and pictures that cannot follow the colours of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement

from notehop.app.evaluation.metrics import Estimate

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


def bars(title: str, rows: Sequence[tuple[str, Estimate]]) -> Element:
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
        SubElement(
            svg,
            "rect",
            {"class": f"{sort} {'up' if one.value >= 0 else 'down'}"},
            x=f"{start:.1f}",
            y=f"{middle - 6:.1f}",
            width=f"{end - start:.1f}",
            height="12",
        )
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
        SubElement(
            svg,
            "rect",
            {"class": "sure up" if value > 0 else "sure down"},
            x=f"{left + step * at:.1f}",
            y=f"{middle - reach * max(value, 0):.1f}",
            width=f"{max(0.8 * step, 0.5):.1f}",
            height=f"{reach * abs(value):.1f}",
        )
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


def _line(svg: Element, x1: float, y1: float, x2: float, y2: float, sort: str) -> None:
    ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    SubElement(svg, "line", {"class": sort}, **{key: f"{at:.1f}" for key, at in ends.items()})


def _text(svg: Element, x: float, y: float, text: str, *, anchor: str = "start") -> Element:
    found = SubElement(svg, "text", {"text-anchor": anchor}, x=f"{x:.1f}", y=f"{y:.1f}")
    found.text = text
    return found
