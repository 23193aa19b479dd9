"""The context is laid out as its readers, and the system prompt, expect it."""

from __future__ import annotations

from app.answer.context import build_context
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
