"""An index that followed its vault says what an index built from nothing says."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from tests.indexing.pipeline.conftest import Bench

NAMES = ("Tide", "Wall", "Bram", "Ewe Point", "tide table", "Log")
FOLDERS = ("", "a/", "a/b/", "c/")
SENTENCES = (
    "The sea wall holds. See [[Tide]].",
    "Bram measured it ([[a/Wall|the wall]]).",
    "![[Log#Later]] was written in haste.",
    "A [note](c/Log.md) on [[Ewe Point#^mark]].",
    "# Later\n\nOn the day after, [[High Water]] came.",
    "## Part\n\nA line of its own ^mark",
    "Nothing leads from here.",
)


def _edit(bench: Bench, chance: random.Random) -> None:
    files = sorted(bench.vault.rglob("*.md"))
    new = f"{chance.choice(FOLDERS)}{chance.choice(NAMES)}.md"
    kind = chance.choice(["write", "write", "write", "move", "delete", "touch"])
    if kind == "write" or not files:
        head = chance.choice(
            [
                "",
                "---\naliases: [High Water]\n---\n",
                "---\nprivate: true\n---\n",
                "---\na: [\n---\n",
            ]
        )
        bench.write(new, head + "\n\n".join(chance.choices(SENTENCES, k=chance.randint(0, 5))))
    elif kind == "move":
        target = bench.vault / new
        target.parent.mkdir(parents=True, exist_ok=True)
        chance.choice(files).rename(target)
    elif kind == "delete":
        chance.choice(files).unlink()
    else:
        chance.choice(files).touch()


@pytest.mark.parametrize("seed", range(4))
def test_following_equals_starting_anew(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    bench = Bench(tmp_path)
    for _ in range(8):
        for _ in range(chance.randint(1, 4)):
            _edit(bench, chance)
        bench.index()
    fresh = Bench(tmp_path / "fresh" if (tmp_path / "fresh").mkdir() is None else tmp_path)
    shutil.copytree(bench.vault, fresh.vault, dirs_exist_ok=True)
    fresh.index()
    assert bench.content() == fresh.content()
