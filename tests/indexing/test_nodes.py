"""A note is cut into chunks that fit the model and lose nothing, where it hurts least."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import product
from tests.support.readable_model import WordTokens
from tests.support.tables import rows


def note_of(text: str, path: str = "folder/Note.md") -> product.Note:
    return product.parse_note(path, text.encode())


def split(text: str, max_tokens: int = 20, min_tokens: int = 0, **kwargs: Any) -> list[product.ChunkDraft]:
    return product.split_note(note_of(text, **kwargs), WordTokens(), max_tokens, min_tokens)


def shown(drafts: list[product.ChunkDraft]) -> list[tuple[tuple[str, ...], str]]:
    return [(draft.heading_path, draft.body) for draft in drafts]


@pytest.mark.parametrize(("title", "path", "body", "expected"), rows(__file__, "embedded_text"))
def test_embedded_text(title: str, path: list[str], body: str, expected: str) -> None:
    assert product.embedded_text(title, tuple(path), body) == expected


def test_a_section_a_chunk() -> None:
    drafts = split("before\n\n# One\ntext one\n\n## Two\ntext two\n### Deep\ndeeper\n# Three\nend\n")
    assert shown(drafts) == [
        ((), "before"),
        (("One",), "# One\ntext one"),
        (("One", "Two"), "## Two\ntext two\n### Deep\ndeeper"),
        (("Three",), "# Three\nend"),
    ]
    assert [(d.first_line, d.last_line) for d in drafts] == [(1, 1), (3, 4), (6, 9), (10, 11)]
    assert [d.ordinal for d in drafts] == [0, 1, 2, 3]
    assert drafts[2].embedded == "Note - One > Two\n## Two\ntext two\n### Deep\ndeeper"
    assert drafts[2].headings == ((1, "One"), (2, "Two"), (3, "Deep"))


@pytest.mark.parametrize(("text", "expected", "limits"), rows(__file__, "sections_become_chunks"))
def test_sections_become_chunks(
    text: str, expected: list[tuple[list[str], str]], limits: tuple[int, int]
) -> None:
    assert shown(split(text, *limits)) == [(tuple(path), body) for path, body in expected]


@pytest.mark.parametrize("text", rows(__file__, "a_long_section_is_cut_where_it_hurts_least"))
def test_a_long_section_is_cut_where_it_hurts_least(text: str) -> None:
    drafts = split(text.translate({ord("✂"): "", ord("…"): ""}), max_tokens=10, min_tokens=3)
    bodies = [f"{'…' * (draft.kind == 'code')}{draft.body}" for draft in drafts]
    assert bodies == [part.strip() for part in text.split("✂")]


def test_what_is_cut_in_a_section_says_where_it_stands() -> None:
    cut = split("# A\n### B\none two three. Four five six. Seven eight nine.\n", max_tokens=12)
    assert [draft.heading_path for draft in cut] == [("A", "B"), ("A", "B")]
    assert cut[1].embedded.startswith("Note - A > B\n")


def test_a_word_without_end_is_cut_anywhere() -> None:
    drafts = split("x" * 400_000, max_tokens=254)
    assert "".join(draft.body for draft in drafts) == "x" * 400_000
    assert max(len(draft.body) for draft in drafts) <= 254 * 64


def test_links_are_never_cut_in_two() -> None:
    text = "a b c d e f [[Target|one two three four]] g h i j k l m n o p"
    drafts = split(text, max_tokens=9)
    assert any("one two three four" in draft.body for draft in drafts)
    assert "".join("".join(d.body.split()) for d in drafts) == "abcdefonetwothreefourghijklmnop"


@pytest.mark.parametrize(
    ("text", "embedded", "last_line"), rows(__file__, "a_note_without_text_can_be_found_by_title")
)
def test_a_note_without_text_can_be_found_by_title(text: str, embedded: str, last_line: int) -> None:
    (draft,) = split(text)
    assert (draft.body, draft.embedded, draft.heading_path) == ("", embedded, ())
    assert (draft.first_line, draft.last_line) == (1, last_line)


def test_twin_sections_have_names_of_their_own() -> None:
    drafts = split("## A\nsame\n## A\nsame\n## A\nother\n")
    assert len({draft.id for draft in drafts}) == 3
    assert drafts[0].id == product.chunk_id("folder/Note.md", ("A",), 0, "Note - A\n## A\nsame")
    assert drafts[0].embedded_hash == drafts[1].embedded_hash != drafts[2].embedded_hash
    assert all(re.fullmatch(r"[0-9a-f]{32}", draft.id) for draft in drafts)


WORDS = st.sampled_from(
    ["word", "two words", "a longer run of words.", "[[Link]]", "[[Some note|shown]]", "**bold**",
     "`code`", "%%hidden%%", "x" * 130, "naïve", "東京。", "A sentence. And another! ", "😀", "$m$",
     "![[image.png]]", "^block"]
)  # fmt: skip
LINES = st.builds(
    lambda mark, words: mark + " ".join(words),
    st.sampled_from(
        ["", "", "", "# ", "## ", "### ", "- ", "  - ", "1. ", "> ", "| ", "```", "    ", "%%"]
    ),
    st.lists(WORDS, max_size=12),
)  # fmt: skip
NOTES = st.lists(st.one_of(LINES, st.just("")), max_size=40).map("\n".join)


@given(NOTES, st.integers(8, 60), st.integers(0, 20))
def test_nothing_is_lost_doubled_or_too_long(text: str, max_tokens: int, min_tokens: int) -> None:
    note = note_of(f"---\nid: x\n---\n{text}")
    words = WordTokens()
    drafts = product.split_note(note, words, max_tokens, min_tokens)
    edges = [note.body_start, *(draft.end for draft in drafts)]
    assert [draft.start for draft in drafts] == edges[:-1], "they tile the body"
    assert edges[-1] == len(note.text)
    whole = product.plain_text(note, note.body_start, len(note.text))
    assert "".join("".join(d.body.split()) for d in drafts) == "".join(whole.split())
    assert len({draft.id for draft in drafts}) == len(drafts)
    assert [draft.ordinal for draft in drafts] == list(range(len(drafts)))
    assert product.split_note(note, words, max_tokens, min_tokens) == drafts
    for draft in drafts:
        alone = product.plain_text(note, draft.start, draft.end)
        assert alone.split() == draft.body.split(), "the place is that of the text"
        assert words.size(draft.embedded) <= max_tokens
        raw = note.text[draft.start : draft.end]
        if draft.body:
            before = note.text[: draft.start + len(raw) - len(raw.lstrip())]
            assert draft.first_line == before.count("\n") + 1
            assert draft.last_line == note.text[: draft.start + len(raw.rstrip())].count("\n") + 1


@given(
    st.lists(
        st.sampled_from(["word ", "[[Link|shown]]", "[[Link]]", "%%no%%", "\n\n", "![[a.png]]", "x"]),
        max_size=30,
    ).map("".join)
)
def test_plain_text_leads_back_to_the_note(text: str) -> None:
    note = product.parse_note("n.md", text.encode())
    mapped = product.plain_map(note, 0, len(note.text))
    assert mapped.text == product.plain_text(note, 0, len(note.text))
    last = 0
    for at in range(len(mapped.text) + 1):
        raw = mapped.to_raw(at)
        if raw is None:
            continue
        assert raw >= last
        last = raw
        assert product.plain_text(note, 0, raw) == mapped.text[:at]
        assert product.plain_text(note, raw, len(note.text)) == mapped.text[at:]
        assert mapped.to_plain(raw) <= at
