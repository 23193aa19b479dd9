"""The settings that an evaluation holds to one another: presets, ablations, those that a user names.

A new signal with a weight is ablated without a word here; another part takes a line in :data:`PARTS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from notehop.config import Settings
from notehop.config.errors import UsageError
from notehop.config.layers import read_overrides

BASE = ("semantic", "lexical")
"""The signals that each find hits of their own."""

CURRENT, STOCK = "current", "stock"


PARTS = {
    "title dispatch": ("retrieval.title_dispatch", True, False),
    "alias expansion": ("retrieval.alias_expansion", True, False),
    "intents": ("retrieval.intent", "auto", "none"),
    "languages": ("retrieval.unread_share", 0.05, 1.0),
    "templates": ("retrieval.template_share", 0.5, 1.0),
    "relevance": ("retrieval.relevance_weight", 1.0, 0.0),
    "recall expansion": ("retrieval.expansion", "conservative", "off"),
    "connected notes": ("connected.max", 3, 0),
    "backlinks": ("connected.direction", "both", "forward"),
    "order context": ("connected.order", "context", "rank"),
    "gate": ("connected.gate", 1.0, 0.0),
}
"""What is turned off and on beside the signals: the setting that says so, and its two values."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings by name: what they change of those in force, and which ones they are held to."""

    name: str
    overrides: Mapping[str, Any]
    against: str | None
    settings: Settings


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is to be held against what.

    Settings in force against a stock assembly; with ``ablate`` each part taken away from those in
    force, or added, too; with ``compare`` the two settings of these names instead.
    """

    ablate: bool = False
    compare: tuple[str, str] | None = None

    def variants(self, settings: Settings) -> list[Variant]:
        """The settings to run, in the order to show; one that another is held to is among them.

        :raises UsageError: if one that was named is none.
        :raises SettingsError: if one is no valid setting.
        """

        def variant(name: str, changes: Mapping[str, Any], against: str | None) -> Variant:
            return Variant(name, changes, against, settings.with_overrides(changes))

        known = _presets(settings)
        if self.compare is None:
            found = [variant(STOCK, known[STOCK], None), variant(CURRENT, {}, STOCK)]
            if self.ablate:
                found += [variant(*one, CURRENT) for one in _ablation(settings)]
            return found
        first, second = self.compare
        if first == second:
            raise UsageError(f"{first} is compared with itself; name two settings")
        return [variant(first, _named(known, first), None), variant(second, _named(known, second), first)]


def _ablation(settings: Settings) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What each part does: those in force taken away, one at a time, and the others added."""
    weights = settings.retrieval.weights.model_dump()
    parts: dict[str, tuple[str, Any, Any]] = {
        **{name: (_weight(name), weight or 1.0, 0.0) for name, weight in weights.items()},
        **PARTS,
    }
    both = all(weights[name] for name in BASE)
    for name, (key, on, off) in parts.items():
        is_on = attrgetter(key)(settings) != off
        if is_on and (both or name not in BASE):
            yield f"without {name}", {key: off}
        elif not is_on:
            yield f"with {name}", {key: on}


def _named(known: Mapping[str, Mapping[str, Any]], said: str) -> Mapping[str, Any]:
    """What a setting changes: a preset, ``key=value,key=value``, or a TOML file."""
    if said in known:
        return known[said]
    if said.lower().endswith(".toml"):
        return read_overrides(Path(said))
    pairs = [part.partition("=") for part in said.split(",")]
    if all(key.strip() and sign for key, sign, _ in pairs):
        return {key.strip(): value.strip() for key, _, value in pairs}
    raise UsageError(
        f"no setting {said!r}; write one of {', '.join(known)}, or key=value,key=value "
        "(connected.max=0,retrieval.top_k=8), or name a TOML file"
    )


def _presets(settings: Settings) -> dict[str, Mapping[str, Any]]:
    """Settings that have a name, as changes of those in force.

    ``fused``: their signals that find hits, and no part. ``stock``: as LlamaIndex assembles the same
    signals, with equal weights and the usual offset. And each such signal alone.
    """
    weights = settings.retrieval.weights.model_dump()
    silent = {key: off for key, _, off in PARTS.values()}
    silent |= {_weight(name): 0.0 for name in weights}
    equal = {_weight(name): 1.0 for name in BASE}
    return {
        CURRENT: {},
        STOCK: {**silent, **equal, "retrieval.rrf_k": 60},
        "fused": {**silent, **{_weight(name): weights[name] for name in BASE}},
        **{name: {**silent, _weight(name): weights[name] or 1.0} for name in BASE},
    }


def _weight(signal: str) -> str:
    return f"retrieval.weights.{signal}"
