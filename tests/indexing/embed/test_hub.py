"""A model is fetched when it may be, whole or not at all, checked, and used offline ever after."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.indexing.embed.conftest import embedding_settings, load_bulk
from tests.indexing.embed.fake_hub import COMMIT, FILES, NAME, NEEDED, Hub, name_hub, running_hub
from tests.support.product import ModelError, UsageError, ask, cached_folder, fetch


@pytest.fixture
def hub() -> Iterator[Hub]:
    with running_hub() as server:
        yield server


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from huggingface_hub import constants

    folder = tmp_path / "hub"
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    return folder


def test_fetched_and_found(hub: Hub, cache: Path) -> None:
    folder = fetch(ask(NAME, hub.url))
    found = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert sorted(found) == NEEDED
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert cached_folder(NAME) == folder
    assert folder.is_relative_to(cache)


def test_a_fetch_that_was_cut_off_is_no_model_and_goes_on(hub: Hub) -> None:
    hub.refuses = {"1_Pooling/config.json"}
    model = ask(NAME, hub.url)
    with pytest.raises(ModelError, match="status 403"):
        fetch(model)
    assert hub.fetched == ["config.json", "modules.json", "model.safetensors"]
    assert cached_folder(NAME) is None
    hub.refuses = set()
    hub.fetched = []
    fetch(model)
    assert cached_folder(NAME) is not None
    assert "model.safetensors" not in hub.fetched


def test_half_a_model_is_none_where_the_hub_cannot_list_its_files(hub: Hub, cache: Path) -> None:
    half = cache / f"models--{NAME.replace('/', '--')}" / "snapshots" / COMMIT
    half.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (half / name).write_bytes(FILES[name])
    hub.stumbles = 1
    model = ask(NAME, hub.url)
    with pytest.raises(ModelError, match="answered with status 501"):
        fetch(model)
    assert cached_folder(NAME) is None
    assert all((fetch(model) / name).is_file() for name in NEEDED)


@pytest.mark.parametrize("name", ["model.safetensors", "modules.json"], ids=["large", "small"])
def test_a_file_that_is_not_what_it_should_be_is_thrown_away(hub: Hub, name: str) -> None:
    data = FILES[name]
    hub.lies = {name: bytes(len(data))}
    model = ask(NAME, hub.url)
    with pytest.raises(ModelError, match=f"{name} is not what {hub.url} says"):
        fetch(model)
    assert cached_folder(NAME) is None
    hub.lies = {}
    assert (fetch(model) / name).read_bytes() == data


def test_a_new_commit_takes_over_only_when_it_is_whole(hub: Hub, cache: Path) -> None:
    old = cache / f"models--{NAME.replace('/', '--')}"
    (old / "snapshots" / "old").mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        (old / "snapshots" / "old" / name).write_bytes(b"{}")
    (old / "refs").mkdir()
    (old / "refs" / "main").write_text("old")
    hub.refuses = {"modules.json"}
    model = ask(NAME, hub.url)
    with pytest.raises(ModelError):
        fetch(model)
    assert cached_folder(NAME) == old / "snapshots" / "old"
    hub.refuses = set()
    assert fetch(model) == cached_folder(NAME) == old / "snapshots" / COMMIT


def test_a_hub_that_cannot_be_reached() -> None:
    gone = "http://127.0.0.1:9"
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9 cannot be reached.*online"):
        ask(NAME, gone)


@pytest.mark.parametrize("name", ["tiny", "", "../etc/passwd", "a/b/c", "a b/c", "https://x/y"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(UsageError, match="is no name of a model"):
        ask(name, "http://127.0.0.1:9")


@pytest.mark.slow
def test_fetched_once_then_offline(
    hub: Hub, make_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_model(prompts={"query": "query: ", "passage": "passage: "})
    files = [file for file in folder.rglob("*") if file.is_file()]
    hub.files = {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}
    name_hub(hub, monkeypatch)
    settings = embedding_settings(NAME)
    with pytest.raises(ModelError, match="run: notehop models pull someone/tiny"):
        load_bulk(settings)
    assert hub.fetched == []
    fetch(ask(NAME, hub.url))
    fetched = list(hub.fetched)
    bulk = load_bulk(settings)
    assert (bulk.description.name, bulk.description.prompts.passage) == (NAME, "passage: ")
    assert bulk.embed(["plan"]).shape == (1, 32)
    assert hub.fetched == fetched
