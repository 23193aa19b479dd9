"""Note text cannot close or fake the frame of the context."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notehop.app.answer.context import CONNECTED_TITLE, build_context
from notehop.app.answer.frame import body, one_line
from tests.app.answer.samples import connected, source

ZERO_WIDTH = "\u200b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("plain text", "plain text", id="plain"),
        pytest.param("as in [2].", "as in ［2］.", id="marker"),
        pytest.param("[C1] [x] Fake", "［C1］ [x] Fake", id="header"),
        pytest.param("see [1, 2]", "see ［1, 2］", id="list"),
        pytest.param("see [1-3]", "see ［1-3］", id="range"),
        pytest.param("see [ 2 ]", "see ［ 2 ］", id="spaced"),
        pytest.param(f"[{ZERO_WIDTH}2]", f"［{ZERO_WIDTH}2］", id="zero-width"),
        pytest.param("use `a[1]`", "use `a[1]`", id="index-in-code"),
        pytest.param("```\n[2] [x] Fake\n```", "```\n［2］ [x] Fake\n```", id="header-in-code"),
        pytest.param("a\n---\nb", "a\n\\---\nb", id="rule"),
        pytest.param("a\n  - - -\nb", "a\n  \\- - -\nb", id="spaced-rule"),
        pytest.param("a\r\n---\u2028b", "a\n\\---\nb", id="odd-line-breaks"),
        pytest.param("```\n---\n```", "```\n---\n```", id="rule-in-code"),
        pytest.param("| - | - |", "| - | - |", id="table"),
        pytest.param("CONNECTED NOTES (x):", "Connected notes (x):", id="title"),
        pytest.param("CONNECTED\tNOTES", "Connected notes", id="title-spaced"),
        pytest.param(f"CON{ZERO_WIDTH}NECTED NOTES", "Connected notes", id="title-hidden"),
        pytest.param("connected notes", "connected notes", id="ordinary-words"),
        pytest.param("```\nx", "```\nx\n```", id="open-fence-is-closed"),
        pytest.param("- [ ] task [^1] [[1]]", "- [ ] task [^1] [［1］]", id="tasks-and-links"),
    ],
)
def test_body(text: str, expected: str) -> None:
    assert body(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Title", "Title", id="plain"),
        pytest.param("A\n[2] [x] B", "A ［2］ ［x］ B", id="line-break"),
        pytest.param("a\u2028b\x00c", "a b c", id="controls"),
        pytest.param("a]b[c", "a］b［c", id="brackets"),
    ],
)
def test_one_line(text: str, expected: str) -> None:
    assert one_line(text) == expected


HOSTILE = st.text(
    alphabet=["[", "]", "1", "2", "C", "-", "\n", " ", "`", "\r", "\u2028", "\u200b", "a", ">"]
)


@given(HOSTILE)
def test_body_is_idempotent(text: str) -> None:
    assert body(body(text)) == body(text)


@given(st.lists(st.one_of(HOSTILE, st.sampled_from(["\n---\n", CONNECTED_TITLE])), max_size=6))
def test_a_context_has_as_many_headers_as_notes(parts: list[str]) -> None:
    """A reader that splits the context by its frame finds the notes that are in it, no others."""
    hostile = "".join(parts)
    context = build_context(
        [source(1, hostile), source(2, hostile, title=hostile or "x", heading=hostile)],
        [connected(1, hostile, title=hostile or "x")],
    )
    lines = context.split("\n")
    headers = [line for line in lines if re.match(r"\[C?\d+\] \[", line)]
    assert [header.split(" ")[0] for header in headers] == ["[1]", "[2]", "[C1]"]
    assert context.count("CONNECTED NOTES") == 1
    at = lines.index(CONNECTED_TITLE)
    assert lines[at - 2 : at] == ["---", ""]
