"""A vault, its index, and a model that writes about its notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.notes import Bench
from tests.support.product import (
    Cost,
    EnrichmentStore,
    EnrichReport,
    Settings,
    Summary,
    TextWriter,
    enrich,
    faults,
    read_summaries,
)
from tests.support.product import TokensEstimate as Estimate
from tests.support.scripted_llm import ScriptedLLM, plainly

LONG = " ".join(f"word{number}" for number in range(20))
"""A section that is a chunk of its own, and more than a model would be asked to sum up."""


class EnrichBench(Bench):
    """One vault whose index is made and then enriched, as ``notehop index`` does."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.llm = ScriptedLLM(tell=plainly)
        self.costs: list[Cost] = []
        self.ask(summaries="llm", headers="llm")

    def ask(self, **enrich: Any) -> None:
        given = {f"enrich.{key}": value for key, value in enrich.items()}
        llm = {"llm.provider": "openai-compatible", "llm.model": "telling"}
        self.settings = self.settings.with_overrides({**llm, **given})

    def writer(self, _settings: Settings, _folder: Path) -> TextWriter:
        return TextWriter(self.llm, Estimate(), model="telling", host="there.example")

    def agree(self, cost: Cost) -> None:
        self.costs.append(cost)

    def enrich(self, agree: Callable[[Cost], str | None] | None = None) -> EnrichReport:
        done = enrich(self.indexer(), agree or self.agree, load=self.writer)
        assert done is not None
        return done

    def both(self, *, rebuild: bool = False) -> EnrichReport:
        self.index(rebuild=rebuild)
        return self.enrich()

    def summaries(self) -> dict[str, Summary]:
        with self.catalog() as catalog:
            return read_summaries(self.layout.enrichment, catalog.notes())

    def store(self) -> EnrichmentStore:
        return EnrichmentStore.open(self.layout.enrichment)

    def bytes_hold(self, words: str) -> list[str]:
        files = self.layout.root.glob("enrichment.sqlite*")
        return [file.name for file in files if words.encode() in file.read_bytes()]

    def fresh(self, folder: Path) -> EnrichBench:
        """An index of the same vault made from nothing, with the same settings."""
        other = EnrichBench(folder)
        other.vault, other.settings = self.vault, self.settings
        return other


class Killed(BaseException):
    """What no handler catches."""


@pytest.fixture
def bench(tmp_path: Path) -> EnrichBench:
    made = EnrichBench(tmp_path)
    made.write("Atlas.md", f"# Plan\nAtlas begins {LONG}.\n\n# Cost\nIt is dear {LONG}.\n")
    made.write("Boat.md", f"The boat is old and {LONG}. It leaks {LONG}.\n")
    return made


@pytest.fixture
def killed_at() -> Iterator[Callable[[str, int], None]]:
    """Kill the process, as it were, when it passes a point for the n-th time."""

    def arm(name: str, times: int = 1) -> None:
        passed = 0

        def hook(point: str) -> None:
            nonlocal passed
            passed += point == name
            if point == name and passed == times:
                faults.hook = None
                raise Killed(name)

        faults.hook = hook

    yield arm
    faults.hook = None
