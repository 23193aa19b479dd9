"""What is derived is made whole from what else holds it, without a model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from notehop.indexing.embed.door import Door
from notehop.indexing.stores import heal
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.reader_upkeep import bring_up_to_date
from notehop.indexing.stores.table import VectorTable
from notehop.indexing.stores.table_files import read_manifest
from notehop.indexing.stores.vectors import Vectors
from tests.indexing.stores.index_samples import SampleIndex, record


@pytest.fixture
def two_parts(index: SampleIndex) -> SampleIndex:
    index.write(record("a.md", "alpha", to=["b"]), record("b.md", "beta", to=["c"]))
    index.write(record("c.md", "gamma", to=["a"]))
    return index


def refilled(index: SampleIndex) -> int:
    with index.catalog() as catalog, catalog.snapshot() as view, index.vectors() as store:
        return heal.refill(index.layout, view, store)


def stored(index: SampleIndex) -> dict[str, dict[str, list[float]]]:
    with index.vectors() as store:
        return {
            name: dict(zip(ids, rows.round(5).tolist(), strict=True))
            for name in heal._NAMES
            for ids, rows in [store.get(name, sorted(store.ids(name)))]
        }


def test_a_store_that_is_gone_is_filled_from_the_tables(two_parts: SampleIndex) -> None:
    before = stored(two_parts)
    heal.remove_store(two_parts.layout)
    assert not two_parts.layout.chroma.exists()
    assert refilled(two_parts) == 6
    assert stored(two_parts) == before
    assert refilled(two_parts) == 0


def test_a_store_that_lacks_a_few_gets_those(two_parts: SampleIndex) -> None:
    before = stored(two_parts)
    with two_parts.vectors() as store:
        store.delete("chunks", [next(iter(before["chunks"]))])
        store.delete("links", [next(iter(before["links"]))])
    assert refilled(two_parts) == 2
    assert stored(two_parts) == before


def test_more_than_a_batch(two_parts: SampleIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heal, "_BATCH", 2)
    before = stored(two_parts)
    heal.remove_store(two_parts.layout)
    assert refilled(two_parts) == 6
    assert stored(two_parts) == before


def test_tables_of_another_index_fill_nothing(two_parts: SampleIndex) -> None:
    heal.remove_store(two_parts.layout)
    two_parts.layout.catalog.unlink()
    two_parts.write(record("a.md", "alpha"), derived=False, ahead=False)
    heal.remove_store(two_parts.layout)
    assert refilled(two_parts) == 0


def part_files(index: SampleIndex, suffix: str) -> list[Path]:
    folder = index.layout.vectors
    return [folder / f"{part.file}{suffix}" for part in read_manifest(folder, "chunks").parts]


@pytest.mark.parametrize(
    ("suffix", "harm"),
    [
        pytest.param(".npy", lambda file: file.unlink(), id="no matrix"),
        pytest.param(".npy", lambda file: file.write_bytes(file.read_bytes()[:-9]), id="cut"),
        pytest.param(".ids", lambda file: file.unlink(), id="no ids"),
        pytest.param(".ids", lambda file: file.write_text("x"), id="other ids"),
    ],
)
def test_a_broken_part_leaves_its_table_and_the_others_stay(
    two_parts: SampleIndex, suffix: str, harm: Callable[[Path], object]
) -> None:
    layout = two_parts.layout
    first, second = part_files(two_parts, suffix)
    harm(first)
    assert heal.remove_broken_parts(layout, ()) == ["chunks"]
    manifest = read_manifest(layout.vectors, "chunks")
    assert (manifest.generation, [part.rows for part in manifest.parts]) == (0, [1])
    assert second.exists()
    assert not first.exists()
    assert heal.remove_broken_parts(layout, ()) == []
    with two_parts.catalog() as catalog, two_parts.vectors() as store:
        bring_up_to_date(layout, catalog, lambda: store)
        assert VectorTable.open(layout.vectors, "chunks").generation == catalog.generation
    assert len(VectorTable.open(layout.vectors, "chunks")) == 3


def test_a_part_that_is_known_to_be_harmed_leaves_too(two_parts: SampleIndex) -> None:
    """Its size and form are right, its numbers are not: only a checksum tells."""
    first, _ = part_files(two_parts, ".npy")
    assert heal.remove_broken_parts(two_parts.layout, [f"vectors/{first.name}"]) == ["chunks"]
    assert [part.rows for part in read_manifest(two_parts.layout.vectors, "chunks").parts] == [1]


def test_a_manifest_that_cannot_be_read_is_removed(two_parts: SampleIndex) -> None:
    (two_parts.layout.vectors / "links.json").write_text("{")
    assert heal.remove_broken_parts(two_parts.layout, ()) == ["links"]
    assert not (two_parts.layout.vectors / "links.json").exists()
    shutil.rmtree(two_parts.layout.vectors)
    assert heal.remove_broken_parts(two_parts.layout, ()) == []


def test_a_broken_lexical_file_is_removed(two_parts: SampleIndex) -> None:
    file = two_parts.layout.lexical / heal.LEXICAL_FILE
    assert not heal.remove_broken_lexical(two_parts.layout)
    assert file.exists()
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert heal.remove_broken_lexical(two_parts.layout)
    assert not file.exists()
    assert not heal.remove_broken_lexical(two_parts.layout)


def test_files_in_the_place_of_folders_are_removed(tmp_path: Path) -> None:
    layout = IndexLayout(tmp_path)
    layout.chroma.write_text("x")
    layout.model.mkdir()
    heal.remove_what_is_no_folder(layout)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.fixture
def door(tmp_path: Path) -> IndexLayout:
    layout = IndexLayout(tmp_path)
    layout.model.mkdir()
    (layout.model / "query-1.onnx").write_text("model")
    (layout.model / "tokenizer-1.json").write_text("tokens")
    said = Door(
        identity={},
        dimensions=8,
        truncate=None,
        max_tokens=9,
        query_prompt="",
        passage_prompt="",
        files={"model": ("query-1.onnx", 5), "tokenizer": ("tokenizer-1.json", 6)},
    )
    (layout.model / "door.json").write_text(said.text())
    return layout


@pytest.mark.parametrize(
    ("harmed", "broken"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param(["model/query-1.onnx"], True, id="other bytes"),
        pytest.param(["model/query-0.onnx"], False, id="a file of an earlier door"),
    ],
)
def test_a_door_whose_files_are_harmed_is_removed(
    door: IndexLayout, harmed: list[str], broken: bool
) -> None:
    assert heal.remove_broken_door(door, harmed) is broken
    assert (door.model / "door.json").exists() is not broken


def test_a_door_that_lacks_a_file_is_removed(door: IndexLayout) -> None:
    (door.model / "tokenizer-1.json").unlink()
    assert heal.remove_broken_door(door, ["model/tokenizer-1.json"])


def test_a_door_that_is_gone_is_missed_only_where_there_was_one(door: IndexLayout) -> None:
    (door.model / "door.json").unlink()
    assert heal.remove_broken_door(door, ["model/door.json"])
    assert not heal.remove_broken_door(door, [])


def test_a_door_that_says_why_there_is_none_is_whole(door: IndexLayout) -> None:
    said = json.loads((door.model / "door.json").read_text())
    (door.model / "door.json").write_text(json.dumps({**said, "files": {}, "reason": "no export"}))
    assert not heal.remove_broken_door(door, [])


def test_the_store_is_searched_after_it_was_refilled(two_parts: SampleIndex) -> None:
    heal.remove_store(two_parts.layout)
    refilled(two_parts)
    with Vectors.open(two_parts.layout.chroma, 8) as store:
        [one, *_] = sorted(store.ids("chunks"))
        _, rows = store.get("chunks", [one])
        assert store.nearest("chunks", rows[0], 1) == [(one, pytest.approx(1.0, abs=1e-5))]
        assert np.isfinite(rows).all()
