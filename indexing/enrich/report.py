"""What an enrichment did, and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from notehop.indexing.shown import counted

_NOUNS = {
    "extract": ("summary by extraction", "summaries by extraction"),
    "summary": ("summary by the model", "summaries by the model"),
    "header": ("header of a passage", "headers of passages"),
}


def numbered(count: int, kind: str) -> str:
    """``1 header of a passage`` or ``12 summaries by the model``."""
    return f"{count:,} {_NOUNS[kind][count != 1]}"


@dataclass(frozen=True, slots=True)
class EnrichReport:
    """``written`` counts texts by kind, made in this run. ``waiting`` are left for the next run,
    ``failed`` were asked for and not given. ``stopped`` says why the run did not do all there was;
    ``calls`` and ``tokens`` are what it cost. ``generation`` is the one that holds the headers, if
    any were put into the index."""

    written: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    stopped: str | None = None
    generation: int | None = None
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {**asdict(self), "written": dict(self.written), "warnings": list(self.warnings)}

    def lines(self) -> list[str]:
        """The report as a person reads it; none if there was nothing to do."""
        done = [numbered(count, kind) for kind, count in self.written.items() if count]
        if self.waiting:
            done.append(f"{self.waiting:,} waiting")
        if self.failed:
            done.append(f"{self.failed:,} failed")
        if not done:
            return []
        cost = f" ({counted(self.calls, 'request')}, {self.tokens:,} tokens)" if self.calls else ""
        return [f"  enrich {', '.join(done)}{cost}"]
