"""A run looks closer where something is other than it was left, mends it, and says so once."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from notehop.config.errors import IndexDamaged
from notehop.indexing.embed.door import Door, read_door
from notehop.indexing.embed.embedder import Embedder
from notehop.indexing.pipeline import Indexer
from notehop.indexing.report import Report
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.seal import doubts, read_seal
from notehop.indexing.stores.vectors import Vectors
from tests.indexing.pipeline.conftest import Bench
from tests.indexing.pipeline.readable_model import DIMENSIONS, ReadableModel


class Probed:
    """Stands for the process that tries a vector store; ``asked`` counts how often."""

    def __init__(self, wrong: str | None = None) -> None:
        self.asked = 0
        self.wrong = wrong

    def __call__(self, *_: object) -> str | None:
        self.asked += 1
        return self.wrong


class WithDoor(ReadableModel):
    """Makes a query door where there is none, as the real one does when it is loaded."""

    def load(self, *given: Any) -> Embedder:
        super().load()
        folder: Path = given[1]
        if read_door(folder) is None:
            folder.mkdir(exist_ok=True)
            (folder / "query-1.onnx").write_text("model")
            door = Door(
                identity={},
                dimensions=DIMENSIONS,
                truncate=None,
                max_tokens=9,
                query_prompt="",
                passage_prompt="",
                files={"model": ("query-1.onnx", 5)},
            )
            (folder / "door.json").write_text(door.text())
        return self


def run(bench: Bench, probe: Probed) -> Report:
    indexer = Indexer(bench.vault, bench.settings, bench.layout, load=bench.model.load, probe=probe)
    return indexer.run()


@pytest.fixture
def filled(bench: Bench) -> Bench:
    bench.write("a.md", "See [[b]] on tides.")
    bench.write("b.md", "Here it was.")
    bench.index()
    return bench


def test_what_is_as_it_was_left_is_not_tried(filled: Bench) -> None:
    probe = Probed()
    filled.write("a.md", "See [[b]] on walls.")
    for _ in range(2):
        assert run(filled, probe).warnings == ()
    assert probe.asked == 0
    assert doubts(filled.layout, read_seal(filled.layout)) == {}


def test_a_store_that_was_opened_by_another_is_tried_once(filled: Bench) -> None:
    with Vectors.open(filled.layout.chroma, DIMENSIONS) as store:
        store.ids("chunks")
    probe = Probed()
    for _ in range(2):
        assert run(filled, probe).warnings == ()
    assert probe.asked == 1


def test_a_store_that_is_found_broken_is_filled_anew(filled: Bench) -> None:
    filled.layout.sweep_mark.touch()
    ids = filled.vector_ids()
    filled.model.asked.clear()
    first, second = run(filled, Probed("it ends its reader")).warnings
    assert "the vector store was damaged (it ends its reader)" in first
    assert "3 vectors were put back from the tables" in second
    assert filled.vector_ids() == ids
    assert filled.model.asked == []
    assert not filled.layout.sweep_mark.exists()


def test_a_store_that_fails_in_a_run_is_tried_by_the_next(
    filled: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise IndexDamaged("broken; run: notehop index")

    filled.write("a.md", "See [[b]] on walls.")
    with monkeypatch.context() as patch:
        patch.setattr(Vectors, "open", breaks)
        with pytest.raises(IndexDamaged):
            filled.index()
    assert filled.layout.sweep_mark.exists()
    probe = Probed("broken")
    assert run(filled, probe).changed == 1
    assert probe.asked == 1


def test_a_run_that_fails_before_it_writes_leaves_no_mark(
    filled: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> None:
        raise RuntimeError("no model today")

    filled.write("c.md", "New.")
    with monkeypatch.context() as patch:
        patch.setattr(filled.model, "embed", breaks)
        with pytest.raises(RuntimeError):
            filled.index()
    assert not filled.layout.sweep_mark.exists()


def test_a_lost_vector_of_a_note_that_did_not_change_is_made_anew(filled: Bench) -> None:
    with filled.catalog() as catalog:
        [chunk] = [key.id for key in catalog.chunk_keys(["b.md"])]
    with Vectors.open(filled.layout.chroma, DIMENSIONS) as store:
        store.delete("chunks", [chunk])
    # Its table is gone too, so that nobody has it.
    for file in filled.layout.vectors.glob("chunks*"):
        file.unlink()
    filled.model.asked.clear()
    [told] = run(filled, Probed()).warnings
    assert "the vectors of 1 notes are made anew" in told
    assert filled.model.asked == ["b\nHere it was."]
    assert chunk in filled.vector_ids()[0]


@pytest.mark.parametrize("name", ["door.json", "query-1.onnx"])
@pytest.mark.parametrize("how", ["gone", "other bytes"])
def test_a_harmed_query_door_is_made_again(bench: Bench, name: str, how: str) -> None:
    bench.model = WithDoor()
    bench.write("a.md", "Words.")
    bench.index()
    before = {path.name: path.read_bytes() for path in bench.layout.model.iterdir()}
    file = bench.layout.model / name
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[::-1])
        os.utime(file, ns=(1, 1))
    bench.model.loaded = 0
    probe = Probed()
    [told] = run(bench, probe).warnings
    assert "the query model was damaged and is made anew" in told
    assert {path.name: path.read_bytes() for path in bench.layout.model.iterdir()} == before
    assert (bench.model.loaded, probe.asked) == (1, 0)
    assert run(bench, probe).warnings == ()
    assert bench.model.loaded == 1


def test_a_catalog_that_is_new_has_nothing_derived(filled: Bench) -> None:
    filled.layout.catalog.unlink()
    filled.write("b.md", "Other words.")
    assert run(filled, Probed()).warnings == ()
    with filled.catalog() as catalog:
        ids = {key.id for key in catalog.chunk_keys()}
    assert filled.vector_ids()[0] == ids


def test_tidying_up_leaves_a_harmed_index_to_the_next_run(filled: Bench) -> None:
    part = next(filled.layout.vectors.glob("chunks-*.npy"))
    part.write_bytes(b"x")
    indexer = Indexer(filled.vault, filled.settings, filled.layout, load=filled.model.load)
    indexer.tidy()
    assert "vectors" in doubts(filled.layout, read_seal(filled.layout))
    assert "the table of chunks was damaged" in run(filled, Probed()).warnings[0]


def test_an_update_of_some_paths_looks_at_all_of_a_harmed_index(filled: Bench) -> None:
    filled.layout.lexical.joinpath("postings.bin").write_bytes(b"x")
    indexer = Indexer(
        filled.vault, filled.settings, filled.layout, load=filled.model.load, probe=Probed()
    )
    assert "lexical index was damaged" in indexer.update(["a.md"]).warnings[0]
    assert indexer.update(["a.md"]).warnings == ()


def test_a_seal_is_put_on_a_rebuilt_index_too(filled: Bench) -> None:
    filled.index(rebuild=True)
    assert doubts(filled.layout, read_seal(filled.layout)) == {}
    said = json.loads(filled.layout.seal.read_text())
    assert said["generation"] == 1
    assert not IndexLayout(filled.layout.root / "next").root.exists()
