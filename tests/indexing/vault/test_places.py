"""Offsets and lines are exact wherever a link stands: behind quotes, bullets, pipes, line ends."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import note_of

PLACES = {
    "first character": "[[A]]",
    "after text": "text [[A]] text",
    "two lines": "one\ntwo [[A]]",
    "indented paragraph": "   one\n   two [[A]]",
    "trailing blanks": "one  \ntwo   [[A]]   \n",
    "heading": "## Two [[A]] ##",
    "heading with tabs": "#\tTwo\t[[A]]\t#",
    "heading in a quote in a list": "- > # Two [[A]]",
    "setext": "One\ntwo [[A]]\n---",
    "list": "- one\n- two [[A]]",
    "wide bullet": "-    two [[A]]",
    "ordered": "10) two [[A]]",
    "nested list": "- a\n    - b\n        - c [[A]]",
    "tab list": "-\ta\n\t-\tb [[A]]",
    "continuation of an item": "- one\n  two [[A]]",
    "lazy continuation of an item": "- one\ntwo [[A]]",
    "second paragraph of an item": "- one\n\n  two [[A]]",
    "quote": "> one\n> two [[A]]",
    "quote without blank": ">one\n>two [[A]]",
    "lazy continuation of a quote": "> one\ntwo [[A]]",
    "quote in a quote": "> > one\n>> two [[A]]",
    "quote in a list": "- > one\n  > two [[A]]",
    "list in a quote": "> - one\n>   - two [[A]]",
    "callout title": "> [!tip]+ Title [[A]]\n> body",
    "callout body": "> [!tip] Title\n> body [[A]]",
    "callout body after a gap": "> [!tip]\n>\n> body [[A]]",
    "table head": "| x | y [[A]] |\n|---|---|\n| 1 | 2 |",
    "table cell": "| x | y |\n|---|---|\n| 1 | 2 [[A]] |",
    "table without outer pipes": "x | y\n---|---\n1 | 2 [[A]]",
    "table with escaped pipe": "| x | y |\n|---|---|\n| 1 \\| 1 | 2 [[A]] |",
    "more cells than heads": "| x |\n|---|\n| 1 | 2 | [[A]] |",
    "table in a quote": "> | x |\n> |---|\n> | [[A]] |",
    "table in a list": "- a\n\n  | x |\n  |---|\n  | [[A]] |",
    "footnote": "x[^1]\n\n[^1]: one\n    two [[A]]",
    "after emoji": "🌊 é [[A]]",
    "after front matter": "---\na: 1\n---\n\n[[A]]",
    "after a code block": "```\nx\n```\n[[A]]",
    "after an HTML block": "<div>\n\n[[A]]\n",
    "deep quotes": "> " * 60 + "[[A]]",
    "deep lists": "- " * 60 + "[[A]]",
}


@pytest.mark.parametrize("text", PLACES.values(), ids=PLACES.keys())
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_place(text: str, newline: str) -> None:
    note = note_of(f"Before.\n\n{text}\n".replace("\n", newline) if "---\na" not in text else text)
    (link,) = note.links
    assert note.text[link.start : link.end] == link.raw == "[[A]]"
    assert link.start == note.text.index("[[A]]")
    assert link.line == note.text.count("\n", 0, link.start) + 1
    assert "\r" not in note.text


def test_lines_are_those_of_the_file_with_any_line_ends() -> None:
    assert [link.line for link in note_of("a\r\n\r\n[[b]]\r\n[[c]]\n[[d]]\r[[e]]").links] == [
        3,
        4,
        5,
        6,
    ]


def test_other_separators_end_no_line() -> None:
    (link,) = note_of("a\u2028b\x0bc\x0cd\x85[[e]]").links
    assert link.line == 1


def test_a_link_over_two_lines_of_a_quote_is_the_text_between() -> None:
    note = note_of("> see [one\n> two](Note.md) end")
    (link,) = note.links
    assert link.raw == "[one\n> two](Note.md)" == note.text[link.start : link.end]
    assert link.sentence == "see one two end"


def test_a_byte_order_mark_has_no_offset() -> None:
    (link,) = note_of("\ufeff[[A]]").links
    assert link.start == 0
