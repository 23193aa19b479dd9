"""Links of a note: their places, their sentences, and the public list of their targets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.vault.notes import note_of, sentences
from tests.support.product import MAX_CHARACTERS, extract_wiki_links, indexing

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


def test_a_link_over_two_lines_of_a_quote_is_the_text_between() -> None:
    note = note_of("> see [one\n> two](Note.md) end")
    (link,) = note.links
    assert link.raw == "[one\n> two](Note.md)" == note.text[link.start : link.end]
    assert link.sentence == "see one two end"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two [[A]] here. Three.", ["Two A here."]),
        ("See [[A|the plan]] and [[b/C#D]].", ["See the plan and C > D."] * 2),
        ("Ask Mr. [[Grey]] e.g. today. Then go.", ["Ask Mr. Grey e.g. today."]),
        ("# About [[A]] ^id", ["About A"]),
        ("- buy [[milk]]. Then go.\n- other", ["buy milk. Then go."]),
        ("- [ ] #todo call [[Ada]]", ["#todo call Ada"]),
        ("1. [x] done [[A]]\n   more", ["done A more"]),
        ("- outer [[A]]\n  - inner [[B]]", ["outer A", "inner B"]),
        ("> quoted [[A]]\n> text", ["quoted A"]),
        ("> [!tip] Title [[A]]\n> Body [[B]].", ["Title A", "Body B."]),
        ("| a | b |\n|---|---|\n| [[A]] | two [[B\\|b]] |", ["A | two b"] * 2),
        ("a %%hidden%% [[A]] <!-- hidden --> b", ["a A b"]),
        ("a **bold** [[A]] `code`", ["a **bold** A `code`"]),
        ("text [[A]] ^block-id", ["text A"]),
        ("第一句。第二句 [[甲]]。第三句。", ["第二句 甲。"]),
        ("![[A]]", ["A"]),
        ("[[#^id]]", [""]),
    ],
    ids=str,
)
def test_sentence(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_lines_that_an_editor_wrapped_are_one_sentence() -> None:
    text = (
        "The harbour study of last year was asked for by the people of the\n"
        "council, and [[Ada]] wrote most of it in a single winter, alone with\nher notes."
    )
    assert sentences(text) == [text.replace("\n", " ").replace("[[Ada]]", "Ada")]


def test_lines_that_the_writer_broke_are_not() -> None:
    assert sentences("author: [[Ada]]\nstatus: draft\nabout [[Boats]]") == [
        "author: Ada",
        "about Boats",
    ]


def test_a_long_list_item_is_read_by_sentences() -> None:
    assert sentences("- " + "Filler sentence here. " * 20 + "It names [[Ada]]. End.") == [
        "It names Ada."
    ]


def test_a_long_sentence_is_cut_around_its_link() -> None:
    words = "word " * 300
    for text in (f"[[A]] {words}", f"{words}[[A]] {words}", f"{words}[[A]]", "x" * 900 + " [[A]]"):
        (sentence,) = sentences(text)
        assert "A" in sentence.strip("…").split()
        assert len(sentence) <= MAX_CHARACTERS
        assert "…" in sentence


def test_properties_have_no_sentence() -> None:
    assert sentences("---\na: '[[A]]'\n---\n[[B]]") == ["", "B"]


def test_links_in_comments_have_no_sentence() -> None:
    note = note_of("a %%[[In]]%% b\n\n%%\nx [[Block]]\n%% z [[Out]]\n", comment_links="all")
    assert [(link.target, link.sentence) for link in note.links] == [
        ("In", ""),
        ("Block", ""),
        ("Out", "z Out"),
    ]


def test_it_is_public() -> None:
    assert indexing.extract_wiki_links is extract_wiki_links
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = indexing.nothing  # type: ignore[attr-defined]


@given(st.lists(st.sampled_from(["[[", "]]", *"|#[]aB \n`\\%"])).map("".join))
def test_writing_the_targets_again_gives_the_same_list(text: str) -> None:
    found = extract_wiki_links(text)
    assert len(found) == len(set(found))
    assert extract_wiki_links("\n".join(f"[[{target}]]" for target in found)) == found


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert all(target for target in extract_wiki_links(text))
