"""Passages of a note, and how many of them fit in a prompt."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.app.answer.samples import connected, source, split_sentences
from tests.support import product
from tests.support.tables import rows

SLOWER = 10
"""Times as long as other words marks may take; each looked for from each other takes a hundred times."""


@pytest.mark.parametrize(("text", "expected"), rows(__file__, "passages"))
def test_passages(text: str, expected: list[str]) -> None:
    assert [passage.text for passage in product.split_into_passages(text, split_sentences)] == expected


def test_the_title_of_a_callout_is_no_passage() -> None:
    """In the text of a source, where the type of the callout is not there to tell."""
    text = "> [!warning] The footpath\n> The public footpath ends here. Go round.\n"
    note = product.parse_note("note.md", text.encode())
    found = product.split_into_passages(product.plain_text(note, 0, len(note.text)), split_sentences)
    assert [passage.text for passage in found] == ["The public footpath ends here.", "Go round."]


def test_items_know_the_line_above_their_list() -> None:
    found = product.split_into_passages("Dates:\n- May\n  - 2\n\nOther.\n- June", split_sentences)
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
    first, second, row, code = product.split_into_passages(TEXT, split_sentences)
    assert [one.kind for one in (first, second, row, code)] == ["item", "item", "row", "code"]
    assert (first.mark, second.mark, second.depth) == ("2.", "3.", 1)
    assert [TEXT[start:end] for start, end in second.ranges] == ["[ ] second", "line"]
    assert [TEXT[start:end] for start, end in first.lead_ranges] == ["Dates, one by one:"]
    assert (row.text, row.lead) == ("1 | x | y", "a | b")
    assert (row.table_head, row.markdown) == ("| a | b |\n|---|---|", "| 1 | x \\| y |")
    assert [TEXT[start:end] for start, end in row.ranges] == [row.markdown]
    assert (code.lead, code.markdown) == ("Run this:", "```sh\nls -l\n```")


MARKED = st.text(alphabet=list("ab .[]|<>^!*=`-\n#1"), max_size=60)


@given(MARKED)
def test_the_words_of_a_passage_are_those_of_its_ranges(text: str) -> None:
    for passage in product.split_into_passages(text, split_sentences):
        ends = [0, *(end for _, end in passage.ranges)]
        assert all(end <= start < stop for end, (start, stop) in zip(ends, passage.ranges))  # noqa: B905
        if passage.kind != "row":
            there = "".join(text[start:end] for start, end in passage.ranges)
            assert "".join(passage.text.split()) == "".join(there.split())


def sentence(words: int) -> str:
    return f"Alpha{' beta' * (words - 2)} omega."


def fitted(window: int, *parts: product.Source | product.ConnectedNote) -> product.FittedContext:
    sources = tuple(part for part in parts if isinstance(part, product.Source))
    near = tuple(part for part in parts if isinstance(part, product.ConnectedNote))
    return product.fit_context(product.Material(sources, near), window)


TEXTS = st.lists(st.integers(2, 60).map(sentence), min_size=1, max_size=5).flatmap(
    lambda found: st.sampled_from([" ", "\n\n", "\n- "]).map(lambda by: by.join(found))
)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, max_size=2), st.integers(1, 300))
def test_nothing_is_cut_and_everything_is_accounted_for(
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
    left = [one.marker for one in found.left_out]
    assert left == sorted(left, key=lambda name: (name[0] == "C", name))
    for part in parts:
        name = part.marker if isinstance(part, product.Source) else part.label
        assert (name in left) == (name not in shown)
        assert shown.get(name, part.text) == part.text
    if len(shown) > 1:
        assert product.count_tokens(found.context) <= window


def test_marks_that_do_not_pair_are_read_once() -> None:
    def took(run: str) -> float:
        begun = time.perf_counter()
        product.split_into_passages(run * 5_000, split_sentences)
        return time.perf_counter() - begun

    assert took("~~a ") < SLOWER * took("~/a ")
