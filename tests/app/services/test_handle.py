"""An opened vault answers with evidence, at once or in events, with the real model and a real index."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llama_index.core.base.llms.types import CompletionResponseGen

from notehop import open_vault
from tests.support import product
from tests.support.scripted_llm import ScriptedLLM
from tests.support.tiny_bert import save_cross_encoder

pytestmark = pytest.mark.model


def test_a_query_longer_than_the_window_is_said(opened: product.VaultHandle) -> None:
    told = opened.search("launch " * 400)
    assert any("longer than the 256 tokens" in warning for warning in told.warnings)


def test_a_query_without_words_is_said(opened: product.VaultHandle) -> None:
    [warning] = opened.search("?!").warnings
    assert "no words to look for" in warning
    assert opened.search("launch?!").warnings == []


def test_an_empty_vault_loads_no_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v" / ".obsidian").mkdir(parents=True)
    place = product.locate(tmp_path / "v", index_dir=tmp_path / "ix")
    assert product.update_index(place).notes == 0

    def load(*_: object) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("notehop.app.services.engine.load_query", load)
    with product.open_place(place) as vault:
        answer = vault.ask("anything?")
        found = vault.search("anything?")
        assert not vault.ready
    assert (answer.answer, answer.mode) == ("I found nothing in your notes that answers this.", "none")
    assert any("holds no text" in warning for warning in answer.warnings)
    assert found.hits == []
    assert found.warnings == answer.warnings


def test_threads_may_share_a_vault_from_its_first_query_on(indexed: tuple[Path, Path]) -> None:
    with open_vault(indexed[0], index_dir=indexed[1]) as vault, ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: vault.ask("When is the launch of Atlas?"), range(24)))
    assert {answer.answer for answer in found} == {found[0].answer}
    assert "14 June 2027" in found[0].answer


@pytest.mark.parametrize("kind", ["query", "passage"])
def test_vectors(opened: product.VaultHandle, kind: str) -> None:
    texts = ["the launch of the map", "bread", "the launch of the map"]
    found = opened.embed(product.EmbedQuery(texts=texts, kind=kind))  # type: ignore[arg-type]
    assert (found.model, found.dimensions) == ("all-MiniLM-L6-v2", 384)
    rows = np.array(found.vectors)
    assert rows.shape == (3, 384)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert np.allclose(rows[0], rows[2])
    assert rows[0] @ rows[1] < 0.9


QUESTION = "When is the launch of Atlas?"


def asked(indexed: tuple[Path, Path], llm: ScriptedLLM) -> product.VaultHandle:
    return open_vault(indexed[0], index_dir=indexed[1], llm=llm)


def kinds(events: list[product.StreamEvent]) -> list[str]:
    return [event.event for event in events]


def text_of(events: list[product.StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, product.TokenEvent))


def done(events: list[product.StreamEvent]) -> product.Answer:
    assert isinstance(events[-1], product.DoneEvent)
    return events[-1].answer


def same(one: product.Answer, other: product.Answer) -> bool:
    untimed = {"timings_ms": {}, "pending": None}
    return one.model_copy(update=untimed) == other.model_copy(update=untimed)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        (QUESTION, {}),
        (QUESTION, {"explain": True, "top_k": 2, "connected": {"order": "rank"}}),
        ("What is the boiling point of ethanol?", {}),
        ("path:people", {}),
        ("tag:none atlas", {}),
    ],
)
def test_quotes_are_streamed_by_the_sentence(
    opened: product.VaultHandle, question: str, options: dict[str, Any]
) -> None:
    events = list(opened.stream(question, **options))
    answer = opened.ask(question, **options)
    assert kinds(events)[:2] == ["sources", "connected"]
    assert set(kinds(events)[2:-1]) == {"token"}
    assert same(done(events), answer)
    assert text_of(events) == answer.answer
    assert isinstance(events[0], product.SourcesEvent)
    assert events[0].sources == answer.sources


class AtOnce(ScriptedLLM):
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        raise NotImplementedError


def test_a_model_that_cannot_stream_answers_at_once(indexed: tuple[Path, Path]) -> None:
    with asked(indexed, AtOnce(says="In June [1]. So it is.")) as vault:
        events = list(vault.stream(QUESTION))
    assert done(events).answer == text_of(events) == "In June [1]. So it is."
    assert done(events).mode == "llm"


def test_nothing_is_done_once_it_is_cancelled(opened: product.VaultHandle) -> None:
    assert list(opened.stream(QUESTION, cancelled=lambda: True)) == []


def test_what_goes_wrong_is_the_last_event(opened: product.VaultHandle) -> None:
    [event] = list(opened.stream("atlas after:soon"))
    assert isinstance(event, product.ErrorEvent)
    assert (event.problem.status, event.problem.type) == (422, "urn:notehop:problem:query")


QUERY = "Why is the launch of Atlas so late?"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_cross_encoder(tmp_path_factory.mktemp("models") / "tiny", seed=1)


@pytest.fixture(scope="module")
def reranked(indexed: tuple[Path, Path], model: Path) -> Iterator[product.VaultHandle]:
    vault = open_with(indexed, **{"rerank.model": str(model), "rerank.budget_ms": 60_000})
    with vault:
        yield vault


def open_with(indexed: tuple[Path, Path], **settings: object) -> product.VaultHandle:
    return product.open_place(product.locate(indexed[0], index_dir=indexed[1], overrides=settings))


def test_hits_stand_in_the_order_of_the_cross_encoder(
    reranked: product.VaultHandle, indexed: tuple[Path, Path]
) -> None:
    with open_with(indexed) as plain:
        fused = [hit.id for hit in plain.search(QUERY).hits]
    found = reranked.search(QUERY)
    assert {hit.id for hit in found.hits} == set(fused)
    assert [hit.id for hit in found.hits] != fused
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert "rerank" in found.timings_ms
    assert found.warnings == []
