"""The model for queries is exported once a user: a second vault's index shares its files."""

import os
import shutil
from pathlib import Path

import pytest

from notehop import index_vault, open_vault
from tests.support.product import load_settings, shared_export
from tests.support.real_index import lend_query_model

pytestmark = pytest.mark.model


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A vault whose index has an export of its own, as one that was made before there was a cache."""
    vault = vault_of(tmp_path, "first", "The tide comes at noon.")
    lend_query_model(vault, tmp_path / "first index")
    index_vault(vault, index_dir=tmp_path / "first index")
    return tmp_path / "first index"


def vault_of(root: Path, name: str, text: str) -> Path:
    (root / name / ".obsidian").mkdir(parents=True)
    (root / name / "Note.md").write_text(f"# Note\n{text}\n", "utf-8")
    return root / name


def model(index: Path) -> Path:
    (file,) = (index / "model").glob("query-*.onnx")
    return file


def cached(home: Path) -> Path:
    (folder,) = [path for path in (home / ".cache/notehop/query-models").iterdir() if path.is_dir()]
    return folder


def without_export(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a model is exported or torch is loaded."""

    def refuse(*_: object) -> None:
        raise AssertionError("the model was exported")

    monkeypatch.setattr("notehop.indexing.embed.onnx_model.export_query_model", refuse)
    monkeypatch.setattr("notehop.indexing.embed.torch_embedding.load_bulk", refuse)


def test_a_second_vault_exports_nothing_and_takes_no_room_for_it(
    first: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_export(monkeypatch)
    second = vault_of(tmp_path, "second", "The bread is baked on Sunday.")
    index_vault(second, index_dir=tmp_path / "second index")
    assert model(tmp_path / "second index").samefile(model(first))
    assert (cached(home) / model(first).name).samefile(model(first))
    assert cached(home).parent.stat().st_mode & 0o077 == 0
    with open_vault(second, index_dir=tmp_path / "second index") as vault:
        assert vault.search("when is bread baked?").hits[0].path == "Note.md"


def test_an_index_goes_on_without_the_cache(
    first: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_export(monkeypatch)
    for path in cached(home).iterdir():
        path.unlink()
    with open_vault(tmp_path / "first", index_dir=first) as vault:
        assert vault.search("when is the tide?").hits
    # The next run that has something to do shares it again.
    (tmp_path / "first" / "New.md").write_text("A new note.\n", "utf-8")
    index_vault(tmp_path / "first", index_dir=first)
    assert (cached(home) / model(first).name).samefile(model(first))


@pytest.fixture
def flipped(first: Path) -> Path:
    """The first index, a byte of whose model was flipped by the disk: its time is what it was."""
    file = model(first)
    found = file.stat()
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x40
    other = file.with_name("other")
    other.write_bytes(data)
    other.replace(file)
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    return first


def test_a_model_that_a_disk_has_harmed_is_not_asked_and_comes_from_the_cache(
    flipped: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def torch(*_: object) -> None:
        asked.append(1)
        raise InterruptedError

    monkeypatch.setattr("notehop.indexing.embed.torch_embedding.load_bulk", torch)
    with open_vault(tmp_path / "first", index_dir=flipped) as vault, pytest.raises(InterruptedError):
        vault.search("when is the tide?")
    assert asked
    without_export(monkeypatch)
    (tmp_path / "first" / "New.md").write_text("A new note.\n", "utf-8")
    index_vault(tmp_path / "first", index_dir=flipped)
    assert model(flipped).samefile(cached(home) / model(flipped).name)
    with open_vault(tmp_path / "first", index_dir=flipped) as vault:
        assert vault.search("when is the tide?").hits


def test_a_model_of_other_settings_is_not_shared_under_their_name(
    first: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_export(monkeypatch)
    other = load_settings().with_overrides({"embedding.query_prompt": "find: "})
    vault = vault_of(tmp_path, "second", "The bread is baked on Sunday.")
    # As a first run leaves it that was cut off when it had exported its model.
    lend_query_model(vault, tmp_path / "cut off")
    with pytest.raises(AssertionError, match="the model was exported"):
        index_vault(vault, index_dir=tmp_path / "cut off", settings=other)
    assert model(first).samefile(cached(home) / model(first).name), "the only one"
    # Where another one lies under that name all the same, it is made anew.
    shutil.copytree(cached(home), shared_export(other.embedding))
    with pytest.raises(AssertionError, match="the model was exported"):
        index_vault(vault, index_dir=tmp_path / "index", settings=other)


def test_a_cache_that_cannot_be_used_is_done_without(tmp_path: Path, home: Path) -> None:
    home.mkdir()
    (home / ".cache").write_text("a file in the way")
    vault = vault_of(tmp_path, "first", "The tide comes at noon.")
    lend_query_model(vault, tmp_path / "index")
    index_vault(vault, index_dir=tmp_path / "index")
    with open_vault(vault, index_dir=tmp_path / "index") as opened:
        assert opened.search("tide").hits
