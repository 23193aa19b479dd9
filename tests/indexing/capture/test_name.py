"""The name of a captured note can be written to any disk, and said by a link."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import MAX_BYTES, cut_bytes, file_name, parse_note, safe, title_of

NOW = datetime(2026, 11, 22, 9, 31, 5)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        pytest.param("Sea wall", "2026-11-22 0931 Sea wall.md", id="plain"),
        pytest.param("", "2026-11-22 0931.md", id="none"),
        pytest.param("A/B: what?", "2026-11-22 0931 A B what.md", id="windows"),
        pytest.param("[[x]]#^|%%", "2026-11-22 0931 x.md", id="link"),
        pytest.param("../../etc/passwd", "2026-11-22 0931 etc passwd.md", id="path"),
        pytest.param("CON", "2026-11-22 0931 CON.md", id="reserved"),
        pytest.param("tea. ", "2026-11-22 0931 tea.md", id="trailing-dot"),
        pytest.param("a\u202eb\x07c\ud800", "2026-11-22 0931 a b c.md", id="controls"),
        pytest.param("Cafe\u0301", "2026-11-22 0931 Caf\u00e9.md", id="nfc"),
        pytest.param("👩\u200d🌾 潮汐", "2026-11-22 0931 👩\u200d🌾 潮汐.md", id="emoji"),
    ],
)
def test_names(title: str, name: str) -> None:
    assert file_name(title, NOW) == name


@given(st.text(max_size=400), st.integers(1, 10_000))
def test_any_title_makes_a_portable_name(title: str, number: int) -> None:
    name = file_name(title, NOW, number)
    assert len(name.encode()) <= MAX_BYTES
    assert re.fullmatch(r'2026-11-22 0931[^\\/:*?"<>|\[\]#^\x00-\x1f\x7f]*\.md', name)
    assert not name.removesuffix(".md").endswith((" ", "."))
    assert unicodedata.is_normalized("NFC", name)
    assert safe(safe(title)) == safe(title)


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [
        ("short", 10, "short"),
        ("some more words", 12, "some more"),
        ("éééé", 5, "éé"),
        ("a word, bcd", 9, "a word"),
        ("abcdefgh i", 9, "abcdefgh"),
    ],
)
def test_cut_between_words(text: str, most: int, cut: str) -> None:
    assert cut_bytes(text, most) == cut


@pytest.mark.parametrize(
    ("text", "title"),
    [
        pytest.param("Call Bram\nabout clay", "Call Bram", id="first-line"),
        pytest.param("\n---\n# **Clay** over winter #", "Clay over winter #", id="heading"),
        pytest.param("- [ ] ask [[People/Bram|Bram]] `now`", "ask Bram now", id="task"),
        pytest.param("> 1. quoted", "quoted", id="quote"),
        pytest.param("---\ntype: x\n---\nBelow", "Below", id="below-front-matter"),
        pytest.param("%%hidden%%\nShown", "Shown", id="comment"),
        pytest.param("***\n!!!", "", id="nothing-said"),
        pytest.param("word " * 30, " ".join(["word"] * 12), id="long"),
    ],
)
def test_the_first_line_that_says_something(text: str, title: str) -> None:
    assert title_of(parse_note("", text.encode())) == title
