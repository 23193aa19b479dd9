"""Blocks that carry an id, and the lines they span."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of, plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text ^id", [("id", 1, 1)]),
        ("one\ntwo ^a-1", [("a-1", 1, 2)]),
        ("text ^ID  ", [("ID", 1, 1)]),
        ("- a ^x\n- b ^y", [("x", 1, 1), ("y", 2, 2)]),
        ("- a\n  - b ^x\n    - c", [("x", 2, 2)]),
        ("> quote ^q", [("q", 1, 1)]),
        ("> one\n> two\n\n^q", [("q", 1, 2)]),
        ("> one\n> two\n^q\n", [("q", 1, 2)]),
        ("- a\n- b\n\n^list", [("list", 1, 2)]),
        ("- a\n- b\n^list\n\nx", [("list", 1, 2)]),
        ("- a\n\n  b\n\n  ^b", [("b", 3, 3)]),
        ("| a |\n|---|\n| b |\n\n^t", [("t", 1, 3)]),
        ("| a |\n|---|\n| b |\n^t", [("t", 1, 3)]),
        ("one\ntwo\n^p", [("p", 1, 2)]),
        ("one\n\n^p", [("p", 1, 1)]),
        ("```\nx\n```\n\n^c", [("c", 1, 3)]),
        ("> [!note] t\n> - a\n^call", [("call", 1, 2)]),
        ("- a\n\n^one\n^two", [("one", 1, 1), ("two", 1, 1)]),
        ("# H\n\n^h", [("h", 3, 3)]),
        ("^first", [("first", 1, 1)]),
        ("text^id", []),
        ("text ^id more", []),
        ("text ^not_valid", []),
        ("text ^", []),
        ("`code ^id`", []),
        ("```\ntext ^id\n```", []),
        ("[[N#^id]]", []),
        ("$x ^2$", []),
    ],
    ids=str,
)
def test_blocks(text: str, expected: list[tuple[str, int, int]]) -> None:
    found = [(block.id, block.first_line, block.last_line) for block in note_of(text).blocks]
    assert found == expected


def test_span_of_a_list_item_begins_at_its_bullet() -> None:
    note = note_of("- a\n  1. b [[c]] ^id\n     - d")
    (block,) = note.blocks
    assert note.text[block.start : block.end] == "1. b [[c]] ^id"


def test_ids_are_no_words() -> None:
    assert plain("a ^x\n\n- b\n\n^list\n\nc") == "a\n\n- b\n\n\n\nc"
