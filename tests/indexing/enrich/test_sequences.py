"""Whatever happens to a vault, and whenever a run is killed, it ends as a fresh index would."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.indexing.enrich.conftest import LONG, EnrichBench, Killed
from tests.support.product import ProviderError, faults
from tests.support.scripted_llm import plainly

NAMES = ["Atlas", "Boat", "Cup", "sub/Dune"]
POINTS = [
    "enrich-put",
    "enrich-inside-put",
    "enrich-redone",
    "catalog-inside-commit",
    "enrich-forgot",
]


class Life:
    """What may happen to a vault and its index, drawn by a seed."""

    def __init__(self, bench: EnrichBench, seed: int, kill: Callable[[str, int], None]) -> None:
        self.bench = bench
        self.draw = random.Random(seed)
        self.kill = kill
        self.down = False
        bench.llm.tell = self.tell

    def tell(self, prompt: str) -> str:
        if self.down:
            raise ProviderError("it is down", self.draw.choice(["server", "refused", "timeout"]))
        return plainly(prompt)

    def step(self) -> None:
        bench, draw = self.bench, self.draw
        name = f"{draw.choice(NAMES)}.md"
        match draw.choice(
            ["write", "write", "delete", "private", "move", "toggle", "down", "kill"]
        ):
            case "write":
                parts = draw.randint(1, 3)
                text = [f"# Part {n}\nAbout {draw.randint(0, 3)}: {LONG}\n" for n in range(parts)]
                bench.write(name, "\n".join(text))
            case "delete":
                (bench.vault / name).unlink(missing_ok=True)
            case "private":
                bench.write(name, f"---\nprivate: true\n---\nSecret {LONG}")
            case "move" if (bench.vault / name).exists():
                (bench.vault / "away").mkdir(exist_ok=True)
                (bench.vault / name).rename(bench.vault / "away" / Path(name).name)
            case "toggle":
                headers, summaries = draw.choice(["off", "llm"]), draw.choice(["extract", "llm"])
                bench.ask(headers=headers, summaries=summaries)
            case "down":
                self.down = not self.down
            case "kill":
                self.kill(draw.choice(POINTS), draw.randint(1, 2))
        bench.ask(max_calls=draw.choice([1, 3, 1_000]))
        try:
            bench.index()
            if draw.random() < 0.8:
                bench.enrich()
        except Killed:
            pass
        faults.hook = None


@pytest.mark.parametrize("seed", range(4))
def test_it_ends_as_a_fresh_index_would(
    tmp_path: Path, killed_at: Callable[[str, int], None], seed: int
) -> None:
    bench = EnrichBench(tmp_path)
    life = Life(bench, seed, killed_at)
    for _ in range(9):
        life.step()
    life.down = False
    bench.ask(max_calls=1_000)
    bench.both()
    (tmp_path / "other").mkdir()
    fresh = bench.fresh(tmp_path / "other")
    fresh.both()
    assert bench.content() == fresh.content()
    assert bench.summaries() == fresh.summaries()
    with bench.store() as store:
        assert store.pending_reindex() == []
    # No text of a note that is private was ever sent.
    assert not any("Secret" in prompt for prompt in bench.llm.asked)
