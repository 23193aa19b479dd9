"""Wires an evaluation: indexes the golden sets and asks their questions under each setting.

Touches: vault-read, index, model; writes below the folder it is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.schema import QueryBundle

from app.container.opening import open_vault
from app.evaluation import multihop
from app.evaluation.golden import GoldenSet, golden_sets
from config import load_settings
from config.errors import UsageError
from indexing.pipeline import Indexer
from indexing.stores.layout import IndexLayout

if TYPE_CHECKING:
    from indexing.report import Progress


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One golden set under every setting."""

    name: str
    notes: int
    questions: int
    rows: tuple[multihop.Row, ...]

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        return asdict(self)


def evaluate(data: Path, work: Path, progress: Progress) -> Iterator[Evaluated]:
    """Evaluate the golden sets in ``data`` one after the other, each when it is asked for.

    :param work: folder for unpacked vaults and their indexes, kept for the next time.
    :raises UsageError: if there are none, or one cannot be read.
    """
    found = golden_sets(data, work)
    if not found:
        raise UsageError(f"{data}: holds no golden sets (folders with queries.jsonl, vault.tar.gz)")
    for golden in found:
        yield _evaluate(golden, work, progress)


def _evaluate(golden: GoldenSet, work: Path, progress: Progress) -> Evaluated:
    index_dir = (work / f"{golden.name}-index").resolve()
    report = Indexer(golden.vault, load_settings(), IndexLayout(index_dir), progress).run()
    progress.stage(golden.name, len(multihop.SETTINGS) * len(golden.questions), "questions")
    outcomes = {}
    for setting, overrides in multihop.SETTINGS.items():
        settings = load_settings(overrides=overrides)
        with open_vault(golden.vault, index_dir=index_dir, settings=settings) as vault:
            vault.warm()
            engine = vault.query_engine()

            def paths(text: str) -> list[str]:
                nodes = engine.retrieve(QueryBundle(text))  # noqa: B023 (called in this round)
                progress.advance(1)
                return [str(node.metadata["path"]) for node in nodes]

            outcomes[setting] = multihop.ask_all(paths, golden.questions)
    progress.close()
    rows = multihop.compare(outcomes, golden.questions)
    return Evaluated(golden.name, report.notes, len(golden.questions), tuple(rows))
