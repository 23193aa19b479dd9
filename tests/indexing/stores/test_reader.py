"""The reader: one generation a query, always the newest, whatever of the derived files is there."""

from __future__ import annotations

import gc
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.support.product import (
    Batch,
    Catalog,
    IndexDamaged,
    IndexMismatch,
    IndexMissing,
    LexicalIndex,
    Limits,
    NoteRecord,
    NoteRow,
    NoteStatus,
    Ranking,
    Reader,
    Snapshot,
    VectorTable,
    WriterLock,
    put_seal,
)
from tests.support.product import VectorsVectors as Vectors
from tests.support.sample_index import DIMENSIONS, SampleIndex, record, vector_of

PLAN = record("Plan.md", "alpha beta", "gamma", to=["Team", "Budget"])
TEAM = record("Team.md", "delta alpha", to=["Plan"], aliases=("Crew", "The  Crew"))
BUDGET = record("Budget.md", "euros")


@pytest.fixture
def filled(index: SampleIndex) -> SampleIndex:
    index.write(PLAN, TEAM, BUDGET)
    return index


def seen(snapshot: Snapshot) -> dict[str, Any]:
    """All that a query can see of an index, as a value."""
    ids = [one for path in snapshot.paths() for one in snapshot.chunk_ids_of(path)]
    sentences = [str(one.sentence_id) for one in snapshot.links_from(snapshot.paths())]
    query = vector_of("query")
    return {
        "generation": snapshot.generation,
        "texts": [chunk.text for chunk in snapshot.chunks(ids).values()],
        "nearest": snapshot.chunk_vectors.top(query, 99),
        "sentences": snapshot.link_vectors.similarities(query, sentences).tolist(),
        "lexical": snapshot.lexical_top(["alpha", "delta", "euros", "new"], 99),
        "links": snapshot.links_from(snapshot.paths()),
        "edges": sorted(snapshot.graph.edges()),
        "warnings": snapshot.warnings,
    }


def comparable(found: dict[str, Any]) -> dict[str, Any]:
    """The same with similarities to 5 decimals: the store gives vectors back in another length."""
    nearest = [(one, round(score, 5)) for one, score in found["nearest"]]
    sentences = [round(score, 5) for score in found["sentences"]]
    return {**found, "nearest": sorted(nearest), "sentences": sentences}


def expected(index: SampleIndex) -> dict[str, Any]:
    """The same of a reader that opens the index now."""
    with Reader.open(index.layout) as reader, reader.snapshot() as snapshot:
        found = seen(snapshot)
    assert found["warnings"] == ()
    assert not np.isnan(found["sentences"]).any()
    return found


def test_a_snapshot_answers_what_retrieval_asks(filled: SampleIndex) -> None:
    with Reader.open(filled.layout) as reader, reader.snapshot() as snapshot:
        first, second = PLAN.chunks
        assert snapshot.generation == reader.generation == 1
        assert snapshot.warnings == ()
        assert snapshot.chunk_count == 4
        assert snapshot.paths() == ["Budget.md", "Plan.md", "Team.md"]
        assert snapshot.chunk_ids_of("Plan.md") == (first.id, second.id)
        assert snapshot.chunk_ids_of("none.md") == ()
        assert snapshot.path_of(second.id) == "Plan.md"
        assert snapshot.path_of("none") is None
        assert list(snapshot.chunks([second.id, "none", first.id])) == [second.id, first.id]
        assert [one.text for one in snapshot.chunks_of("Plan.md")] == ["alpha beta", "gamma"]
        assert snapshot.note("Team.md") == TEAM.note
        assert snapshot.note("none.md") is None
        assert [note.path for note in snapshot.notes()] == snapshot.paths()
        assert snapshot.links_from(["Team.md", "Plan.md"]) == [*PLAN.links, *TEAM.links]
        assert snapshot.links_to(["Team.md", "Budget.md", "none.md"]) == [
            PLAN.links[0],
            PLAN.links[1],
        ]
        assert sorted(snapshot.graph.edges()) == [
            ("Plan.md", "Budget.md"),
            ("Plan.md", "Team.md"),
            ("Team.md", "Plan.md"),
        ]
        assert sum(snapshot.pagerank.values()) == pytest.approx(1)
        assert snapshot.lexical_top(["alpha"], 9) == snapshot.lexical.top(["alpha"], 9)
        assert {one for one, _ in snapshot.lexical_top(["alpha"], 9)} == {
            first.id,
            TEAM.chunks[0].id,
        }
        assert snapshot.chunk_vectors.similarities(vector_of("gamma"), [second.id]) == [1.0]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("plan", ["Plan.md"]),
        (" CREW ", ["Team.md"]),
        ("the crew", ["Team.md"]),
        ("nobody", []),
        ("", []),
    ],
)
def test_notes_by_title_or_alias(filled: SampleIndex, name: str, paths: list[str]) -> None:
    with Reader.open(filled.layout) as reader, reader.snapshot() as snapshot:
        assert snapshot.notes_named(name) == paths


