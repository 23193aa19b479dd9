"""A vector store that is broken is found out, also where it does not say so itself."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from notehop.indexing.stores import probe
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.probe import examine, probe_apart
from notehop.indexing.stores.table import VectorTable
from notehop.indexing.stores.vectors import Vectors

DIMENSIONS = 16

COUNT = 1_500
"""More than a thousand: from there on the store writes its graph to files of its own."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    layout = IndexLayout(tmp_path_factory.mktemp("probe"))
    rows = np.random.default_rng(1).standard_normal((COUNT, DIMENSIONS)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    ids = [f"id {n:04}" for n in range(COUNT)]
    with Vectors.open(layout.chroma, DIMENSIONS) as store:
        for start in range(0, COUNT, 500):
            store.upsert("chunks", ids[start : start + 500], rows[start : start + 500])
        store.upsert("links", ["one"], rows[:1])
    VectorTable.build(layout.vectors, "chunks", ids, rows, 1)
    VectorTable.build(layout.vectors, "links", ["one"], rows[:1], 1)
    return layout.root


@pytest.fixture
def layout(sound: Path, tmp_path: Path) -> IndexLayout:
    shutil.copytree(sound, tmp_path / "index")
    return IndexLayout(tmp_path / "index")


def graph_file(layout: IndexLayout, name: str) -> Path:
    """A file of the larger of the store's two graphs."""
    return max(layout.chroma.glob(f"*/{name}"), key=lambda file: file.stat().st_size)


def examined(layout: IndexLayout) -> str | None:
    return examine(layout.chroma, layout.vectors, DIMENSIONS)


def test_a_sound_store(layout: IndexLayout) -> None:
    assert probe_apart(layout, DIMENSIONS, COUNT) is None
    with Vectors.open(layout.chroma, DIMENSIONS) as store:
        assert store.count("chunks") == COUNT


def test_a_store_without_tables_is_taken_at_its_word(layout: IndexLayout) -> None:
    shutil.rmtree(layout.vectors)
    assert examined(layout) is None


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        pytest.param("data_level0.bin", lambda data: data[: len(data) // 2], id="half"),
        pytest.param("length.bin", lambda data: bytes(len(data)), id="no lengths"),
        pytest.param("index_metadata.pickle", lambda _: b"", id="no numbers of ids"),
        pytest.param("link_lists.bin", lambda data: bytes(len(data)), id="no links"),
    ],
)
def test_a_graph_that_is_broken(
    layout: IndexLayout, name: str, harm: Callable[[bytes], bytes]
) -> None:
    """Some of it the store says, of some it hands out wrong vectors, of some it dies."""
    file = graph_file(layout, name)
    file.write_bytes(harm(file.read_bytes()))
    assert probe_apart(layout, DIMENSIONS, COUNT) is not None


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        pytest.param(lambda file: file.unlink(), "unable to open", id="gone"),
        pytest.param(lambda file: file.write_bytes(b""), "is damaged", id="empty"),
        pytest.param(lambda file: file.write_bytes(b"x" * 9_000), "not a database", id="garbage"),
        pytest.param(lambda file: os.truncate(file, 20_480), "malformed", id="cut"),
    ],
)
def test_a_database_that_is_broken(
    layout: IndexLayout, harm: Callable[[Path], object], says: str
) -> None:
    harm(layout.chroma / "chroma.sqlite3")
    assert says in (examined(layout) or "")


def test_vectors_of_others(layout: IndexLayout) -> None:
    with Vectors.open(layout.chroma, DIMENSIONS) as store:
        ids, rows = store.get("chunks", ["id 0700", "id 0701"])
        store.upsert("chunks", ids, rows[::-1])
    assert examined(layout) == "vectors of chunks are not those that were written"


def _stand_in(tmp_path: Path, script: str) -> str:
    file = tmp_path / "python"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize(
    ("script", "says"),
    [
        pytest.param("exec sleep 30", "it does not answer", id="hangs"),
        pytest.param("kill -SEGV $$", "it ends the process that reads it", id="crashes"),
        pytest.param("echo so and so; exit 3", "so and so", id="says what"),
        pytest.param("exit 1", None, id="cannot run"),
    ],
)
def test_what_the_end_of_the_process_says(
    layout: IndexLayout,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    says: str | None,
) -> None:
    monkeypatch.setattr(sys, "executable", _stand_in(tmp_path, script))
    monkeypatch.setattr(probe, "_SECONDS", 1.0)
    assert probe_apart(layout, DIMENSIONS, 0) == says


def test_no_python_no_verdict(layout: IndexLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(layout.root / "nowhere"))
    assert probe_apart(layout, DIMENSIONS, 0) is None
