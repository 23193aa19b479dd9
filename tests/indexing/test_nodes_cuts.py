"""Places to cut, the choice among them, and the way back from plain text to the note."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import (
    ANYWHERE,
    FENCED,
    HEADING,
    LINE,
    LONGEST_TOKEN,
    ORPHAN,
    PARAGRAPH,
    SENTENCE,
    WORD,
    WRAP,
    PlainMap,
    best_cuts,
    parse_note,
    places,
    plain_text,
    token_starts,
)
from tests.support.product import PlacesPlace as Place


def starts_of(text: str) -> list[int]:
    return token_starts([match.span() for match in re.finditer(r"\S+", text)], len(text))


def offered(
    text: str, budget: int = 100, headings: tuple[tuple[int, int], ...] = ()
) -> dict[str, float]:
    """The word that follows each place -> its price."""
    found = places(text, starts_of(text), budget, headings, "en")
    assert [place.at for place in found] == sorted({place.at for place in found})
    return {text[place.at :].split(maxsplit=1)[0]: place.price for place in found}


@pytest.mark.parametrize(
    ("text", "budget", "expected"),
    [
        pytest.param("a\n\nb\n\n\nc", 100, {"b": PARAGRAPH, "c": PARAGRAPH}, id="blank-lines"),
        pytest.param("- a\n- b\n* c\n2. d", 100, {"-": LINE, "*": LINE, "2.": LINE}, id="items"),
        pytest.param("| a |\n|b|\n> c", 100, {"|b|": LINE, ">": LINE}, id="rows-and-quotes"),
        pytest.param("Done.\nnext", 100, {"next": LINE}, id="after-a-finished-line"),
        pytest.param("half of\na sentence", 100, {"a": WRAP}, id="wrapped"),
        pytest.param("x\n\n```py\na\n\nb\n```\ny", 100,
                     {"```py": PARAGRAPH, "a": FENCED, "b": FENCED, "```": FENCED, "y": WRAP},
                     id="fence"),
        pytest.param("~~~\n```\na\n~~~\n\nb", 100, {"```": FENCED, "a": FENCED, "~~~": FENCED,
                     "b": PARAGRAPH}, id="a-fence-in-a-fence"),
        pytest.param("```code``` here\n\nb", 100, {"b": PARAGRAPH}, id="inline-code-is-no-fence"),
        pytest.param("One two. Three four.", 8, {}, id="few-words-offer-no-sentence"),
        pytest.param("One two. Three four. Five.", 6, {"Three": SENTENCE, "Five.": SENTENCE},
                     id="sentences"),
        pytest.param("a b c d", 2, {"b": WORD, "c": WORD, "d": WORD}, id="words"),
    ],
)  # fmt: skip
def test_places_and_prices(text: str, budget: int, expected: dict[str, float]) -> None:
    assert offered(text, budget) == expected


def test_a_heading_is_the_best_place_and_under_it_the_worst() -> None:
    text = "text\n\n### Deep\n\nunder\n\nmore"
    at = text.index("###")
    assert offered(text, headings=((at, at + 8),)) == {
        "###": HEADING,
        "under": ORPHAN,
        "more": PARAGRAPH,
    }


def test_a_word_without_end_offers_places_inside() -> None:
    text = "x" * (LONGEST_TOKEN * 4)
    found = places(text, starts_of(text), 2, (), "en")
    assert found == [Place(LONGEST_TOKEN * i, ANYWHERE) for i in (1, 2, 3)]


def test_sentences_are_found_across_windows() -> None:
    text = "今日は会議でした。" * 3_000
    found = places(text, list(range(len(text))), 50, (), "en")
    assert [place.at for place in found] == list(range(9, len(text), 9))


@pytest.mark.parametrize(
    ("offsets", "length", "expected"),
    [
        pytest.param([], 0, [], id="nothing"),
        pytest.param([(0, 3), (4, 5)], 5, [0, 4], id="short"),
        pytest.param([(0, 130)], 130, [0, 64, 128], id="a-long-token"),
        pytest.param([(0, 1), (131, 132)], 132, [0, 1, 65, 129, 131], id="a-long-gap"),
        pytest.param([(0, 1)], 70, [0, 1, 65], id="a-long-end"),
    ],
)
def test_token_starts(offsets: list[tuple[int, int]], length: int, expected: list[int]) -> None:
    assert token_starts(offsets, length) == expected


@pytest.mark.parametrize(
    ("prices", "budget", "min_tokens", "expected"),
    [
        pytest.param({}, 100, 0, [], id="nowhere-to-cut"),
        pytest.param({5: PARAGRAPH}, 10, 0, [], id="it-fits"),
        pytest.param({5: PARAGRAPH}, 9, 0, [5], id="the-only-place"),
        pytest.param({4: SENTENCE, 5: PARAGRAPH, 6: SENTENCE}, 9, 0, [5], id="the-cheapest"),
        pytest.param({3: PARAGRAPH, 5: PARAGRAPH, 8: PARAGRAPH}, 9, 0, [5], id="the-most-even"),
        pytest.param({1: PARAGRAPH, 6: SENTENCE}, 9, 3, [6], id="not-a-tiny-chunk"),
        pytest.param({2: LINE}, 5, 0, [2], id="too-long-for-any-place"),
    ],
)
def test_best_cuts(
    prices: dict[int, float], budget: int, min_tokens: int, expected: list[int]
) -> None:
    chosen = [Place(at, price) for at, price in sorted(prices.items())]
    assert best_cuts(chosen, range(10), 10, budget, min_tokens) == expected


@given(st.sets(st.integers(1, 59)), st.integers(1, 60))
def test_no_chunk_is_over_budget_where_places_are_close_enough(at: set[int], budget: int) -> None:
    cuts = best_cuts([Place(i, PARAGRAPH) for i in sorted(at)], range(60), 60, budget, 0)
    edges = [0, *cuts, 60]
    assert set(cuts) <= at
    assert edges == sorted(set(edges))
    for start, end in pairwise(edges):
        assert end - start <= budget or not any(start < i < end for i in at)


@given(
    st.lists(
        st.sampled_from(
            ["word ", "[[Link|shown]]", "[[Link]]", "%%no%%", "\n\n", "![[a.png]]", "x"]
        ),
        max_size=30,
    ).map("".join)
)
def test_plain_text_leads_back_to_the_note(text: str) -> None:
    note = parse_note("n.md", text.encode())
    mapped = PlainMap(note, [edit.start for edit in note.edits], 0, len(note.text))
    assert mapped.text == plain_text(note, 0, len(note.text))
    last = 0
    for at in range(len(mapped.text) + 1):
        raw = mapped.to_raw(at)
        if raw is None:
            continue
        assert raw >= last
        last = raw
        assert plain_text(note, 0, raw) == mapped.text[:at]
        assert plain_text(note, raw, len(note.text)) == mapped.text[at:]
        assert mapped.to_plain(raw) <= at
