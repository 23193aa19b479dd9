"""A tiny sentence-transformers model, made on the spot, and settings that name it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.product import EmbeddingSettings
from tests.support.tiny_bert import save_bert

WORDS = """
    the a of and to in is that it for on with as was at by this from note notes link links meeting
    plan budget launch date team review draft book list query passage search title text ana jonas
    """.split()  # noqa: SIM905 (a list of forty strings is harder to read)
PIECES = [*"abcdefghijklmnopqrstuvwxyz0123456789.,:;!?#-|'", *(f"##{c}" for c in "abcdefghijklmnop")]

MakeModel = Callable[..., Path]
Tiny = Callable[..., EmbeddingSettings]


def load_bulk(settings: EmbeddingSettings, batch_size: int = 4, threads: int = 1) -> Any:
    """A model for passages. Its module loads torch: not while tests are collected."""
    import torch

    from tests.support.product import load_bulk as load

    torch.set_num_threads(threads)
    loaded = load(settings)
    loaded.embed_batch_size = batch_size
    return loaded


def embedding_settings(model: str | Path, **changes: Any) -> EmbeddingSettings:
    """Settings as they are by default, but for the precision."""
    said: dict[str, Any] = {
        "model": str(model),
        "dimensions": None,
        "query_prompt": None,
        "passage_prompt": None,
        "device": "cpu",
        "precision": "float32",
    }
    return EmbeddingSettings(**(said | changes))


def save_model(
    folder: Path,
    *,
    pooling: str = "mean",
    dense: int | None = None,
    normalize: bool = True,
    window: int = 64,
    prompts: dict[str, str] | None = None,
    include_prompt: bool = True,
    seed: int = 0,
) -> None:
    """Save a BERT of two layers and 32 dimensions with random, but always the same, weights."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    bare = folder.with_name(f"{folder.name}-bare")
    sizes = {"num_hidden_layers": 2, "max_position_embeddings": 128}
    save_bert(bare, "BertModel", [*WORDS, *PIECES], seed=seed, window=window, **sizes)
    modules: list[Any] = [
        Transformer(str(bare), max_seq_length=window),
        Pooling(32, pooling_mode=pooling, include_prompt=include_prompt),
    ]
    if dense is not None:
        modules.append(Dense(in_features=32, out_features=dense))
    if normalize:
        modules.append(Normalize())
    SentenceTransformer(modules=modules, prompts=prompts, device="cpu").save(
        str(folder), create_model_card=False
    )


@pytest.fixture(scope="session")
def saved_models(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Each model is made once: a test gets a copy of its own, which it may harm."""
    made: dict[str, Path] = {}

    def saved(**how: Any) -> Path:
        key = repr(sorted(how.items()))
        if key not in made:
            folder = tmp_path_factory.mktemp("models") / "model"
            save_model(folder, **how)
            made[key] = folder
        return made[key]

    return saved


@pytest.fixture
def make_model(saved_models: Callable[..., Path], tmp_path: Path) -> MakeModel:
    """A tiny model in a folder of this name; arguments as those of :func:`save_model`."""

    def make(name: str = "tiny", **how: Any) -> Path:
        return Path(shutil.copytree(saved_models(**how), tmp_path / name, dirs_exist_ok=True))

    return make


@pytest.fixture
def tiny(make_model: MakeModel) -> Tiny:
    """Settings that name a tiny model; arguments are those of :func:`save_model`, or settings."""

    def chosen(name: str = "tiny", **how: Any) -> EmbeddingSettings:
        settings = {key: how.pop(key) for key in list(how) if key in EmbeddingSettings.model_fields}
        return embedding_settings(make_model(name, **how), **settings)

    return chosen


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
