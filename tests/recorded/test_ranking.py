"""What is found, in which order and with which scores: a change of it is a decision."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from notehop import index_vault, open_vault
from tests.recorded.conftest import Compare
from tests.recorded.queries import queries
from tests.support.product import SearchResult, load_settings
from tests.support.real_index import copied, real_index

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

SATURDAY = 1_788_000_000
"""When all files were written: some signals go by that."""

VAULTS = Path(__file__).parents[1] / "vaults"
SIGNALS = {
    "retrieval.alias_expansion": True,
    "retrieval.subject_names": "any",
    **{f"retrieval.weights.{one}": 0.5 for one in ("graph", "recency", "recent")},
}
"""What is off by default: people turn it on by name."""


def found(result: SearchResult) -> dict[str, Any]:
    """Place and score of each hit, then the connected notes."""
    return {
        "hits": [[one.path, one.lines[0], round(one.score, 6)] for one in result.hits],
        "connected": [note.path for note in result.connected_notes],
    }


@pytest.mark.parametrize("name", ["demo", "german", "chinese", "signals"])
def test_ranking(name: str, made_demo: Path, tmp_path: Path, compare: Compare) -> None:
    if name in ("demo", "signals"):
        vault, index = copied(made_demo, tmp_path)
    else:
        vault = shutil.copytree(VAULTS / name, tmp_path / name)
        index = real_index(vault, tmp_path / "index").layout.root
    asked, settings = queries(name, vault), load_settings()
    if name == "signals":
        asked, settings = asked[::6], settings.with_overrides(SIGNALS)
        for file in vault.rglob("*"):
            os.utime(file, (SATURDAY, SATURDAY))
        index_vault(vault, index_dir=index)
    with open_vault(vault, index_dir=index, settings=settings) as opened:
        replies = {_line(one): found(opened.search(**one)) for one in asked}
    compare(f"ranking-{name}", replies)


def _line(asked: dict[str, Any]) -> str:
    options = [f"{key}={value}" for key, value in asked.items() if key != "query"]
    return " | ".join([asked["query"], *options])
