"""Themes by a language model behind a real server: what is sent, and what a failing call costs."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from notehop.app.container import locate
from notehop.app.container.opening import open_place
from notehop.indexing.llm.load import load_llm
from notehop.indexing.stores.catalog import Catalog
from notehop.indexing.themes.upkeep import keep_themes, sum_themes_up
from tests.llm_server import Seen, Turn, fails, llm_server, says

pytestmark = pytest.mark.model


def turn(seen: Seen) -> Turn:
    """One point a theme from its first source; the theme of the fund bid cannot be read."""
    if "Points by theme" in seen.prompt:
        points = re.findall(r"^- (.*) (\[\d+\])\.$", seen.prompt, re.MULTILINE)
        return says(" ".join(f"Of {name} {marker}." for name, marker in points))
    if "Theme: Resilience" in seen.prompt:
        return fails(500, "broken")
    found = re.search(r"Theme: (.*?),", seen.prompt)
    first = re.search(r"^(\[\d+\]) \[", seen.prompt, re.MULTILINE)
    assert found
    assert first
    return says(f"- {found[1]} {first[1]}.")


def test_each_theme_is_a_call_of_its_own(demo: tuple[Path, Path]) -> None:
    folder, index_dir = demo
    with llm_server(turn) as server:
        overrides = {
            "themes.enabled": True,
            "themes.max": 3,
            "llm.provider": "openai-compatible",
            "llm.base_url": server.url,
            "llm.model": "scripted",
            "llm.retries": 0,
        }
        place = locate(folder, index_dir=index_dir, overrides=overrides)
        with open_place(place) as vault:
            answer = vault.ask("What are the main themes of my vault?")
        asked = [seen.prompt for seen in server.asked]
    assert answer.mode == "llm"
    assert answer.answer == "Of Hollin Reach [1]. Of Gwen Aldous [9]."
    assert [one.path for one in answer.citations] == [
        "Projects/Hollin Reach/Hollin Reach.md",
        "People/Gwen Aldous.md",
    ]
    assert any(one.startswith("1 theme of 3 left out of the answer") for one in answer.warnings)
    assert len(asked) == 4
    assert not any("Salary" in prompt for prompt in asked)
    log = (place.layout.root / "egress.jsonl").read_text(encoding="utf-8").splitlines()
    begun = [line for line in map(json.loads, log) if "purpose" in line]
    assert [line["purpose"] for line in begun[-4:]] == ["themes"] * 3 + ["answer"]
    assert "Projects/Resilience Fund Bid.md" not in begun[-1]["notes"]


def test_a_refused_host_gets_nothing(demo: tuple[Path, Path]) -> None:
    folder, index_dir = demo
    overrides = {
        "themes.enabled": True,
        "themes.summaries": "llm",
        "llm.provider": "openai-compatible",
        "llm.base_url": "http://192.0.2.1:9/v1",
        "llm.model": "scripted",
    }
    place = locate(folder, index_dir=index_dir, overrides=overrides)
    with Catalog.open(place.layout.catalog, read_only=True) as catalog:
        try:
            keep_themes(place.layout, catalog, place.vault, place.settings.themes)
            (told,) = sum_themes_up(
                place.layout,
                catalog,
                place.vault,
                place.settings,
                lambda: load_llm(place.settings, log_dir=place.layout.root),
                nullcontext,
            )
        finally:
            place.layout.themes.unlink(missing_ok=True)
    assert told.startswith("8 themes not summed up by the language model")
    assert "192.0.2.1 is not this machine" in told
