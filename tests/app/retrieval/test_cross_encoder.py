"""A cross-encoder is found on this machine, loaded once, and its faults are told as such."""

from __future__ import annotations

from pathlib import Path

import pytest

from notehop.app.retrieval.cross_encoder import CrossEncoderScorer, reranker_folder
from notehop.config import load_settings
from notehop.config.errors import ModelError
from tests.app.retrieval.tiny_cross_encoder import save_cross_encoder

pytestmark = pytest.mark.model

PASSAGES = ["the launch of atlas is in june", "bread", "priya needs more weeks"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_cross_encoder(tmp_path_factory.mktemp("models") / "tiny")


def scorer(model: Path | str) -> CrossEncoderScorer:
    settings = load_settings(overrides={"rerank.model": str(model), "rerank.device": "cpu"})
    return CrossEncoderScorer(settings.rerank)


def test_scores_are_those_of_the_model(folder: Path) -> None:
    from sentence_transformers import CrossEncoder

    ours = scorer(folder)
    ours.load()
    query = "when is the launch"
    expected = CrossEncoder(str(folder), device="cpu").predict([(query, p) for p in PASSAGES])
    assert ours.scores(query, PASSAGES) == pytest.approx([float(one) for one in expected])
    assert len(set(ours.scores(query, PASSAGES))) == 3


def test_a_pair_longer_than_the_window_is_cut(folder: Path) -> None:
    ours = scorer(folder)
    ours.load()
    assert len(ours.scores("launch", ["the launch of atlas " * 200])) == 1


def test_loading_asks_no_network(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    scorer(folder).load()


def test_a_model_of_several_scores_is_refused_once_and_for_all(tmp_path: Path) -> None:
    several = save_cross_encoder(tmp_path / "several", labels=3)
    ours = scorer(several)
    with pytest.raises(ModelError, match="one score a pair") as first:
        ours.load()
    (several / "config.json").unlink()
    with pytest.raises(ModelError) as second:
        ours.load()
    assert second.value is first.value


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("nobody/nothing", "models pull nobody/nothing", id="hub name"),
        pytest.param("nothing", "models pull cross-encoder/nothing", id="no organisation"),
        pytest.param("./not/here", "there is no folder", id="no folder"),
    ],
)
def test_what_is_not_here_says_what_to_do(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match=said):
        scorer(name).load()


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="holds no model"):
        reranker_folder(str(tmp_path))
