"""The settings of an evaluation: presets, the ablation that follows from settings, pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.product import (
    STOCK,
    Settings,
    UsageError,
    Variant,
    ablation,
    baseline,
    distinct,
    load_settings,
    named,
    pair,
)


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings()


def of(settings: Settings, variant: Variant) -> Settings:
    return settings.with_overrides(variant.overrides)


def no_file(path: str) -> Mapping[str, Any]:
    raise AssertionError(path)


def test_the_baseline_is_a_stock_assembly(settings: Settings) -> None:
    stock, current = baseline(settings)
    assert (current.against, of(settings, current)) == (STOCK, settings)
    found = of(settings, stock)
    assert found.retrieval.rrf_k == 60
    assert not found.retrieval.title_dispatch
    assert found.connected.max == 0
    assert found.connected.context_chunks == settings.connected.context_chunks


def test_the_same_settings_are_run_once(settings: Settings) -> None:
    variants = ablation(settings)
    groups = distinct(settings, variants)
    assert sum(map(len, groups.values())) == len(variants)
    together = {variant.name: first for first, same in groups.items() for variant in same}
    assert together["current"] == together["... + gate"]
    assert together["without gate"] == together["... + order context"]
    assert together["without lexical"] != together["bare semantic"]


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
