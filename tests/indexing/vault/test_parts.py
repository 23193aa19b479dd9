"""What a note is made of: headings and sections, blocks, tags, plain text, sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.vault.notes import note_of, plain
from tests.support.product import plain_text, sentence_spans
from tests.support.tables import rows


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "headings"))
def test_headings(text: str, expected: list[list[object]]) -> None:
    assert [[h.text, h.level, h.line] for h in note_of(text).headings] == expected


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
    assert [note.text[start:].partition("\n")[0] for start in note.sections] == [
        *("Intro.", "# A", "## B", "C", "# [[D|E]]", "## F"),
    ]
    assert note.sections[0] == note.body_start


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "sections_at_the_edges"))
def test_sections_at_the_edges(text: str, expected: list[int]) -> None:
    assert [*note_of(text).sections] == expected


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "blocks"))
def test_blocks(text: str, expected: list[list[object]]) -> None:
    found = [[block.id, block.first_line, block.last_line] for block in note_of(text).blocks]
    assert found == expected


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "inline_tags"))
def test_inline_tags(text: str, expected: list[str]) -> None:
    assert list(note_of(text).tags) == expected


def test_tags_of_a_note_are_those_of_both_places_each_once() -> None:
    note = note_of("---\ntags: [Alpha, '#beta', a/b/]\ntag: gamma\n---\n#ALPHA #delta #a/b/\n")
    assert note.tags == ("Alpha", "beta", "a/b", "gamma", "delta")


@pytest.mark.parametrize(("yaml", "expected", "warned"), rows(__file__, "front_matter_tags"))
def test_front_matter_tags(yaml: str, expected: list[str], warned: int) -> None:
    note = note_of(f"---\nx: 1\n{yaml}\n---\n")
    assert [*note.tags] == expected
    assert len(note.warnings) == warned
    assert all(warning.startswith("folder/Here.md:3: ") for warning in note.warnings)


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "plain_text"))
def test_plain_text(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_a_stretch_that_cuts_links() -> None:
    note = note_of("ab [[Note]] cd [[Other]] ef")
    assert plain_text(note, 0, len(note.text)) == "ab Note cd Other ef"
    assert plain_text(note, 5, 14) == " cd"
    assert plain_text(note, 0, 6) == "ab Note"
    assert plain_text(note, 4, 6) == ""
    assert plain_text(note, 11, 15) == " cd "
    assert plain_text(note, 3, 3) == ""


def test_examples() -> None:
    text = "Mr. Smith left. Did he? Yes!  So.\n\nNew paragraph"
    assert [text[start:end].strip() for start, end in sentence_spans(text)] == [
        "Mr. Smith left.",
        "Did he?",
        "Yes!",
        "So.",
        "New paragraph",
    ]
    assert sentence_spans("") == []
    assert sentence_spans("Eins. Zwei.", "de") == [(0, 6), (6, 11)]
    assert sentence_spans("One. Two.", "no such language")[-1][1] == 9


@given(st.text() | st.text(alphabet="aB. !?\n\"'”。🌊e\u0301"))
def test_spans_tile_the_text(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)


@pytest.mark.parametrize(
    ("text", "count"), rows(__file__, "a_day_is_not_cut_where_the_vault_has_another_language")
)
def test_a_day_is_not_cut_where_the_vault_has_another_language(text: str, count: int) -> None:
    assert len(sentence_spans(text, "en")) == count
