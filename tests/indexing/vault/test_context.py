"""The words around a link."""

from __future__ import annotations

import pytest

from tests.indexing.vault.notes import sentences
from tests.support.product import MAX_CHARACTERS


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
