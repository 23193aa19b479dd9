"""A context fits its window by whole sentences, and what it leaves out is named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.app.answer.samples import connected, source
from tests.support.product import (
    USEFUL,
    ConnectedNote,
    Fitted,
    Material,
    Source,
    fit,
    sentence_spans,
    units,
)


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
