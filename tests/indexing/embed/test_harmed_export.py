"""A byte that a disk has flipped in the exported model changes no vector: torch serves, and says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.support.product import (
    EmbeddingSettings,
    export_query_door,
    load_bulk,
    load_embedder,
    load_query,
)

MakeModel = Callable[..., Path]
SettingsFor = Callable[..., EmbeddingSettings]


def flip(file: Path, share: float) -> None:
    """Flip a bit of one byte, in the middle of what is there."""
    content = bytearray(file.read_bytes())
    content[int(len(content) * share)] ^= 0x04
    file.write_bytes(bytes(content))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["query-*.onnx", "tokenizer-*.json"])
def test_a_flipped_bit_changes_no_vector(
    make_model: MakeModel, settings_for: SettingsFor, tmp_path: Path, kind: str, share: float
) -> None:
    chosen = settings_for(make_model())
    bulk = load_bulk(chosen)
    export_query_door(bulk, tmp_path / "model")
    (file,) = (tmp_path / "model").glob(kind)
    flip(file, share)
    served = load_query(tmp_path / "model", chosen)
    assert served.source == "torch"
    assert "missing or damaged" in str(served.reason)
    assert np.allclose(served.embed_query("plan"), bulk.embed_queries(["plan"])[0], atol=1e-5)
    load_embedder(chosen, tmp_path / "model")  # as the next index run does
    assert load_query(tmp_path / "model", chosen).source == "onnx"
