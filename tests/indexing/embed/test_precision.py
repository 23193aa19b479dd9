"""bfloat16 is taken where it keeps the vectors, and given back where it does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from notehop.config.errors import ModelError
from notehop.config.settings import EmbeddingSettings
from notehop.indexing.embed.bulk import load_bulk
from notehop.indexing.embed.precision import settle_precision

MakeModel = Callable[..., Path]
SettingsFor = Callable[..., EmbeddingSettings]


@pytest.mark.model
def test_bfloat16_computes_the_transformer_only(settings_for: SettingsFor) -> None:
    import torch

    bulk = load_bulk(settings_for("all-MiniLM-L6-v2", precision="bfloat16"))
    assert bulk.precision == "bfloat16"
    assert next(bulk.llama.model[0].parameters()).dtype == torch.bfloat16
    norms = np.linalg.norm(bulk.embed(["one", "two words", "three words here"]), axis=1)
    assert np.allclose(norms, 1, atol=1e-6)


def spoil(model: Any) -> None:
    """Make the model unfit for 8 bits of mantissa: large numbers that cancel out."""
    import torch

    with torch.no_grad():
        model[0].model.embeddings.word_embeddings.weight.add_(1_000.0)


def test_a_model_that_needs_float32_keeps_it(
    make_model: MakeModel, settings_for: SettingsFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notehop.indexing.embed.precision._has_fast_bfloat16", lambda _device: True)
    model = load_bulk(settings_for(make_model())).llama.model
    spoil(model)
    exact = model[0]
    assert settle_precision(model, "cpu", "auto") == "float32"
    assert model[0] is exact
    with pytest.raises(ModelError, match=r"bfloat16 changes vectors .* too much"):
        settle_precision(model, "cpu", "bfloat16")
    assert model[0] is exact


def test_float32_is_not_tried_against_anything(
    make_model: MakeModel, settings_for: SettingsFor
) -> None:
    model = load_bulk(settings_for(make_model())).llama.model
    exact = model[0]
    assert settle_precision(model, "cpu", "float32") == "float32"
    assert model[0] is exact
