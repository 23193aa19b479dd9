"""Headings as the app gives them, and the sections they make."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One", [("One", 1, 1)]),
        ("   ### Three ###  ", [("Three", 3, 1)]),
        ("# a # b #c", [("a # b #c", 1, 1)]),
        ("#", [("", 1, 1)]),
        ("# #", [("", 1, 1)]),
        ("####### seven\n#tag\n    # code", []),
        ("One\n===\n\nTwo\nlines\n---", [("One", 1, 1), ("Two\nlines", 2, 4)]),
        ("text\n## Two\ntext", [("Two", 2, 2)]),
        ("> # quoted\n\n- # listed\n\n# Real", [("Real", 1, 5)]),
        ("```\n# code\n```\n%%\n# comment\n%%\n<div>\n# html\n</div>", []),
        ("# A [[B|c]] %%d%% `e` #f", [("A [[B|c]] %%d%% `e` #f", 1, 1)]),
    ],
    ids=str,
)
def test_headings(text: str, expected: list[tuple[str, int, int]]) -> None:
    assert [(h.text, h.level, h.line) for h in note_of(text).headings] == expected


def test_span_and_plain_text_of_a_heading() -> None:
    note = note_of("x\n\n  ## A  [[b/C#D]] %%e%% [f](g.md) ^id ##\n")
    (heading,) = note.headings
    assert note.text[heading.start : heading.end] == "## A  [[b/C#D]] %%e%% [f](g.md) ^id ##"
    assert heading.plain == "A C > D f"
    assert [(block.id, block.first_line) for block in note.blocks] == [("id", 3)]


def test_sections_are_split_at_the_first_two_ranks() -> None:
    note = note_of(
        "---\na: 1\n---\n\n\nIntro.\n# A\na\n### deep\nb\n## B\nc\n\nC\n---\nd\n\n# [[D|E]]\n## F"
    )
    assert [(s.heading_path, s.level, s.first_line, s.last_line) for s in note.sections] == [
        ((), 0, 6, 6),
        (("A",), 1, 7, 10),
        (("A", "B"), 2, 11, 13),
        (("A", "C"), 2, 14, 17),
        (("E",), 1, 18, 18),
        (("E", "F"), 2, 19, 19),
    ]
    assert note.sections[0].start == note.body_start == note.text.index("Intro")
    assert note.text[note.sections[3].start :].startswith("C\n---\nd")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("---\na: 1\n---\n", []),
        ("x", [((), 1, 1)]),
        ("\n\n## B\nx", [(("B",), 3, 4)]),
        ("### C\nx", [((), 1, 2)]),
    ],
    ids=["empty", "blank", "front matter only", "no heading", "H2 without H1", "only deep ones"],
)
def test_sections_at_the_edges(text: str, expected: list[tuple[tuple[str, ...], int, int]]) -> None:
    found = [(s.heading_path, s.first_line, s.last_line) for s in note_of(text).sections]
    assert found == expected
