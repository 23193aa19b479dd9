"""What is found, in which order and with which scores: a change of it is a decision."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from notehop import open_vault
from tests.recorded.conftest import Compare
from tests.recorded.queries import queries
from tests.support.product import SearchResult, demo_vault, load_settings
from tests.support.real_index import real_index

pytestmark = [pytest.mark.model, pytest.mark.timeout(300)]

SATURDAY = 1_788_000_000
"""When all files were written: some signals go by that."""

VAULTS = Path(__file__).parents[1] / "vaults"
OPEN: dict[str, tuple[Path, dict[str, object]]] = {
    "demo": (demo_vault(), {}),
    "german": (VAULTS / "german", {}),
    "chinese": (VAULTS / "chinese", {}),
    # What is off by default and goes by no clock: people turn it on by name.
    "signals": (
        demo_vault(),
        {
            "retrieval.alias_expansion": True,
            "retrieval.subject_names": "any",
            **{f"retrieval.weights.{one}": 0.5 for one in ("graph", "recency", "recent")},
        },
    ),
}


def found(result: SearchResult) -> dict[str, Any]:
    """Place and score of each hit, then the connected notes."""
    return {
        "hits": [[one.path, one.lines[0], round(one.score, 6)] for one in result.hits],
        "connected": [note.path for note in result.connected_notes],
    }


@pytest.mark.parametrize("name", OPEN)
def test_ranking(name: str, tmp_path: Path, compare: Compare) -> None:
    where, overrides = OPEN[name]
    vault = shutil.copytree(where, tmp_path / name, copy_function=shutil.copyfile)
    if overrides:
        for file in vault.rglob("*"):
            os.utime(file, (SATURDAY, SATURDAY))
    # Which is faster is measured when a model is loaded, and comes out another way on a busy machine.
    real_index(vault, tmp_path / "index", embedding__precision="float32")
    settings = load_settings(overrides=overrides)
    asked = queries(name, vault)[:: 6 if overrides else 1]
    with open_vault(vault, index_dir=tmp_path / "index", settings=settings) as opened:
        replies = {_line(one): found(opened.search(**one)) for one in asked}
    compare(f"ranking-{name}", replies)


def _line(asked: dict[str, Any]) -> str:
    options = [f"{key}={value}" for key, value in asked.items() if key != "query"]
    return " | ".join([asked["query"], *options])
