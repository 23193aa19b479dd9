"""Only markers that exist stay; nothing is renumbered; connected notes are never citations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.product import check_citations

MARKERS = ["[1]", "[2]", "[3]"]
LABELS = ["C1", "C2"]


@pytest.mark.parametrize(
    ("text", "checked", "cited", "mentioned", "unknown"),
    [
        pytest.param("A [1].", "A [1].", ["[1]"], [], {}, id="one"),
        pytest.param("A [1, 2].", "A [1, 2].", ["[1]", "[2]"], [], {}, id="list"),
        pytest.param("A [1][3].", "A [1][3].", ["[1]", "[3]"], [], {}, id="run"),
        pytest.param("A [1-3].", "A [1-3].", ["[1]", "[2]", "[3]"], [], {}, id="range"),
        pytest.param("A [3]. B [1].", "A [3]. B [1].", ["[3]", "[1]"], [], {}, id="text-order"),
        pytest.param("A [2] B [2].", "A [2] B [2].", ["[2]"], [], {}, id="each-once"),
        pytest.param("A [9].", "A.", [], [], {"9": 1}, id="unknown"),
        pytest.param("A [9] b [9].", "A b.", [], [], {"9": 2}, id="unknown-counted"),
        pytest.param("A [1, 9].", "A [1].", ["[1]"], [], {"9": 1}, id="partly-unknown"),
        pytest.param("A [9][1].", "A [1].", ["[1]"], [], {"9": 1}, id="unknown-then-known"),
        pytest.param("A [8] [9].", "A.", [], [], {"8": 1, "9": 1}, id="two-unknown"),
        pytest.param("[9] A.", "A.", [], [], {"9": 1}, id="unknown-at-the-start"),
        pytest.param("A\n[9] B", "A\nB", [], [], {"9": 1}, id="unknown-heads-a-line"),
        pytest.param("A [C1].", "A [C1].", [], ["C1"], {}, id="connected"),
        pytest.param("A [c1].", "A [c1].", [], ["C1"], {}, id="connected-lower-case"),
        pytest.param("A [1, C2].", "A [1, C2].", ["[1]"], ["C2"], {}, id="mixed"),
        pytest.param("A [C7].", "A.", [], [], {"C7": 1}, id="unknown-connected"),
        pytest.param("`x[9]` [1]", "`x[9]` [1]", ["[1]"], [], {}, id="inline-code"),
        pytest.param("```\nx[9]\n```\n[1]", "```\nx[9]\n```\n[1]", ["[1]"], [], {}, id="fence"),
        pytest.param("[[1]] [^1] [9](u)", "[[1]] [^1] [9](u)", [], [], {}, id="not-markers"),
        pytest.param("in [2024] [1]", "in [2024] [1]", ["[1]"], [], {}, id="a-year"),
        pytest.param("- [ ] a [x]", "- [ ] a [x]", [], [], {}, id="tasks"),
        pytest.param("", "", [], [], {}, id="empty"),
    ],
)
def test_check(
    text: str, checked: str, cited: list[str], mentioned: list[str], unknown: dict[str, int]
) -> None:
    result = check_citations(text, MARKERS, LABELS)
    assert result.text == checked
    assert list(result.cited) == cited
    assert list(result.mentioned) == mentioned
    assert dict(result.unknown) == unknown


@given(st.text(alphabet="ab[]19C,- .`\n"))
def test_a_second_check_finds_nothing_more(text: str) -> None:
    once = check_citations(text, MARKERS, LABELS)
    twice = check_citations(once.text, MARKERS, LABELS)
    assert set(once.cited) <= set(MARKERS)
    assert set(once.mentioned) <= set(LABELS)
    assert twice.unknown == ()
    assert twice.text == once.text
