"""The words that a sentence rests on are quoted as they stand, with their own lines and link."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.answer.quoted_words import evidence, lines_of
from notehop.app.answer.units import units
from notehop.indexing.vault.sentences import sentence_spans
from tests.app.answer.samples import source

TEXT = (
    "## Timeline\n"
    "It slipped once. The wall opens in April.\n"
    "\n"
    "- [ ] rock in March\n"
    "- [x] clay done ^clay\n"
    "\n"
    "### Reserve\n"
    "If that fails, May. ^reserve-1\n"
)


def quoted(words: str, *more: str, heading: str = "Timeline") -> tuple[str, tuple[int, int], str]:
    one = source(1, TEXT, path="a/Reach.md", lines=(10, 17), heading=heading)
    spans = [(TEXT.index(part), TEXT.index(part) + len(part)) for part in (words, *more)]
    found = evidence(one, [heading] if heading else [], spans, "high", "Demo")
    return found.quote, found.lines, unquote(found.uri).partition("&file=")[2]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param(
            ["It slipped once."],
            ("It slipped once.", (11, 11), "a/Reach.md#Timeline"),
            id="a sentence",
        ),
        pytest.param(
            ["The wall opens in April.", "It slipped once."],
            ("It slipped once. The wall opens in April.", (11, 11), "a/Reach.md#Timeline"),
            id="two that touch, the second one before",
        ),
        pytest.param(
            ["It slipped once.", "If that fails, May."],
            ("It slipped once.", (11, 11), "a/Reach.md#Timeline"),
            id="two apart: the better one",
        ),
        pytest.param(
            ["- [ ] rock in March"],
            ("rock in March", (13, 13), "a/Reach.md#Timeline"),
            id="an item without its mark",
        ),
        pytest.param(
            ["- [x] clay done ^clay"],
            ("clay done", (14, 14), "a/Reach.md#^clay"),
            id="a block without its id, by which it is opened",
        ),
        pytest.param(
            ["- [ ] rock in March", "- [x] clay done ^clay"],
            ("rock in March\n- [x] clay done", (13, 14), "a/Reach.md#Timeline"),
            id="items that follow each other",
        ),
        pytest.param(
            ["If that fails, May. ^reserve-1"],
            ("If that fails, May.", (17, 17), "a/Reach.md#^reserve-1"),
            id="under a heading inside the source",
        ),
    ],
)
def test_what_is_quoted(words: list[str], found: tuple[str, tuple[int, int], str]) -> None:
    assert quoted(*words) == found


def test_a_heading_inside_the_source_is_the_nearest() -> None:
    text = TEXT.replace(" ^reserve-1", "")
    one = source(1, text, path="Reach.md", lines=(10, 17), heading="Plan > Timeline")
    at = text.index("If that")
    found = evidence(one, ["Plan", "Timeline"], [(at, at + 18)], "high", "Demo")
    assert unquote(found.uri).endswith("file=Reach.md#Plan#Timeline#Reserve")


def test_nothing_is_quoted_of_what_supports_nothing() -> None:
    one = source(1, TEXT, lines=(10, 17))
    found = evidence(one, [], [], "none", "Demo")
    assert (found.quote, found.lines, found.uri) == ("", (10, 17), one.uri)


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        pytest.param((10, 12), (11, 11), id="line by line"),
        pytest.param((10, 11), (10, 11), id="a line more than the file: it may be the one before"),
        pytest.param((10, 14), (11, 13), id="fewer: it may be further down"),
    ],
)
def test_lines_where_less_or_more_is_shown_than_stands_there(
    lines: tuple[int, int], found: tuple[int, int]
) -> None:
    one = source(1, "a\nb\nc", lines=lines)
    assert lines_of(one, 2, 3) == found


LINES = st.lists(
    st.sampled_from(["A b. C d.", "- e", "> f", "# G", "", "h ^id", "| i |", "```", "  j"]),
    max_size=12,
)


@given(LINES.map("\n".join), st.data())
def test_a_quote_is_a_piece_of_its_source_on_its_lines(text: str, data: st.DataObject) -> None:
    found = units(text, sentence_spans)
    if not found:
        return
    picked = data.draw(st.lists(st.sampled_from(found), min_size=1, max_size=3, unique=True))
    one = source(1, text, lines=(5, 5 + text.strip("\n").count("\n")), path="n.md")
    told = evidence(one, [], [(unit.start, unit.end) for unit in picked], "high", "V")
    assert told.quote in text
    assert told.quote == told.quote.strip()
    first, last = told.lines
    assert one.lines[0] <= first <= last <= max(one.lines)
