"""Templates, and chunks that say no more than one, are held back."""

from __future__ import annotations

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from tests.support.product import SKELETON, asks_for_templates, held_back, is_skeleton, line_keys

DAILY = "# {{date}}\n\n## Tasks\n- [ ] \n\n## How was the day?\n\n## Week <% tp.date.now('ww') %>\n"
LINES = frozenset(line_keys(DAILY))


def test_a_line_goes_by_its_letters() -> None:
    assert line_keys(DAILY) == ["tasks", "how was the day", "week"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("## Tasks\n- [ ]\n\n## How was the day?\n", True, id="never-filled-in"),
        pytest.param("# 2026-11-22\n## Week 47\n## Tasks", True, id="dates-say-nothing"),
        pytest.param("# Sunday walk\n## Tasks\n", True, id="its-title-again"),
        pytest.param("## Tasks\n- [ ] call Ana\n", False, id="one-task"),
        pytest.param("Tasks: 80.5\n", False, id="a-number-behind-a-prompt"),
        pytest.param("Tasks:: 😀\n", False, id="a-picture-behind-a-prompt"),
        pytest.param("Tasks: 2026-11-22 09:30\n", True, id="a-date-behind-a-prompt"),
        pytest.param("## Groceries\n", False, id="another-heading"),
        pytest.param("", False, id="nothing-at-all"),
        pytest.param("12.30\n---\n", False, id="no-letters"),
    ],
)
def test_skeletons(text: str, expected: bool) -> None:
    assert is_skeleton(text, "Sunday walk", LINES) is expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("meeting template", True),
        ("Vorlagen für Besprechungen", True),
        ("会议模板", True),
        ("what did we decide in the meeting?", False),
    ],
)
def test_who_asks_for_templates_gets_them(query: str, expected: bool) -> None:
    assert asks_for_templates(query) is expected


def hit(name: str, score: float, **metadata: object) -> NodeWithScore:
    return NodeWithScore(node=TextNode(id_=name, metadata=metadata), score=score)


def back(hits: list[NodeWithScore]) -> list[NodeWithScore]:
    """With the hit "a" held back."""
    return list(held_back([(one, SKELETON if one.node_id == "a" else None) for one in hits], 0.5))


def test_hits_held_back_keep_a_share_of_their_score() -> None:
    hits = [hit("a", 0.9), hit("b", 0.6), hit("c", 0.3)]
    found = back(hits)
    assert [(one.node.node_id, one.score) for one in found] == [("b", 0.6), ("a", 0.45), ("c", 0.3)]
    assert found[1].node.metadata["held_back"] == SKELETON
    assert hits[0].score == 0.9
    assert "held_back" not in hits[0].node.metadata


def test_a_note_named_exactly_keeps_its_place() -> None:
    named = hit("a", 0.9, signals={"title": {"rank": 1}})
    assert back([named, hit("b", 0.6)])[0] is named
