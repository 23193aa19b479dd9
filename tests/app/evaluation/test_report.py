"""The report is one page that shows every set and setting, and runs nothing of a note's."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from tests.support.product import (
    MEASURES,
    Change,
    Estimate,
    Evaluated,
    Question,
    Row,
    Target,
    report,
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
