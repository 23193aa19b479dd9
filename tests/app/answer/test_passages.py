"""What can be quoted: whole sentences, list items and table rows, in the note's own words."""

from __future__ import annotations

import pytest

from app.answer.passages import LONGEST_ITEM, passages
from indexing.vault.parse import parse_note
from indexing.vault.plain import plain_text
from tests.app.answer.samples import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One. Two\nlines.", ["One.", "Two lines."], id="sentences"),
        pytest.param("# Head\nText.", ["Text."], id="heading-is-none"),
        pytest.param("- a. b.\n- c", ["a. b.", "c"], id="items-whole"),
        pytest.param("- [ ] pay **Ann**", ["[ ] pay **Ann**"], id="task-as-written"),
        pytest.param("- a\n  - b", ["a", "b"], id="nested"),
        pytest.param("> [!note] Title\n> Body.", ["Title", "Body."], id="callout"),
        pytest.param("> quoted.", ["quoted."], id="quote"),
        pytest.param("> > a\n> > b.", ["a b."], id="quote-in-a-quote"),
        pytest.param("cut\n      > > quoted.", ["cut quoted."], id="quote-without-its-list"),
        pytest.param("| a | b |\n|---|---|\n| 1 | 2 |", ["1 | 2"], id="table-row"),
        pytest.param("```\ncode\n```\nText.", ["Text."], id="fence-is-none"),
        pytest.param("Text. ^block-1", ["Text."], id="block-id"),
        pytest.param("a\n\n---\n\nb", ["a", "b"], id="rule-is-none"),
        pytest.param("...\n\n!", [], id="no-words"),
        pytest.param("The plan.\n\nplan of 2026.svg", ["The plan."], id="name-of-a-picture"),
        pytest.param("**Bold end.** Next.", ["Bold end.", "Next."], id="cut-off-emphasis"),
        pytest.param("", [], id="empty"),
    ],
)
def test_passages(text: str, expected: list[str]) -> None:
    assert [passage.text for passage in passages(text, split_sentences)] == expected


def test_the_title_of_a_callout_is_no_part_of_its_first_sentence() -> None:
    """In the text of a source, where the type of the callout is not there to tell."""
    text = "> [!warning] The footpath\n> The public footpath ends here. Go round.\n"
    note = parse_note("note.md", text.encode())
    found = passages(plain_text(note, 0, len(note.text)), split_sentences)
    assert [passage.text for passage in found] == [
        "The footpath",
        "The public footpath ends here.",
        "Go round.",
    ]
    assert found[0].block != found[1].block


def test_a_long_item_is_cut_into_sentences() -> None:
    sentence = "word " * (LONGEST_ITEM // 5) + "end."
    found = passages(f"- {sentence} Last.", split_sentences)
    assert [passage.text for passage in found] == [sentence, "Last."]
    assert {passage.block for passage in found} == {0}


def test_items_know_the_line_above_their_list() -> None:
    found = passages("Dates:\n- May\n  - 2\n\nOther.\n- June", split_sentences)
    assert [(p.text, p.lead) for p in found] == [
        ("May", "Dates:"),
        ("2", "May"),
        ("Other.", ""),
        ("June", ""),
    ]
