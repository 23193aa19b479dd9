"""Templates, and notes that were never filled in, come after what says something."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from notehop.app.container.templates import templates_last
from notehop.app.retrieval.boilerplate import SKELETON, TEMPLATE
from tests.app.retrieval.shelf import Shelf

DAILY = "# {{date}}\n\n## Gratitude\n- \n\n## What went wrong?\n"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path / "vault")
    shelf.indexed("Templates/Daily.md", DAILY)
    shelf.indexed(
        "Daily/2026-11-20.md", "# 2026-11-20\n\n## Gratitude\n- \n\n## What went wrong?\n"
    )
    shelf.indexed(
        "Daily/2026-11-21.md",
        "# 2026-11-21\n\n## Gratitude\n- soup from next door\n\n## What went wrong?\n",
    )
    return shelf


def ranked(shelf: Shelf, query: str, share: float = 0.5) -> list[tuple[str, str | None]]:
    ids = ["Templates/Daily.md:0", "Daily/2026-11-20.md:0", "Daily/2026-11-21.md:0"]
    hits = [
        NodeWithScore(node=TextNode(id_=one), score=0.09 - 0.01 * at) for at, one in enumerate(ids)
    ]
    found = templates_last(iter(hits), query, shelf.index, shelf.vault, share)
    return [(one.node.node_id, one.node.metadata.get("held_back")) for one in found]


def test_what_says_something_comes_first(shelf: Shelf) -> None:
    assert ranked(shelf, "gratitude") == [
        ("Daily/2026-11-21.md:0", None),
        ("Templates/Daily.md:0", TEMPLATE),
        ("Daily/2026-11-20.md:0", SKELETON),
    ]


def test_who_asks_for_templates_gets_them_first(shelf: Shelf) -> None:
    assert ranked(shelf, "daily template")[0] == ("Templates/Daily.md:0", None)


def test_it_can_be_switched_off(shelf: Shelf) -> None:
    assert ranked(shelf, "gratitude", share=1.0)[0] == ("Templates/Daily.md:0", None)


def test_another_folder_of_templates_is_taken_from_the_app(shelf: Shelf) -> None:
    shelf.write(".obsidian/templates.json", '{"folder": "Elsewhere"}')
    assert ranked(shelf, "gratitude")[0] == ("Templates/Daily.md:0", None)


def test_what_says_something_comes_before_any_number_of_empty_notes(shelf: Shelf) -> None:
    empty, filled = "Daily/2026-11-20.md:0", "Daily/2026-11-21.md:0"
    hits = [
        NodeWithScore(node=TextNode(id_=one), score=0.09 - 0.001 * at)
        for at, one in enumerate([*[empty] * 40, filled])
    ]
    found = templates_last(iter(hits), "gratitude", shelf.index, shelf.vault, 0.5)
    assert next(found).node.node_id == filled
