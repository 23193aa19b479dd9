"""The settings of an evaluation: presets, the ablation that follows from settings, pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.product import (
    CURRENT,
    PARTS,
    STOCK,
    Settings,
    SettingsError,
    UsageError,
    Variant,
    ablation,
    baseline,
    distinct,
    load_settings,
    named,
    pair,
    presets,
)


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings()


def by_name(variants: list[Variant]) -> dict[str, Variant]:
    assert len({variant.name for variant in variants}) == len(variants)
    return {variant.name: variant for variant in variants}


def of(settings: Settings, variant: Variant) -> Settings:
    return settings.with_overrides(variant.overrides)


def no_file(path: str) -> Mapping[str, Any]:
    raise AssertionError(path)


def test_every_part_names_a_setting_with_two_values(settings: Settings) -> None:
    for part in PARTS:
        on, off = (settings.with_overrides({part.key: value}) for value in (part.on, part.off))
        assert on != off


def test_the_baseline_is_a_stock_assembly(settings: Settings) -> None:
    stock, current = baseline(settings)
    assert (current.against, of(settings, current)) == (STOCK, settings)
    found = of(settings, stock)
    assert found.retrieval.rrf_k == 60
    assert not found.retrieval.title_dispatch
    assert found.connected.max == 0
    assert found.connected.context_chunks == settings.connected.context_chunks


def test_the_ladder_leads_from_bare_signals_to_the_settings_in_force(settings: Settings) -> None:
    found = by_name(ablation(settings))
    semantic, lexical = (of(settings, found[f"bare {name}"]) for name in ("semantic", "lexical"))
    for bare, name in ((semantic, "semantic"), (lexical, "lexical")):
        weights = bare.retrieval.weights.model_dump()
        assert {signal for signal, weight in weights.items() if weight} == {name}
        assert bare.retrieval.intent == "none"
    rungs = [variant for variant in found.values() if variant.name.startswith("...")]
    parts = (
        *("subject", "title dispatch", "intents", "languages", "templates"),
        *("connected notes", "order context", "gate"),
    )
    names = [f"... + {part}" for part in parts]
    assert [rung.name for rung in rungs] == names
    assert [rung.against for rung in rungs] == ["fused", *names[:-1]]
    assert of(settings, rungs[-1]) == settings


def test_each_part_is_taken_away_or_added_by_itself(settings: Settings) -> None:
    found = by_name(ablation(settings))
    without = {name for name in found if name.startswith("without ")}
    added = {name for name in found if name.startswith("with ")}
    assert without == {
        "without semantic",
        "without lexical",
        "without subject",
        "without title dispatch",
        "without intents",
        "without languages",
        "without templates",
        "without connected notes",
        "without order context",
        "without gate",
    }
    signals = {"with recent", "with graph", "with recency"}
    assert added == {"with alias expansion", "with recall expansion", "with backlinks", *signals}
    assert {found[name].against for name in without | added} == {CURRENT}
    assert all(len(found[name].overrides) == 1 for name in without | added)


def test_a_signal_of_its_own_is_not_taken_away(settings: Settings) -> None:
    lexical = settings.with_overrides({"retrieval.weights.semantic": 0.0})
    found = by_name(ablation(lexical))
    assert "without lexical" not in found
    assert found["with semantic"].overrides == {"retrieval.weights.semantic": 1.0}
    distinct(lexical, found.values())


def test_every_variant_is_held_to_one_that_is_there(settings: Settings) -> None:
    for variants in (ablation(settings), baseline(settings)):
        known = by_name(variants)
        assert all(variant.against in known for variant in variants if variant.against)


def test_the_same_settings_are_run_once(settings: Settings) -> None:
    variants = ablation(settings)
    groups = distinct(settings, variants)
    assert sum(map(len, groups.values())) == len(variants)
    together = {variant.name: first for first, same in groups.items() for variant in same}
    assert together["current"] == together["... + gate"]
    assert together["without gate"] == together["... + order context"]
    assert together["without lexical"] != together["bare semantic"]


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("current", {}),
        ("connected.max=0", {"connected.max": "0"}),
        (
            "connected.gate=0.5, retrieval.expansion=off",
            {"connected.gate": "0.5", "retrieval.expansion": "off"},
        ),
    ],
)
def test_a_setting_is_named(settings: Settings, said: str, changes: dict[str, str]) -> None:
    assert named(settings, said, no_file) == changes
    settings.with_overrides(changes)


def test_a_setting_is_a_file(settings: Settings) -> None:
    read: dict[str, Mapping[str, Any]] = {"my=own.toml": {"connected.max": 1}}
    assert named(settings, "my=own.toml", read.__getitem__) == {"connected.max": 1}


@pytest.mark.parametrize("said", ["nothing", "connected.max", "connected.max=0,gate", "=1"])
def test_what_names_no_setting_is_refused(settings: Settings, said: str) -> None:
    with pytest.raises(UsageError, match=rf"no setting '{said}'; write one of current, stock"):
        named(settings, said, no_file)


def test_a_pair(settings: Settings) -> None:
    first, second = pair(settings, "fused", "connected.max=1", no_file)
    assert (first.against, second.against) == (None, "fused")
    assert of(settings, second).connected.max == 1
    with pytest.raises(UsageError, match="compared with itself"):
        pair(settings, "stock", "stock", no_file)


def test_a_value_that_a_setting_cannot_have_is_refused(settings: Settings) -> None:
    with pytest.raises(SettingsError, match=r"connected\.max"):
        distinct(settings, [Variant("x", named(settings, "connected.max=many", no_file))])


def test_presets_are_settings(settings: Settings) -> None:
    assert list(presets(settings)) == ["current", "stock", "fused", "semantic", "lexical"]
    for overrides in presets(settings).values():
        settings.with_overrides(overrides)
