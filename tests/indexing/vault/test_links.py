"""Links of a note: their places, their sentences, and the public list of their targets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.indexing.vault.notes import note_of, sentences
from tests.support.product import MAX_CHARACTERS, extract_wiki_links, indexing
from tests.support.tables import rows


def test_a_link_over_two_lines_of_a_quote_is_the_text_between() -> None:
    note = note_of("> see [one\n> two](Note.md) end")
    (link,) = note.links
    assert link.raw == "[one\n> two](Note.md)" == note.text[link.start : link.end]
    assert link.sentence == "see one two end"


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "sentence"))
def test_sentence(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_long_sentence_is_cut_around_its_link() -> None:
    words = "word " * 300
    for text in (f"[[A]] {words}", f"{words}[[A]] {words}", f"{words}[[A]]", "x" * 900 + " [[A]]"):
        (sentence,) = sentences(text)
        assert "A" in sentence.strip("…").split()
        assert len(sentence) <= MAX_CHARACTERS
        assert "…" in sentence


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
