"""The context is laid out as its readers, and the system prompt, expect it."""

from __future__ import annotations

import pytest

from notehop.app.answer.context import build_context, joined
from tests.app.answer.samples import connected, source


def test_sources_then_connected_notes() -> None:
    context = build_context(
        [
            source(
                1, "Launch is on 14 June.\n", path="work/Atlas.md", title="Atlas", heading="Plan"
            ),
            source(2, "Beta first.", path="Inbox.md", title="Inbox"),
        ],
        [connected(1, "We agreed on May.", path="people/1on1/Priya.md", title="1:1 Priya")],
    )
    assert context == (
        "[1] [work] Atlas > Plan\n"
        "Launch is on 14 June.\n"
        "\n"
        "[2] [/] Inbox\n"
        "Beta first.\n"
        "\n"
        "---\n"
        "\n"
        "CONNECTED NOTES (linked from retrieved results):\n"
        "\n"
        "[C1] [people/1on1] 1:1 Priya (linked from: Note 1)\n"
        "We agreed on May."
    )


def test_no_connected_part_without_connected_notes() -> None:
    assert build_context([source(1, "Text.")], []) == "[1] [notes] Note 1\nText."


def test_nothing() -> None:
    assert build_context([], []) == ""


@pytest.mark.parametrize(
    ("ordinals", "order"),
    [
        pytest.param({}, "[1][2][3][4]", id="unknown"),
        pytest.param({"[1]": 7, "[2]": 2, "[3]": 6, "[4]": 8}, "[3][1][4][2]", id="in text order"),
        pytest.param({"[1]": 7, "[2]": 1, "[3]": 5, "[4]": 3}, "[1][2][3][4]", id="not neighbours"),
    ],
)
def test_neighbours_stand_together_at_the_place_of_the_first(
    ordinals: dict[str, int], order: str
) -> None:
    sources = [source(n, f"Text {n}.", path="N.md") for n in (1, 2, 3, 4)]
    found = [one.marker for passage in joined(sources, ordinals) for one in passage]
    assert "".join(found) == order


def test_chunks_of_different_notes_are_never_joined() -> None:
    sources = [source(n, f"Text {n}.") for n in (1, 2)]
    assert [len(one) for one in joined(sources, {"[1]": 1, "[2]": 2})] == [1, 1]


def test_a_header_says_that_a_text_is_shortened() -> None:
    context = build_context([source(1, "A.")], [connected(1, "B.")], shortened=["[1]", "C1"])
    assert "[1] [notes] Note 1 (its beginning)\nA." in context
    assert "(linked from: Note 1) (its beginning)\nB." in context
