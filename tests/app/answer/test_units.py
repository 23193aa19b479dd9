"""Markdown is cut into what can be said alone: nothing but blanks is lost, markers stay with it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.answer.units import bare, units
from notehop.indexing.vault.sentences import sentence_spans


def cut(text: str) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in units(text, sentence_spans)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\n ", [], id="blanks"),
        pytest.param(
            "In June [1]. Then more [2].",
            [("sentence", "In June [1]."), ("sentence", "Then more [2].")],
            id="sentences",
        ),
        pytest.param(
            "In June. [1] Then more. [2]",
            [("sentence", "In June. [1]"), ("sentence", "Then more. [2]")],
            id="a marker behind the full stop",
        ),
        pytest.param(
            "It is so. [2] adds that it was not.",
            [("sentence", "It is so."), ("sentence", "[2] adds that it was not.")],
            id="a marker that begins a sentence",
        ),
        pytest.param(
            "It cost 4.6 m (Fig. 2) in\nall. Done.",
            [("sentence", "It cost 4.6 m (Fig. 2) in\nall."), ("sentence", "Done.")],
            id="numbers, and a line that breaks",
        ),
        pytest.param(
            "**Bold.** Then it is.",
            [("sentence", "**Bold.**"), ("sentence", "Then it is.")],
            id="emphasis",
        ),
        pytest.param(
            "- One. Two [1].\n- Three [1]. Four goes\n  on [2].\n1. five",
            [
                ("item", "- One. Two [1]."),
                ("item", "- Three [1]."),
                ("item", "Four goes\n  on [2]."),
                ("item", "1. five"),
            ],
            id="items are whole, unless several of their sentences have markers",
        ),
        pytest.param(
            "| a | b |\n|---|---|\n| 1 | 2 |",
            [("heading", "| a | b |"), ("rule", "|---|---|"), ("row", "| 1 | 2 |")],
            id="a table",
        ),
        pytest.param(
            "# Head\ntext\n---\n```\ncode. x\n```",
            [
                ("heading", "# Head"),
                ("sentence", "text"),
                ("rule", "---"),
                ("code", "```\ncode. x\n```"),
            ],
            id="heading, rule, code",
        ),
        pytest.param(
            "“A b. C d.” [1]\n— Note > Plan",
            [("sentence", "“A b. C d.” [1]"), ("place", "— Note > Plan")],
            id="a quote and its place",
        ),
    ],
)
def test_what_a_text_is_cut_into(text: str, found: list[tuple[str, str]]) -> None:
    assert cut(text) == found


PARTS = st.sampled_from(
    [
        *("A b.", "c d", " ", "  ", "\n", "\n\n", "[1]", "[C1]", "- ", "1. ", "# ", "| ", " |"),
        *("---", "```", "`", "**", "“", "”", "> ", "— ", "x. y", "é。", "\r\n", "\u2028", "[ ]"),
    ]
)


@given(st.lists(PARTS, max_size=30).map("".join))
def test_units_are_the_text_in_order_blanks_aside(text: str) -> None:
    at = 0
    for one in units(text, sentence_spans):
        assert not text[at : one.start].strip()
        assert one.start < one.end
        words = text[one.start : one.end]
        assert words == words.strip()
        at = one.end
    assert not text[at:].strip()


def test_bare_words_have_no_markers_and_no_emphasis() -> None:
    assert bare("The **wall** is ==opened== [1, 2] in\n June [C1].") == (
        "The wall is opened in June ."
    )
    assert re.fullmatch(r"\S+( \S+)*", bare("a  b\n\nc"))


def test_the_head_of_a_table_is_a_heading_with_any_line_ends() -> None:
    for end in ("\n", "\r\n"):
        found = units(end.join(("| a | b |", "|---|---|", "| c | d |", "")), sentence_spans)
        assert [one.kind for one in found] == ["heading", "rule", "row"]
