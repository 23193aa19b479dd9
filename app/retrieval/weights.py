"""Owns the weights of one query: those of the settings, and what changed them for it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

DECIDED_BY = "decided_by"
"""What the metadata of a hit hold whose place signals decided: their names."""

DECIDING: Mapping[str, frozenset[str]] = {"status": frozenset({"subject", "recent"})}
"""Intent -> the signals that decide in it: the newest news of a project are what a question for its
status is after, however little their text resembles it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Signal name -> weight, 0 or more; ``reasons`` tells in words what changed them.

    ``deciding`` are the signals whose hits stand first whatever their text resembles.
    """

    by_signal: Mapping[str, float]
    reasons: tuple[str, ...] = ()
    deciding: frozenset[str] = frozenset()

    def with_changes(self, weights: Mapping[str, float]) -> Weights:
        """Return these weights with some of them set, as an intent does."""
        return replace(self, by_signal={**self.by_signal, **weights})

    def scaled(self, signal: str, factor: float, reason: str) -> Weights:
        """Return these weights with that of one signal multiplied; as they are for a factor of 1.

        The last signal that finds hits is left as it is: something has to rank.

        :param factor: 0 or more.
        :raises ValueError: if it is negative, or there is no such signal.
        """
        if not factor >= 0:
            raise ValueError(f"the factor of {signal!r} is {factor}; it must be 0 or more")
        if signal not in self.by_signal:
            known = ", ".join(self.by_signal) or "none"
            raise ValueError(f"no signal {signal!r}; the signals are: {known}")
        changed = {**self.by_signal, signal: self.by_signal[signal] * factor}
        if factor == 1 or not any(changed.values()):
            return self
        return replace(self, by_signal=changed, reasons=(*self.reasons, reason))
