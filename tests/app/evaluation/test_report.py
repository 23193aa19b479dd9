"""The report is one page that shows every set and setting, and runs nothing of a note's."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree.ElementTree import fromstring

import pytest

from tests.support.product import (
    MEASURES,
    Change,
    Estimate,
    Evaluated,
    Question,
    Row,
    Target,
    bars,
    curves,
    differences,
    report,
    spread,
)

EVIL = '<script src="https://example.org/x.js">alert(1)</script>'


def row(name: str, value: float, against: str | None = None, changed: int = 0) -> Row:
    changes = tuple(Change("q0", 0.0, 1.0, ("x.md",), ("a.md",)) for _ in range(changed))
    return Row(
        setting=name,
        overrides={"connected.max": 3},
        against=against,
        measures=dict.fromkeys(MEASURES, Estimate(value, value - 0.1, value + 0.1)),
        gains={} if against is None else dict.fromkeys(MEASURES, Estimate(0.1, -0.2, 0.3)),
        recall=tuple(value * place / 20 for place in range(1, 21)),
        values=(value,),
        helped=changes,
        hurt=(),
        passages=8.0,
        milliseconds=4.2,
    )


def evaluated(*rows: Row) -> Evaluated:
    questions = (Question("q0", EVIL, (Target("a.md", "Plan", (1, 2)),)),)
    return Evaluated("my vault: headings", 9, "context.all", questions, rows, {"behind": 2})


class Page(HTMLParser):
    """The tags of a page and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_the_page_shows_what_was_measured() -> None:
    page = Page(report([evaluated(row("stock", 0.4), row("current", 0.5, "stock", 1))]))
    assert page.tags.count("svg") == 3
    for shown in ("9 notes, 1 question", "stock", "50.0 (40.0 to 60.0)", "+10.0 (-20.0 to 30.0)"):
        assert shown in page.words
    for shown in ("a.md#Plan", "0 → 100", "current against stock: 1 helped, 0 hurt", "behind"):
        assert shown in page.words


def test_the_page_needs_nothing_beside_itself_and_runs_nothing() -> None:
    text = report([evaluated(row("stock", 0.4), row(EVIL, 0.5, "stock", 60))])
    page = Page(text)
    assert page.addresses == []
    assert "script" not in page.tags
    assert EVIL in page.words
    assert "And 10 more, which the JSON has." in page.words
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|<link", text)


def test_answers_have_a_table_where_they_are_known() -> None:
    quiet = evaluated(row("stock", 0.4))
    assert "Answers" not in Page(report([quiet])).words
    known = replace(row("current", 0.5), words=81.6, refused=Estimate(0.75, 0.5, 1.0))
    words = Page(report([replace(quiet, rows=(known,), foreign=8)])).words
    for shown in ("Answers", "8 questions that the vault cannot", "82", "75.0 (50.0 to 100.0)"):
        assert shown in words


def test_an_evaluation_of_nothing_is_a_page() -> None:
    assert "nothing to evaluate" in Page(report([])).words


def test_many_settings_draw_the_curves_of_a_few() -> None:
    rows = [row("stock", 0.1), *(row(f"without {n}", 0.2, "stock") for n in range(9))]
    text = report([evaluated(*rows)])
    assert text.count("<polyline") == 1
    assert text.count("<rect") == 9


def test_bars_tell_sure_from_unsure() -> None:
    svg = bars("gains", [("up", Estimate(0.2, 0.1, 0.3)), ("none", Estimate(-0.1, -0.3, 0.1))])
    sorts = [rect.get("class") for rect in svg.iter("rect")]
    assert sorts == ["sure up", "unsure down"]
    (up, down) = (float(rect.get("width") or 0) for rect in svg.iter("rect"))
    assert up == pytest.approx(2 * down, abs=0.2)


def test_curves_rise_with_their_values() -> None:
    svg = curves("recall", [("a", (0.5, 0.75, 1.0)), ("b", (0.5, 0.5, 0.5))])
    first, second = (
        [float(point.split(",")[1]) for point in (line.get("points") or "").split()]
        for line in svg.iter("polyline")
    )
    assert first == sorted(first, reverse=True)
    assert len(set(second)) == 1
    assert second[0] == first[0]


def test_plots_of_nothing_but_zeros_are_plots() -> None:
    zero = Estimate(0.0, 0.0, 0.0)
    for svg in (bars("b", [("a", zero)]), curves("c", [("a", (1.0, 1.0))]), differences("d", [1])):
        from xml.etree.ElementTree import tostring

        assert "nan" not in tostring(svg, encoding="unicode").lower()
        assert fromstring(tostring(svg)).tag == "svg"


def test_names_keep_their_distance() -> None:
    assert spread([5, 5, 40, 6], 10) == [5, 15, 40, 25]
