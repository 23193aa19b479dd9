"""The bulk door: order, length, prompts, precision and progress of passages through torch."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.indexing.embed.conftest import Tiny, embedding_settings, load_bulk
from tests.support.product import ModelError, SettingsError

MakeModel = Callable[..., Path]

TEXTS = [
    "plan",
    "the budget of the team is a draft",
    "ana",
    "notes from the meeting with jonas, who was to review the book by the launch date",
    "launch",
    "a list of books",
    "",
]


def test_vectors_are_unit_rows_in_the_order_given(tiny: Tiny) -> None:
    bulk = load_bulk(tiny(normalize=False), batch_size=2)
    rows = bulk.embed(TEXTS)
    assert rows.shape == (len(TEXTS), bulk.dimensions) == (7, 32)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.allclose(bulk.embed([text])[0], row, atol=1e-5), "neighbours must not matter"


def test_passes_side_by_side_give_the_same_vectors(tiny: Tiny) -> None:
    texts = [f"{text} {number}" for number in range(20) for text in TEXTS]
    one = load_bulk(tiny(), batch_size=3, threads=1)
    two = load_bulk(tiny(), batch_size=3, threads=2)
    seen: list[int] = []
    assert np.allclose(two.embed(texts, seen.append), one.embed(texts), atol=1e-6)
    assert seen == sorted(seen)
    assert seen[-1] == len(texts)


def test_prompts_stand_before_queries_and_passages(make_model: MakeModel) -> None:
    folder = make_model(prompts={"query": "query: ", "passage": "passage: "})
    bulk = load_bulk(embedding_settings(folder))
    bare = load_bulk(embedding_settings(folder, query_prompt="", passage_prompt=""))
    assert np.allclose(bulk.embed(["plan"]), bare.embed(["passage: plan"]), atol=1e-5)
    assert np.allclose(bulk.vectors(["plan"], "query"), bare.embed(["query: plan"]), atol=1e-5)
    assert not np.allclose(bare.embed(["plan"]), bulk.embed(["plan"]), atol=1e-2)
    assert bulk.identity() != bare.identity()


def test_cut_vectors_are_unit_vectors_again(make_model: MakeModel) -> None:
    folder = make_model()
    whole = load_bulk(embedding_settings(folder)).embed(TEXTS[:4])
    cut = load_bulk(embedding_settings(folder, dimensions=8))
    expected = whole[:, :8] / np.linalg.norm(whole[:, :8], axis=1, keepdims=True)
    assert cut.dimensions == 8
    assert np.allclose(cut.embed(TEXTS[:4]), expected, atol=1e-5)
    with pytest.raises(SettingsError, match="have 32"):
        load_bulk(embedding_settings(folder, dimensions=33))


def test_a_model_that_does_not_load_is_named(make_model: MakeModel) -> None:
    folder = make_model()
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelError, match="does not load"):
        load_bulk(embedding_settings(folder))


def test_a_pass_that_memory_does_not_hold_is_halved(tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    bulk, holds = load_bulk(tiny()), 2
    expected, encode = bulk.embed(TEXTS), bulk.model.encode

    def of_little_memory(texts: list[str], **options: object) -> object:
        if len(texts) > holds:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB. GPU 0 has …")
        return encode(texts, **options)

    monkeypatch.setattr(bulk.model, "encode", of_little_memory)
    assert np.allclose(bulk.embed(TEXTS), expected, atol=1e-6)
    holds = 0
    with pytest.raises(ModelError, match=r"failed on 1 text on cpu: CUDA out of memory$"):
        bulk.embed(TEXTS)


def test_vectors_that_are_no_numbers_are_an_error(tiny: Tiny) -> None:
    bulk = load_bulk(tiny())
    bulk.model[0].model.embeddings.word_embeddings.weight.data.fill_(float("nan"))
    with pytest.raises(ModelError, match="no numbers"):
        bulk.embed(["plan"])


@pytest.mark.usefixtures("no_network")
def test_loading_uses_no_network_and_shows_no_bars(
    make_model: MakeModel, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = make_model()
    capfd.readouterr()
    load_bulk(embedding_settings(folder, precision="auto")).embed(TEXTS)
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


@pytest.mark.model
def test_the_bundled_model_in_the_best_precision_agrees_with_float32() -> None:
    best = load_bulk(embedding_settings("all-MiniLM-L6-v2", precision="auto"))
    exact = load_bulk(embedding_settings("all-MiniLM-L6-v2", precision="float32"))
    assert exact.precision == "float32"
    assert best.precision in ("float32", "bfloat16")
    assert best.identity() == exact.identity()
    texts = [
        "The launch moved to the second week of May because the printer is late.",
        "Buy milk",
        "A recipe for bread without kneading: flour, water, salt, yeast and a night. " * 8,
    ]
    rows = best.embed(texts)
    assert (rows * exact.embed(texts)).sum(axis=1).min() >= 0.999
    alone = np.concatenate([best.embed([text]) for text in texts])
    assert (rows * alone).sum(axis=1).min() >= 0.9995
    ask = exact.vectors(["when do we launch?", "how do I bake?"], "query")
    assert (ask @ rows.T).argmax(axis=1).tolist() == [0, 2]