def test_notes_that_are_kept_out_are_not_seen(filled: SampleIndex) -> None:
    row = NoteRow("Secret.md", "Secret", NoteStatus.SKIPPED, reason="private: true")
    filled.write(NoteRecord(row))
    with Reader.open(filled.layout) as reader, reader.snapshot() as snapshot:
        assert snapshot.note("Secret.md") is None
        assert snapshot.notes_named("secret") == []
        assert "Secret.md" not in snapshot.graph


def test_an_index_of_an_empty_vault(index: SampleIndex) -> None:
    index.write()
    with Reader.open(index.layout) as reader, reader.snapshot() as snapshot:
        assert snapshot.chunk_count == 0
        assert snapshot.chunk_vectors.top(np.ones(DIMENSIONS), 5) == []
        assert snapshot.lexical_top(["a"], 5) == []
        assert dict(snapshot.pagerank) == {}


def no_vectors(index: SampleIndex) -> None:
    shutil.rmtree(index.layout.vectors)


def half_a_table(index: SampleIndex) -> None:
    [part] = index.layout.vectors.glob("chunks-*.npy")
    part.write_bytes(part.read_bytes()[:-4])


def a_table_of_another_index(index: SampleIndex) -> None:
    ids = [one.id for one in PLAN.chunks]
    VectorTable.build(
        index.layout.vectors, "chunks", ids, np.eye(2, DIMENSIONS), 1, stamp="another"
    )


def no_lexical(index: SampleIndex) -> None:
    shutil.rmtree(index.layout.lexical)


def a_lexical_index_of_another_index(index: SampleIndex) -> None:
    LexicalIndex.build([("none", {"content": ("alpha",)})]).save(index.layout.lexical, 1, "another")


@pytest.mark.parametrize(
    "harm",
    [
        no_vectors,
        half_a_table,
        a_table_of_another_index,
        no_lexical,
        a_lexical_index_of_another_index,
    ],
)
def test_derived_files_are_caught_up_never_trusted(
    filled: SampleIndex, harm: Callable[[SampleIndex], None]
) -> None:
    before = expected(filled)
    harm(filled)
    assert comparable(expected(filled)) == comparable(before)


PLAN_AGAIN = record("Plan.md", "gamma", "more", "alpha beta", to=["Budget"])

CHANGES: list[dict[str, Any]] = [
    {"upsert": [record("New.md", "new words", to=["Plan"])]},
    {"upsert": [PLAN_AGAIN]},
    {"delete": ["Team.md"]},
    {"upsert": [replace(TEAM, note=replace(TEAM.note, aliases=("Others",)))]},
    {"relink": [replace(PLAN_AGAIN.links[0], target_path=None, status="unresolved")]},
    {"upsert": [record(f"{n}.md", f"new {n}") for n in range(40)]},
    {"upsert": [record("Team.md", "delta alpha")], "delete": ["Plan.md", "Budget.md"]},
    {"upsert": [PLAN]},
]


