"""``notehop models``: what is here and in use, and a fetch on the user's word."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.embed.fake_hub import COMMIT, NAME, NEEDED, Hub, name_hub, running_hub
from tests.support.product import run
from tests.support.tables import rows


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache, empty; and no vault here."""
    from huggingface_hub import constants

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """The hub that the library asks, on the loopback, with a cross-encoder."""
    with running_hub() as server:
        name_hub(server, monkeypatch)
        shape = {"architectures": ["BertForSequenceClassification"]}
        server.files["config.json"] = json.dumps(shape).encode()
        yield server


def models(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(["models", *arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def listed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, object]]:
    code, out, _ = models(capsys, "--json", *arguments)
    assert code == 0
    return {one["name"]: one for one in json.loads(out)["models"]}


def test_the_model_that_comes_with_it_is_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = models(capsys)
    assert (code, err) == (0, "")
    first, told, *_ = out.splitlines()
    assert first == "all-MiniLM-L6-v2  in use: embedding.model"
    assert "embedding, comes with notehop, " in told
    assert told.endswith(" MB, 384 dimensions, en")


def test_what_the_settings_name_and_is_not_here(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTEHOP_RERANK__MODEL", "someone/reranker")
    monkeypatch.setenv("NOTEHOP_EMBEDDING__MODEL", "someone/embedder")
    code, out, err = models(capsys)
    assert code == 0
    assert "cross-encoder, not on this machine" in out
    assert "models pull someone/reranker" in err
    assert "models pull someone/embedder" in err
    found = listed(capsys)
    assert found["someone/reranker"]["used_by"] == ["rerank.model"]
    assert found["all-MiniLM-L6-v2"]["used_by"] == []


def test_a_fetch_says_what_from_where_and_how_large(
    capsys: pytest.CaptureFixture[str], hub: Hub, cache: Path
) -> None:
    code, out, err = models(capsys, "pull", NAME)
    assert code == 0
    assert f"{NAME} of {hub.url}, commit {COMMIT[:12]}: " in err
    assert f" MB in {len(NEEDED)} files, licence mit; to {cache}" in err
    assert f"{NAME} fetched: {cache}" in out
    assert f'To use it, set rerank.model = "{NAME}"' in out
    assert listed(capsys)[NAME]["kind"] == "reranker"
    assert listed(capsys)[NAME]["languages"] == ["en", "de"]


@pytest.mark.parametrize(("arguments", "code", "said"), rows(__file__, "mistakes"))
def test_mistakes(
    capsys: pytest.CaptureFixture[str],
    hub: Hub,  # noqa: ARG001
    arguments: list[str],
    code: int,
    said: str,
) -> None:
    found, out, err = models(capsys, *arguments)
    assert (found, out) == (code, "")
    assert said in err
