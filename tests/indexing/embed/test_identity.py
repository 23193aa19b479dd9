"""A model's own files say what names it."""

from pathlib import Path

from tests.indexing.embed.conftest import embedding_settings
from tests.support.product import model_identity


def lay_out(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"hidden_size": 48}')
    (folder / "model.safetensors").write_bytes(b"weights")
    return folder


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
    here = model_identity(embedding_settings(lay_out(tmp_path / "a" / "m")))
    there = lay_out(tmp_path / "b" / "m")
    assert model_identity(embedding_settings(there)) == here
    assert model_identity(embedding_settings(there, device="auto", precision="auto")) == here
    assert model_identity(embedding_settings(there, passage_prompt="p: ")) != here
    assert model_identity(embedding_settings(there, dimensions=4)) != here
    (there / "model.safetensors").write_bytes(b"weighty")
    assert model_identity(embedding_settings(there)) != here