@pytest.mark.parametrize("derived", [True, False], ids=["derived files", "catalog only"])
@pytest.mark.parametrize("ahead", [True, False], ids=["vectors ahead", "vectors in the store"])
def test_an_open_reader_follows_every_change_as_if_opened_now(
    filled: SampleIndex, ahead: bool, derived: bool
) -> None:
    with Reader.open(filled.layout) as reader:
        for change in CHANGES:
            before = reader.generation
            rest = {key: value for key, value in change.items() if key != "upsert"}
            filled.write(*change.get("upsert", ()), **rest, ahead=ahead, derived=derived)
            assert reader.refresh()
            assert not reader.refresh()
            assert reader.generation == before + 1
            with reader.snapshot() as snapshot:
                assert comparable(seen(snapshot)) == comparable(expected(filled))


def test_a_query_keeps_its_generation_while_others_go_on(filled: SampleIndex) -> None:
    with Reader.open(filled.layout) as reader, reader.snapshot() as old:
        before = seen(old)
        filled.write(record("Plan.md", "new alpha"), delete=["Budget.md"])
        with reader.snapshot() as new:
            assert new.generation == 2
            assert [one.text for one in new.chunks_of("Plan.md")] == ["new alpha"]
            assert new.note("Budget.md") is None
        again = seen(old)
        # Lexical hits of notes that are gone by now are dropped, and none of the new come in.
        lexical = dict(before.pop("lexical"))
        assert {one for one, _ in again.pop("lexical")} <= lexical.keys()
        assert again == before


def test_without_chromadb_when_the_tables_are_current(filled: SampleIndex) -> None:
    filled.write(record("New.md", "new words"), derived=False)
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from notehop.indexing.stores.layout import IndexLayout\n"
        "from notehop.indexing.stores.reader import Reader\n"
        "reader = Reader.open(IndexLayout(Path(sys.argv[1])))\n"
        "with reader.snapshot() as snapshot:\n"
        "    assert len(snapshot.chunk_vectors) == snapshot.chunk_count == 5\n"
        "    assert len(snapshot.lexical_top(['alpha'], 9)) == 2\n"
        "heavy = {'chromadb', 'torch', 'networkx', 'llama_index', 'scipy'}\n"
        "print(sorted(heavy.intersection(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(filled.layout.root)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_the_store_is_left_alone_while_another_process_writes(filled: SampleIndex) -> None:
    limits = Limits(missing_s=0.0)
    filled.write(record("New.md", "new words", to=["Plan"]), ahead=False, derived=False)
    with (
        WriterLock(filled.layout, "notehop index"),
        Reader.open(filled.layout, limits=limits) as reader,
    ):
        with reader.snapshot() as snapshot:
            assert len(snapshot.chunk_vectors) == 4
            assert [said.split(": ")[0] for said in snapshot.warnings] == [
                "1 chunks have no vector here",
                "1 links have no vector here",
            ]
            assert "notehop index" in snapshot.warnings[0]
            assert [snapshot.path_of(one) for one, _ in snapshot.lexical_top(["new"], 9)] == [
                "New.md"
            ]
        with (
            filled.vectors() as owned,
            Reader.open(filled.layout, vectors=lambda: owned, limits=limits) as owner,
            owner.snapshot() as snapshot,
        ):
            assert snapshot.warnings == ()
            assert len(snapshot.chunk_vectors) == 5


def test_missing_vectors_are_looked_for_again(filled: SampleIndex) -> None:
    limits = Limits(missing_s=0.0)
    filled.write(record("New.md", "new words", to=["Plan"]), ahead=False, derived=False)
    lock = WriterLock(filled.layout, "notehop index")
    lock.acquire()
    with Reader.open(filled.layout, limits=limits) as reader:
        assert reader.snapshot().warnings
        lock.release()
        assert reader.refresh()
        with reader.snapshot() as snapshot:
            assert seen(snapshot) == expected(filled)


