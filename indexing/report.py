"""What an index run tells: its progress while it works and its report at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from notehop.indexing.enrich.report import EnrichReport


class Progress(Protocol):
    """Where a run shows what it is doing; stages follow one another and do not nest."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Begin a stage of ``total`` units (0: unknown); ends the stage before it."""

    def advance(self, count: int) -> None:
        """Say that ``count`` more units are done."""

    def message(self, text: str) -> None:
        """Show one line that stays."""

    def close(self) -> None:
        """End the last stage."""


class Silent:
    """Progress that shows nothing."""

    def stage(self, name: str, total: int, unit: str) -> None:
        """Show nothing."""

    def advance(self, count: int) -> None:
        """Show nothing."""

    def message(self, text: str) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Show nothing."""


@dataclass(frozen=True, slots=True)
class LinkCounts:
    """Links of all indexed notes by status; ``ambiguous`` ones are resolved, to their first fit."""

    resolved: int = 0
    ambiguous: int = 0
    unresolved: int = 0
    excluded: int = 0


@dataclass(frozen=True, slots=True)
class Update:
    """What a run did, at a cost that does not grow with the index; see :class:`Report`.

    ``wrote`` says whether the generation is a new one.
    """

    generation: int
    wrote: bool
    notes: int
    added: int = 0
    changed: int = 0
    moved: int = 0
    deleted: int = 0
    warnings: tuple[str, ...] = ()
    embedded: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def unchanged(self) -> int:
        """Notes that are in the index as they were before."""
        return self.notes - self.added - self.changed - self.moved


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did and what the index holds after it.

    ``added``, ``changed``, ``moved``, ``deleted`` and ``unchanged`` count notes; a moved note is
    not counted as added or deleted. ``skipped`` and ``failed`` hold (path, reason) of every note of
    the vault that is not in the index, sorted by path. ``warnings`` are of the notes read in this
    run. ``embedded`` counts texts that went through the model, ``seconds`` is wall time by stage.
    ``languages`` counts those of a sample of the notes, if the run wrote any; ``advice`` says what
    would serve this vault better. ``enrichment`` tells what was written about notes after the run,
    if the settings ask for that.
    """

    vault: str
    index_dir: str
    generation: int
    notes: int
    chunks: int
    added: int = 0
    changed: int = 0
    moved: int = 0
    deleted: int = 0
    unchanged: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    links: LinkCounts = field(default_factory=LinkCounts)
    embedded: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    languages: Mapping[str, int] = field(default_factory=dict)
    advice: tuple[str, ...] = ()
    enrichment: EnrichReport | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values, for ``--json`` and the catalog."""
        values = asdict(self)
        for name in ("skipped", "failed"):
            values[name] = [{"path": path, "reason": reason} for path, reason in values[name]]
        values["warnings"], values["advice"] = list(self.warnings), list(self.advice)
        if self.enrichment is None:
            del values["enrichment"]
        else:
            values["enrichment"] = self.enrichment.as_json()
        values["seconds"] = {stage: round(value, 3) for stage, value in self.seconds.items()}
        return values
