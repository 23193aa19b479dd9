"""The settings that an evaluation holds to one another: presets, ablations, those that a user names.

A new signal with a weight is ablated without a word here; any other part of retrieval takes a line
in :data:`PARTS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from notehop.config import Settings
from notehop.config.errors import UsageError
from notehop.config.layers import read_overrides

BASE = ("semantic", "lexical")
"""The signals that each find hits of their own."""

CURRENT, STOCK = "current", "stock"


class AblatedPart(NamedTuple):
    """A part of retrieval that can be without: the setting that says so, with its two values."""

    name: str
    key: str
    on: Any
    off: Any


PARTS = (
    AblatedPart("title dispatch", "retrieval.title_dispatch", True, False),
    AblatedPart("alias expansion", "retrieval.alias_expansion", True, False),
    AblatedPart("intents", "retrieval.intent", "auto", "none"),
    AblatedPart("languages", "retrieval.unread_share", 0.05, 1.0),
    AblatedPart("templates", "retrieval.template_share", 0.5, 1.0),
    AblatedPart("relevance", "retrieval.relevance_weight", 1.0, 0.0),
    AblatedPart("recall expansion", "retrieval.expansion", "conservative", "off"),
    AblatedPart("connected notes", "connected.max", 3, 0),
    AblatedPart("backlinks", "connected.direction", "both", "forward"),
    AblatedPart("order context", "connected.order", "context", "rank"),
    AblatedPart("gate", "connected.gate", 1.0, 0.0),
)
"""What is turned off and on beside the signals, each after what it builds on."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings by name: what they change of those in force, and which ones they are held to."""

    name: str
    overrides: Mapping[str, Any]
    against: str | None
    settings: Settings


Named = tuple[str, Mapping[str, Any], str | None]
"""The name of settings, what they change, and which ones they are held to."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is to be held against what.

    Settings in force against a stock assembly; with ``ablate`` each part by itself, too; with
    ``compare`` the two settings of these names instead.
    """

    ablate: bool = False
    compare: tuple[str, str] | None = None

    def variants(self, settings: Settings) -> list[Variant]:
        """The settings to run, in the order to show; one that another is held to is among them.

        :raises UsageError: if one that was named is none.
        :raises SettingsError: if one is no valid setting.
        """
        found: list[Named]
        if self.compare is not None:
            first, second = self.compare
            if first == second:
                raise UsageError(f"{first} is compared with itself; name two settings")
            found = [
                (first, _named(settings, first), None),
                (second, _named(settings, second), first),
            ]
        elif self.ablate:
            found = _ablation(settings)
        else:
            found = [(STOCK, _presets(settings)[STOCK], None), (CURRENT, {}, STOCK)]
        return [
            Variant(name, overrides, against, settings.with_overrides(overrides))
            for name, overrides, against in found
        ]


def _ablation(settings: Settings) -> list[Named]:
    """What each part does: built up from bare signals, then one taken away or added at a time.

    The bare signals are held to their fusion, each rung of the ladder to the one below it, all
    others to the settings in force.
    """
    known = _presets(settings)
    weights = settings.retrieval.weights.model_dump()
    signals = [
        AblatedPart(one, _weight(one), weight or 1.0, 0.0) for one, weight in weights.items()
    ]
    parts = (*signals, *PARTS)
    on = [part for part in parts if attrgetter(part.key)(settings) != part.off]
    found: list[Named] = [(STOCK, known[STOCK], None)]
    found += [(f"bare {name}", known[name], "fused") for name in BASE]
    below, overrides = "fused", known["fused"]
    found.append((below, overrides, STOCK))
    for part in on:
        if part.name not in BASE:
            overrides = {**overrides, part.key: attrgetter(part.key)(settings)}
            found.append((f"... + {part.name}", overrides, below))
            below = f"... + {part.name}"
    found.append((CURRENT, {}, STOCK))
    both = all(weights[name] for name in BASE)
    found += [
        (f"without {part.name}", {part.key: part.off}, CURRENT)
        for part in on
        if both or part.name not in BASE
    ]
    off = [part for part in parts if part not in on]
    return found + [(f"with {part.name}", {part.key: part.on}, CURRENT) for part in off]


def _named(settings: Settings, said: str) -> Mapping[str, Any]:
    """What a setting changes: a preset, ``key=value,key=value``, or a TOML file."""
    known = _presets(settings)
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
    silent = {part.key: part.off for part in PARTS} | {_weight(name): 0.0 for name in weights}
    equal = {_weight(name): 1.0 for name in BASE}
    return {
        CURRENT: {},
        STOCK: {**silent, **equal, "retrieval.rrf_k": 60},
        "fused": {**silent, **{_weight(name): weights[name] for name in BASE}},
        **{name: {**silent, _weight(name): weights[name] or 1.0} for name in BASE},
    }


def _weight(signal: str) -> str:
    return f"retrieval.weights.{signal}"
