"""Runs the state machine, in one of three kinds, and shows the steps after which it failed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.indexing.pipeline.machine.rules import VaultMachine
from tests.support.product import LIMITS, Limits

SMALL = Limits(batch_notes=2, changed_notes=2, segment=6, segments=3)
"""Limits at which a vault of ten notes needs several batches, and joins of segments."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Whether the mirror in Chroma is kept too, and whether limits are soon reached.

    :ivar server: address of a database for the catalog; a file without.
    """

    chroma: bool = False
    small: bool = False
    server: str = ""

    @property
    def limits(self) -> Limits:
        return SMALL if self.small else LIMITS


@dataclass(frozen=True, slots=True)
class Done:
    """How many vaults there were, edits of them, and runs after which all was compared."""

    vaults: int = 0
    edits: int = 0
    runs: int = 0

    def __add__(self, other: Done) -> Done:
        return Done(self.vaults + other.vaults, self.edits + other.edits, self.runs + other.runs)


def run_machine(folder: Path, kind: Kind, *, vaults: int, steps: int, number: int | None = None) -> Done:
    """Try so many vaults with so many steps each, in a kind that is in place.

    :param number: of the steps to choose; None always chooses the same.
    :raises AssertionError: with the script that failed, for the table of regressions.
    """
    how = {"limits": kind.limits, "chroma": kind.chroma, "server": kind.server}
    made: type[VaultMachine] = type("Machine", (VaultMachine,), {"folder": folder, **how})
    if number is not None:
        made = seed(number)(made)
    try:
        run_state_machine_as_test(
            made,
            settings=settings(
                max_examples=vaults,
                stateful_step_count=steps,
                derandomize=number is None,
                database=None,
                deadline=None,
                phases=[Phase.generate],
                verbosity=Verbosity.quiet,
                suppress_health_check=list(HealthCheck),
            ),
        )
    except Exception as exc:
        lines = "".join(f"    {step!r},\n" for step in made.script)
        raise AssertionError(f"{exc}\nafter these steps:\n{lines}") from exc
    return Done(vaults, made.edits, made.runs)