def test_vectors_that_are_nowhere_are_named(filled: SampleIndex) -> None:
    filled.write(record("New.md", "new words"), ahead=False, derived=False)
    with filled.vectors() as vectors:
        vectors.delete("chunks", [record("New.md", "new words").chunks[0].id])
    with Reader.open(filled.layout) as reader, reader.snapshot() as snapshot:
        assert snapshot.warnings == ("1 chunks have no vector; run: notehop index --rebuild",)
        assert len(snapshot.chunk_vectors) == 4


def test_orphans_of_a_crashed_write_are_not_seen(filled: SampleIndex) -> None:
    """Vectors and tables come before the catalog: without its commit they are nothing."""
    before = expected(filled)
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from notehop.indexing.stores.catalog import Catalog\n"
        "from tests.support.sample_index import SampleIndex, record\n"
        "Catalog.commit = lambda *_: os._exit(9)\n"
        "SampleIndex(Path(sys.argv[1])).write(record('New.md', 'new'), delete=['Plan.md'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(filled.layout.root)], check=False)
    assert done.returncode == 9
    with filled.vectors() as vectors:
        assert vectors.count("chunks") == 5
    assert expected(filled) == before
    filled.write(record("New.md", "new"), delete=["Plan.md"])
    assert expected(filled)["texts"] == ["euros", "new", "delta alpha"]


def test_threads_each_see_one_whole_generation(filled: SampleIndex) -> None:
    """Generation n holds n notes ``N.md``, each with its vector, tokens and text."""
    stop = threading.Event()
    wrong: list[object] = []

    def ask() -> None:
        while not stop.is_set():
            with reader.snapshot() as snapshot:
                count = 3 + snapshot.generation - 1
                found = (
                    len(snapshot.paths()),
                    len(snapshot.chunk_vectors) - 1,
                    len(snapshot.notes()),
                    len(
                        snapshot.chunks(
                            one for one, _ in snapshot.chunk_vectors.top(vector_of("q"), 99)
                        )
                    )
                    - 1,
                )
                if set(found) != {count}:
                    wrong.append((snapshot.generation, found))

    with Reader.open(filled.layout) as reader:
        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for n in range(8):
            filled.write(record(f"{n}.md", f"new {n}"), derived=n % 3 == 0)
        stop.set()
        for thread in threads:
            thread.join()
        assert reader.refresh() or reader.generation == 9
    assert wrong == []


def test_a_snapshot_nobody_holds_lets_go(filled: SampleIndex) -> None:
    """Else the journal of the catalog would grow without end."""
    with Reader.open(filled.layout) as reader:
        for _ in range(50):
            reader.snapshot().note("Plan.md")
        gc.collect()
        assert reader.catalog._engine.pool.checkedout() == 0  # type: ignore[attr-defined]


def test_no_index_yet(index: SampleIndex) -> None:
    with pytest.raises(IndexMissing, match="run: notehop index"):
        Reader.open(index.layout)
    index.catalog().close()
    with pytest.raises(IndexMissing, match="nothing is indexed yet"):
        Reader.open(index.layout)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        pytest.param(
            {"model": "bge-small", "dimensions": 384, "weights": "b"},
            "index built with all-MiniLM-L6-v2 (8), settings name bge-small (384); "
            "run: notehop index --rebuild",
            id="model",
        ),
        pytest.param(
            {"model": "all-MiniLM-L6-v2", "dimensions": 4},
            "index built with all-MiniLM-L6-v2 (8), settings name all-MiniLM-L6-v2 (4); "
            "run: notehop index --rebuild",
            id="dimensions",
        ),
        pytest.param(
            {"model": "all-MiniLM-L6-v2", "chunker": 2, "language": "de"},
            "index built with chunker None, language None, settings name chunker 2, language de; "
            "run: notehop index --rebuild",
            id="others",
        ),
    ],
)
def test_an_index_built_otherwise_says_how(
    filled: SampleIndex, asked: dict[str, Any], says: str
) -> None:
    with pytest.raises(IndexMismatch) as caught:
        Reader.open(filled.layout, asked)
    assert str(caught.value) == says


