"""The settings that an evaluation holds to one another: presets, parts turned off, pairs.

A new signal with a weight is ablated without a word here; any other part takes a line in
:data:`PARTS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from notehop.config import Settings
from notehop.config.errors import UsageError
from notehop.config.layers import read_overrides

BASE = ("semantic", "lexical")
"""The signals that each find hits of their own."""

CURRENT = "current"
STOCK = "stock"


@dataclass(frozen=True, slots=True)
class AblatedPart:
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
    """A setting by name: what it changes of the settings in force, and which one it is held to."""

    name: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    against: str | None = None


def baseline(settings: Settings) -> list[Variant]:
    """The settings in force, held to a stock assembly of the same parts."""
    return [
        Variant(STOCK, presets(settings)[STOCK]),
        Variant(CURRENT, against=STOCK),
    ]


def ablation(settings: Settings) -> list[Variant]:
    """What each part does: built up from bare signals, then one taken away or added at a time.

    The bare signals are held to their fusion, each rung of the ladder to the one below it, all
    others to the settings in force.
    """
    weights = settings.retrieval.weights.model_dump()
    known = presets(settings)
    on = [part for part in PARTS if attrgetter(part.key)(settings) != part.off]
    ladder = Variant("fused", known["fused"], STOCK)
    found = [
        Variant(STOCK, known[STOCK]),
        *(Variant(f"bare {name}", known[name], "fused") for name in BASE),
        ladder,
    ]
    rungs = [(name, _weight(name), weights[name]) for name in weights if name not in BASE]
    rungs = [rung for rung in rungs if rung[2]]
    rungs += [(part.name, part.key, attrgetter(part.key)(settings)) for part in on]
    for name, key, value in rungs:
        overrides = {**ladder.overrides, key: value}
        ladder = Variant(f"... + {name}", overrides, ladder.name)
        found.append(ladder)
    found.append(Variant(CURRENT, against=STOCK))
    several = sum(bool(weights[name]) for name in BASE) > 1
    found += [
        Variant(f"without {name}", {_weight(name): 0.0}, CURRENT)
        for name, weight in weights.items()
        if weight and (several or name not in BASE)
    ]
    found += [Variant(f"without {part.name}", {part.key: part.off}, CURRENT) for part in on]
    found += [
        Variant(f"with {name}", {_weight(name): 1.0}, CURRENT)
        for name, weight in weights.items()
        if not weight
    ]
    off = (part for part in PARTS if part not in on)
    found += [Variant(f"with {part.name}", {part.key: part.on}, CURRENT) for part in off]
    return found


def pair(settings: Settings, first: str, second: str) -> list[Variant]:
    """Two settings as they were named, the second held to the first.

    :raises UsageError: as :func:`named`, or if both are the same.
    """
    if first == second:
        raise UsageError(f"{first} is compared with itself; name two settings")
    return [
        Variant(first, named(settings, first)),
        Variant(second, named(settings, second), first),
    ]


def named(settings: Settings, said: str) -> Mapping[str, Any]:
    """What a setting changes: a preset, ``key=value,key=value``, or a TOML file.

    :raises UsageError: if it is none of these.
    """
    known = presets(settings)
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


def presets(settings: Settings) -> dict[str, Mapping[str, Any]]:
    """Settings that have a name, as changes of those in force.

    ``current``: those in force. ``fused``: their signals that find hits, and no part. ``stock``: as
    LlamaIndex assembles the same signals, with equal weights and the usual offset. And each such
    signal alone.
    """
    bare = {part.key: part.off for part in PARTS}
    weights = settings.retrieval.weights.model_dump()
    silent = bare | {_weight(name): 0.0 for name in weights}
    both = {_weight(name): weights[name] for name in BASE}
    equal = {_weight(name): 1.0 for name in BASE}
    return {
        CURRENT: {},
        STOCK: {**silent, **equal, "retrieval.rrf_k": 60},
        "fused": {**silent, **both},
        **{name: {**silent, _weight(name): weights[name] or 1.0} for name in BASE},
    }


def distinct(settings: Settings, variants: Iterable[Variant]) -> dict[str, list[Variant]]:
    """Group variants that come to the same settings, under the name of the first.

    :raises SettingsError: if one is no valid setting.
    """
    found: dict[Settings, list[Variant]] = {}
    for variant in variants:
        found.setdefault(settings.with_overrides(variant.overrides), []).append(variant)
    return {same[0].name: same for same in found.values()}


def _weight(signal: str) -> str:
    return f"retrieval.weights.{signal}"
