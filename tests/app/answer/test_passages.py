"""Passages of a note, and how many of them fit in a prompt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.answer.samples import connected, source, split_sentences
from tests.support.product import (
    USEFUL,
    ConnectedNote,
    Fitted,
    Material,
    Source,
    fit,
    parse_note,
    passages,
    plain_text,
    sentence_spans,
    units,
)
from tests.support.tables import rows


@pytest.mark.parametrize(
    ("text", "expected"),
    rows(__file__, "passages"),
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


class Words:
    exact = True

    def count(self, text: str) -> int:
        return len(text.split())


def sentence(words: int) -> str:
    return f"Alpha{' beta' * (words - 2)} omega."


def fitted(window: int, *parts: Source | ConnectedNote) -> Fitted:
    sources = tuple(part for part in parts if isinstance(part, Source))
    near = tuple(part for part in parts if isinstance(part, ConnectedNote))
    return fit(Material(sources, near), window, Words)


def names(found: Fitted) -> list[str]:
    return [
        *(one.marker for one in found.material.sources),
        *(one.label for one in found.material.connected),
    ]


def left(found: Fitted) -> list[tuple[str, str, tuple[int, int]]]:
    return [(one.marker, one.part, one.lines) for one in found.left_out]


def test_sources_come_before_connected_notes() -> None:
    found = fitted(
        130, source(1, sentence(50)), source(2, sentence(50)), connected(1, sentence(50))
    )
    assert names(found) == ["[1]", "[2]"]
    assert left(found) == [("C1", "whole", (1, 1))]
    assert found.left_out[0].tokens == 50


def test_a_long_source_is_cut_at_the_end_of_a_sentence() -> None:
    text = "\n".join(["## Head", *[sentence(30)] * 4])
    found = fitted(80, source(1, text, lines=(5, 9)))
    assert found.material.sources[0].text == "\n".join(["## Head", *[sentence(30)] * 2])
    assert "(its beginning)" in found.context
    assert left(found) == [("[1]", "end", (8, 9))]
    assert found.left_out[0].tokens == 60


def test_something_of_the_first_source_is_always_there() -> None:
    found = fitted(3, source(1, f"{sentence(10)} {sentence(10)}"), source(2, sentence(10)))
    assert found.material.sources[0].text == sentence(10)
    assert left(found) == [("[1]", "end", (1, 1)), ("[2]", "whole", (1, 1))]


def test_neighbouring_chunks_of_a_note_are_joined_in_text_order() -> None:
    sources = (
        source(1, "Second part.", path="a/N.md", title="N", heading="B"),
        source(2, "Other.", path="b.md", title="O"),
        source(3, "First part.", path="a/N.md", title="N", heading="A"),
    )
    material = Material(sources, ordinals={"[1]": 4, "[2]": 0, "[3]": 3})
    assert fit(material, 1_000, Words).context == (
        "[3] [a] N > A\nFirst part.\n\n[1] (goes on from [3]) B\nSecond part.\n\n[2] [/] O\nOther."
    )


TEXTS = st.lists(st.integers(2, 60).map(sentence), min_size=1, max_size=5).flatmap(
    lambda found: st.sampled_from([" ", "\n\n", "\n- "]).map(lambda by: by.join(found))
)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, max_size=2), st.integers(1, 300))
def test_nothing_is_cut_in_a_sentence_and_everything_is_accounted_for(
    texts: list[str], near: list[str], window: int
) -> None:
    parts = [
        *(source(n, text) for n, text in enumerate(texts, start=1)),
        *(connected(n, text) for n, text in enumerate(near, start=1)),
    ]
    found = fitted(window, *parts)
    shown = {
        **{one.marker: one.text for one in found.material.sources},
        **{one.label: one.text for one in found.material.connected},
    }
    told = {one.marker: one.part for one in found.left_out}
    assert list(told) == sorted(told, key=lambda name: (name[0] == "C", name))
    for part in parts:
        name = part.marker if isinstance(part, Source) else part.label
        if name not in shown:
            assert told[name] == "whole"
            continue
        assert part.text.startswith(shown[name])
        ends = [one.end for one in units(part.text, sentence_spans)]
        assert len(shown[name]) in ends
        assert (told.get(name) == "end") == (shown[name] != part.text)
        if name != "[1]" and shown[name] != part.text:
            assert Words().count(shown[name]) >= USEFUL
    if len(shown) > 1:
        assert Words().count(found.context) <= window