def test_what_the_settings_leave_open_fits(filled: SampleIndex) -> None:
    Reader.open(filled.layout, {"model": "all-MiniLM-L6-v2", "dimensions": None}).close()
    Reader.open(filled.layout, {}).close()


def test_an_index_made_anew_is_followed(filled: SampleIndex) -> None:
    """Also with equal ids and generations: only its vectors and texts count."""
    with Reader.open(filled.layout, {"dimensions": DIMENSIONS}) as reader:
        old = reader.snapshot()
        texts = [one.text for one in old.chunks_of("Plan.md")]
        filled.remove()
        with pytest.raises(IndexMissing):
            reader.snapshot()
        filled.write(record("Plan.md", "alpha beta", "other"))
        with reader.snapshot() as snapshot:
            assert seen(snapshot) == expected(filled)
            assert snapshot.generation == old.generation == 1
            assert snapshot.paths() == ["Plan.md"]
        assert [one.text for one in old.chunks_of("Plan.md")] == texts
        old.close()
        filled.remove()
        filled.fingerprint = {"model": "all-MiniLM-L6-v2", "dimensions": 4}
        with filled.catalog() as catalog:
            catalog.commit(Batch(meta={"fingerprint": dict(filled.fingerprint)}))
        with pytest.raises(IndexMismatch, match=r"all-MiniLM-L6-v2 \(4\)"):
            reader.snapshot()


def test_an_older_copy_of_the_catalog_is_not_read(filled: SampleIndex) -> None:
    """Put in its place byte by byte, while a reader has it open, and then for one that opens it."""
    older = filled.layout.catalog.read_bytes()
    with Reader.open(filled.layout) as reader:
        generation = filled.write(record("later.md", "gamma"))
        reader.refresh()
        with filled.catalog() as catalog:
            put_seal(filled.layout, generation, catalog.stamp())
        # With its journal folded back, as when all have closed it.
        with closing(sqlite3.connect(filled.layout.catalog)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        filled.layout.catalog.write_bytes(older)
        with pytest.raises(IndexDamaged, match=r"older copy.*run: notehop index --rebuild"):
            reader.snapshot()
    with pytest.raises(IndexDamaged, match=r"older copy.*run: notehop index --rebuild"):
        Reader.open(filled.layout)


def test_a_damaged_catalog(filled: SampleIndex) -> None:
    filled.layout.catalog.write_bytes(b"nothing like a database " * 1000)
    with pytest.raises(IndexDamaged, match="run: notehop index --rebuild"):
        Reader.open(filled.layout)


def test_the_ranking_acts_when_a_query_is_answered(filled: SampleIndex) -> None:
    by_title = Ranking(boosts={"content": 0.0})
    with Reader.open(filled.layout, ranking=by_title) as reader, reader.snapshot() as snapshot:
        assert snapshot.lexical_top(["alpha"], 9) == []
        assert len(snapshot.lexical_top(["Plan"], 9)) == 2


def test_the_catalog_may_be_named_by_url(filled: SampleIndex) -> None:
    url = f"sqlite:///{filled.layout.catalog}"
    with Reader.open(filled.layout, catalog=url) as reader:
        assert reader.generation == 1
        assert isinstance(reader.catalog, Catalog)


def test_the_reader_names_what_its_newest_generation_holds(filled: SampleIndex) -> None:
    with Reader.open(filled.layout) as reader:
        assert len(reader.chunk_vectors) == 4
        assert len(reader.link_vectors) == 3
        assert len(reader.lexical) == 4
        assert len(reader.graph) == 3
        assert set(reader.pagerank) == {"Plan.md", "Team.md", "Budget.md"}


def test_a_store_opened_by_its_owner_is_not_opened_twice(filled: SampleIndex) -> None:
    with filled.vectors() as mine, Vectors.open(filled.layout.chroma, DIMENSIONS) as other:
        assert mine._client is other._client
