"""What can be quoted: whole sentences, list items and table rows, in the note's own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.answer.samples import split_sentences
from tests.support.product import parse_note, passages, plain_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One is first. Two\nlines.", ["One is first.", "Two lines."], id="sentences"),
        pytest.param("No. It is not so.", ["No. It is not so."], id="a-word-is-no-sentence"),
        pytest.param("# Head\nText.", ["Text."], id="heading-is-none"),
        pytest.param("- a. b.\n- c", ["a. b.", "c"], id="items-whole"),
        pytest.param("- [ ] pay **Ann**", ["[ ] pay **Ann**"], id="task-as-written"),
        pytest.param("- a\n  - b", ["a", "b"], id="nested"),
        pytest.param("> [!note] Title\n> Body.", ["Body."], id="callout"),
        pytest.param("> Title\n>\n> Body.", ["Body."], id="callout-as-shown"),
        pytest.param("> [!note] Never turn it off. ", ["Never turn it off."], id="callout-alone"),
        pytest.param("> quoted.", ["quoted."], id="quote"),
        pytest.param("> > a\n> > b.", ["a b."], id="quote-in-a-quote"),
        pytest.param("cut\n      > > quoted.", ["cut quoted."], id="quote-without-its-list"),
        pytest.param("| a | b |\n|---|---|\n| 1 | 2 |", ["1 | 2"], id="table-row"),
        pytest.param("```\ncode\n```\nText.", ["Text."], id="fence-is-none"),
        pytest.param("Text. ^block-1", ["Text."], id="block-id"),
        pytest.param("a\n\n---\n\nb", ["a", "b"], id="rule-is-none"),
        pytest.param("...\n\n!", [], id="no-words"),
        pytest.param("The plan.\n\nplan of 2026.svg", ["The plan."], id="name-of-a-picture"),
        pytest.param("**The bold end.** Next.", ["The bold end.", "Next."], id="cut-off-emphasis"),
        pytest.param("pkg/lookup\n\nnotes://docs", [], id="bare-names"),
        pytest.param("See pkg/lookup\n\n2/3", ["See pkg/lookup", "2/3"], id="no-bare-names"),
        pytest.param("Code:\n- pkg/lookup", ["pkg/lookup"], id="name-under-a-lead"),
        pytest.param("", [], id="empty"),
    ],
)
def test_passages(text: str, expected: list[str]) -> None:
    assert [passage.text for passage in passages(text, split_sentences)] == expected


def test_the_title_of_a_callout_is_no_passage() -> None:
    """In the text of a source, where the type of the callout is not there to tell."""
    text = "> [!warning] The footpath\n> The public footpath ends here. Go round.\n"
    note = parse_note("note.md", text.encode())
    found = passages(plain_text(note, 0, len(note.text)), split_sentences)
    assert [passage.text for passage in found] == ["The public footpath ends here.", "Go round."]


def test_items_know_the_line_above_their_list() -> None:
    found = passages("Dates:\n- May\n  - 2\n\nOther.\n- June", split_sentences)
    assert [(p.text, p.lead) for p in found] == [
        ("May", "Dates:"),
        ("2", "May"),
        ("Other.", ""),
        ("June", ""),
    ]


TEXT = """Dates, one by one:

2. first **x**
3. [ ] second
   line

> | a | b |
> |---|---|
> | 1 | x \\| y |

Run this:

```sh
ls -l
```
"""


def test_passages_know_their_place_and_how_they_are_written() -> None:
    first, second, row, code = passages(TEXT, split_sentences)
    assert [one.kind for one in (first, second, row, code)] == ["item", "item", "row", "code"]
    assert (first.mark, second.mark, second.depth) == ("2.", "3.", 1)
    assert [TEXT[start:end] for start, end in second.ranges] == ["[ ] second", "line"]
    assert [TEXT[start:end] for start, end in first.lead_ranges] == ["Dates, one by one:"]
    assert (row.text, row.lead) == ("1 | x | y", "a | b")
    assert (row.frame, row.written) == ("| a | b |\n|---|---|", "| 1 | x \\| y |")
    assert [TEXT[start:end] for start, end in row.ranges] == [row.written]
    assert (code.lead, code.written) == ("Run this:", "```sh\nls -l\n```")


MARKED = st.text(alphabet=list("ab .[]|<>^!*=`-\n#1"), max_size=60)


@given(MARKED)
def test_the_words_of_a_passage_are_those_of_its_ranges(text: str) -> None:
    for passage in passages(text, split_sentences):
        ends = [0, *(end for _, end in passage.ranges)]
        assert all(end <= start < stop for end, (start, stop) in zip(ends, passage.ranges))  # noqa: B905
        if passage.kind != "row":
            there = "".join(text[start:end] for start, end in passage.ranges)
            assert "".join(passage.text.split()) == "".join(there.split())
