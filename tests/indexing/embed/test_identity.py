"""A model's own files say how long its vectors are, and what names it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.indexing.embed.conftest import embedding_settings
from tests.support.product import model_identity, native_dimensions

HIDDEN = {"config.json": {"hidden_size": 48}}


def lay_out(folder: Path, modules: list[str] | None, files: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    if modules is not None:
        listed = [
            {
                "idx": i,
                "path": "" if i == 0 else f"{i}_{name}",
                "type": f"sentence_transformers.{name}",
            }
            for i, name in enumerate(modules)
        ]
        (folder / "modules.json").write_text(json.dumps(listed))
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


POOLING, DENSE = "1_Pooling/config.json", "2_Dense/config.json"
SIZED = {"embedding_dimension": 48}
OLD = {"word_embedding_dimension": 48, "pooling_mode_max_tokens": False}
BOTH = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}
MODELS: dict[str, tuple[list[str] | None, dict[str, Any], int | None]] = {
    "a bare transformer": (None, HIDDEN, 48),
    "nested": (None, {"config.json": {"text_config": {"d_model": 20}}}, 20),
    "no pooling size": (["Transformer", "Normalize"], HIDDEN, 48),
    "two old modes end to end": (["Transformer", "Pooling"], HIDDEN | {POOLING: OLD | BOTH}, 96),
    "two modes end to end": (
        ["Transformer", "Pooling"],
        HIDDEN | {POOLING: SIZED | {"pooling_mode": ["cls", "max"]}},
        96,
    ),
    "dense": (
        ["Transformer", "Pooling", "Dense"],
        HIDDEN | {POOLING: SIZED, DENSE: {"in_features": 48, "out_features": 12}},
        12,
    ),
    "unknown module": (["Transformer", "Something"], HIDDEN, None),
}


@pytest.mark.parametrize(("modules", "files", "expected"), MODELS.values(), ids=MODELS)
def test_native_dimensions(
    tmp_path: Path, modules: list[str] | None, files: dict[str, Any], expected: int | None
) -> None:
    assert native_dimensions(lay_out(tmp_path / "m", modules, files)) == expected


def test_identity_of_the_bundled_model_needs_no_weights_read() -> None:
    assert model_identity(embedding_settings("all-MiniLM-L6-v2")) == {
        "model": "all-MiniLM-L6-v2",
        "weights": "53aa51172d142c89d9012cce15ae4d6c",
        "dimensions": 384,
        "dtype": "float32",
        "query_prompt": "",
        "passage_prompt": "",
    }


def test_identity_follows_content_and_settings_not_place(tmp_path: Path) -> None:
    here = model_identity(embedding_settings(lay_out(tmp_path / "a" / "m", None, HIDDEN)))
    there = lay_out(tmp_path / "b" / "m", None, HIDDEN)
    assert model_identity(embedding_settings(there)) == here
    assert model_identity(embedding_settings(there, device="auto", precision="auto")) == here
    assert model_identity(embedding_settings(there, passage_prompt="p: ")) != here
    assert model_identity(embedding_settings(there, dimensions=4)) != here
    (there / "model.safetensors").write_bytes(b"weighty")
    assert model_identity(embedding_settings(there)) != here
