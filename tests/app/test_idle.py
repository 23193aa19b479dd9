"""A server that nobody asks lets go of its models and its index, and answers the next question as before."""

import gc
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from gc import freeze, unfreeze
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from notehop import open_vault
from tests.support.processes import until
from tests.support.product import EmbedQuery, ServerSettings, VaultHandle, create_app

pytestmark = pytest.mark.model

QUESTION = "When is the launch of Atlas?"


@pytest.fixture
def vault(indexed: tuple[Path, Path]) -> Iterator[VaultHandle]:
    with open_vault(indexed[0], index_dir=indexed[1]) as opened:
        yield opened


def gone(model: weakref.ref[object]) -> bool:
    gc.collect()
    return model() is None


def test_what_rested_answers_as_before(vault: VaultHandle) -> None:
    before = vault.ask(QUESTION)
    model = weakref.ref(vault.embed_model)
    retriever = vault.retriever()
    assert not vault.rest(60), "it was asked a moment ago"
    assert vault.rest()
    assert not vault.rest(), "nothing is left to let go of"
    until(lambda: gone(model))
    assert (vault.ready, vault.generation) == (True, before.generation)
    after = vault.ask(QUESTION)
    assert (after.answer, after.citations) == (before.answer, before.citations)
    vault.rest()
    assert retriever.retrieve(QUESTION)[0].node.metadata["path"] == "Atlas.md"


def test_a_model_that_was_loaded_for_vectors_alone_rests_too(vault: VaultHandle) -> None:
    vault.rest()
    vault.embed(EmbedQuery(texts=["a harbour"]))
    assert not vault.rest(60), "it was asked a moment ago"
    model = weakref.ref(vault.embed_model)
    assert vault.rest()
    until(lambda: gone(model))


def test_queries_that_run_are_not_disturbed(vault: VaultHandle) -> None:
    with ThreadPoolExecutor(4) as threads:
        running = [threads.submit(vault.ask, QUESTION) for _ in range(8)]
        for _ in range(4):
            vault.rest()
            time.sleep(0.1)
    assert {one.result().answer for one in running} == {vault.ask(QUESTION).answer}


def test_a_closed_vault_stays_closed(indexed: tuple[Path, Path]) -> None:
    vault = open_vault(indexed[0], index_dir=indexed[1])
    vault.close()
    assert not vault.rest()


@pytest.fixture
def _freezing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server freezes what it loaded, and thaws it again, as it does for users (tests/conftest.py)."""
    monkeypatch.setattr(gc, "freeze", freeze)
    monkeypatch.setattr(gc, "unfreeze", unfreeze)
    yield
    gc.collect()
    freeze()


@pytest.mark.usefixtures("_freezing")
@pytest.mark.parametrize("minutes", [0.001, 0])
def test_the_server_sees_to_it(vault: VaultHandle, minutes: float) -> None:
    app = create_app(vault, ServerSettings(idle_minutes=minutes))
    with TestClient(app, base_url="http://127.0.0.1:8765") as client:
        first = client.post("/query", json={"question": QUESTION}).json()
        model = weakref.ref(vault.embed_model)
        if not minutes:
            time.sleep(0.3)
            assert model() is not None
            return
        until(lambda: model() is None)  # of cycles, too, nobody else reminds it
        assert client.get("/health/ready").status_code == 200
        assert client.get("/health").json()["generation"] == first["generation"]
        again = client.post("/query", json={"question": QUESTION}).json()
    assert again["answer"] == first["answer"]
