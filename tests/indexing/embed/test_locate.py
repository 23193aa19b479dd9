"""A model is bundled, a folder, or a copy in the hub's cache; only a word of the user downloads."""

from __future__ import annotations

from pathlib import Path

import pytest

from notehop.config.errors import ModelError
from notehop.indexing.embed.bundled import bundled_folder
from notehop.indexing.embed.locate import canonical_name, model_folder, weights_files


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache, empty."""
    from huggingface_hub import constants

    cache = tmp_path / "hub"
    cache.mkdir()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    return cache


def snapshot(cache: Path, name: str, *files: str) -> Path:
    """Lay out a cached snapshot as the hub's library does."""
    model = cache / f"models--{name.replace('/', '--')}"
    folder = model / "snapshots" / ("a" * 40)
    folder.mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("a" * 40)
    for file in files:
        (folder / file).write_text("{}")
    return folder


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_the_bundled_model_has_two_names(name: str) -> None:
    assert canonical_name(name) == "all-MiniLM-L6-v2"
    assert model_folder(name) == bundled_folder()


def test_a_folder_goes_by_its_last_part(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert canonical_name(str(tmp_path / "mine")) == "mine"
    assert canonical_name("BAAI/bge-small-en") == "BAAI/bge-small-en"
    assert canonical_name("paraphrase-x") == "sentence-transformers/paraphrase-x"


def test_a_folder_that_holds_no_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no sentence-transformers model"):
        model_folder(str(tmp_path))


@pytest.mark.parametrize("name", ["/nowhere/at/all", "./nowhere", "~/nowhere", "a/b/c", "a b"])
def test_what_is_neither_folder_nor_hub_name(name: str) -> None:
    with pytest.raises(ModelError, match="there is no folder"):
        model_folder(name)


@pytest.mark.usefixtures("no_network")
def test_a_cached_model_is_found_without_a_network(hub: Path) -> None:
    folder = snapshot(hub, "intfloat/e5-small", "config.json", "model.safetensors")
    assert model_folder("intfloat/e5-small") == folder


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("files", [(), ("config.json",)], ids=["nothing", "no-weights"])
def test_a_missing_model_says_what_to_do(hub: Path, files: tuple[str]) -> None:
    if files:
        snapshot(hub, "intfloat/e5-small", *files)
    with pytest.raises(ModelError, match=r"models pull intfloat/e5-small.*allow_download = true"):
        model_folder("intfloat/e5-small")


def test_weights_of_other_backends_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    for name in ("model.safetensors", "onnx/model.bin", "config.json"):
        (tmp_path / name).write_text("")
    assert weights_files(tmp_path) == [tmp_path / "model.safetensors"]
