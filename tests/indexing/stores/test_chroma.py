"""The mirror in Chroma: what other LlamaIndex programs find in it, and what becomes of a bad one."""

import sys
from pathlib import Path

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from tests.indexing.crashes import harm
from tests.indexing.crashes.harm import Harm
from tests.indexing.pipeline.machine.contents import differences, mirrored, to_be_mirrored
from tests.support import product
from tests.support.notes import Bench
from tests.support.readable_model import DIMENSIONS

pytestmark = pytest.mark.timeout(300)

NOTES = {
    "Tide.md": "---\ntags: [sea]\n---\n# Tide\n\nThe tide comes twice a day.\n",
    "Wall.md": "The wall holds the water back, see [[Tide]].\n",
    "a/Secret.md": "The zanzibarquux is at the pier.\n",
}


@pytest.fixture
def indexed(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.settings = bench.settings.with_overrides({"index.mirror": True})
    for path, text in NOTES.items():
        bench.write(path, text)
    assert bench.index().warnings == ()
    return bench


def check_equal(bench: Bench) -> None:
    assert not product.mirror_due(bench.layout)
    with bench.catalog() as catalog:
        assert not [*differences(mirrored(bench.layout), to_be_mirrored(catalog))]


def test_a_stock_llamaindex_program_searches_it(indexed: Bench) -> None:
    import chromadb
    from llama_index.vector_stores.chroma import ChromaVectorStore

    client = chromadb.PersistentClient(
        str(indexed.layout.chroma), chromadb.Settings(anonymized_telemetry=False)
    )
    store = ChromaVectorStore(chroma_collection=client.get_collection(product.COLLECTION))
    index = VectorStoreIndex.from_vector_store(store, embed_model=MockEmbedding(DIMENSIONS))
    query = indexed.model.embed(["the wall holds the water"])[0].tolist()
    from llama_index.core.schema import QueryBundle

    [first, *_] = index.as_retriever(similarity_top_k=3).retrieve(QueryBundle("", embedding=query))
    [chunk] = indexed.chunks("Wall.md")
    assert (first.node_id, first.node.ref_doc_id) == (chunk.id, "Wall.md")
    assert first.text == chunk.text
    assert first.metadata["path"] == "Wall.md"
    assert (first.metadata["first_line"], first.metadata["last_line"]) == (1, 1)
    only = MetadataFilters(filters=[MetadataFilter(key="tags", value="sea")])
    found = index.as_retriever(filters=only).retrieve(QueryBundle("", embedding=query))
    assert {one.metadata["path"] for one in found} == {"Tide.md"}
    client.close()


def test_it_takes_in_what_changed(indexed: Bench) -> None:
    indexed.write("Tide.md", "# Tide\n\nThe tide comes when it likes.\n")
    indexed.write("New.md", "New words.\n")
    indexed.indexer().update()
    assert product.mirror_due(indexed.layout)
    kept = set(indexed.layout.chroma.iterdir())
    indexed.indexer().tidy()
    assert kept == set(indexed.layout.chroma.iterdir())
    check_equal(indexed)


@pytest.mark.parametrize("how", ["deleted", "private"])
def test_what_is_withdrawn_leaves_its_files(indexed: Bench, how: str) -> None:
    [chunk] = indexed.chunks("a/Secret.md")
    with indexed.catalog() as catalog:
        vector = catalog.vectors("chunks", [chunk.id])[1].tobytes()

    def holding(word: bytes) -> list[Path]:
        files = filter(Path.is_file, indexed.layout.chroma.rglob("*"))
        return [file for file in files if word in file.read_bytes()]

    assert holding(b"zanzibarquux")
    assert holding(vector)
    if how == "private":
        indexed.write("a/Secret.md", "---\nprivate: true\n---\nThe zanzibarquux.\n")
    else:
        (indexed.vault / "a" / "Secret.md").unlink()
    # A follower takes it in: what stands in files leaves at once, the rest comes back when it is quiet.
    indexed.indexer().update(["a/Secret.md"])
    assert not indexed.layout.chroma.exists()
    if how == "deleted":
        # In a process of its own: Chroma leaves what it finds in fresh memory in its files.
        assert product.update_mirror(indexed.layout) is None
        assert holding(b"zanzibarquux") == holding(vector) == []
        check_equal(indexed)


def test_a_query_that_holds_up_a_withdrawal_has_it_made_anew_once(indexed: Bench) -> None:
    with indexed.catalog() as catalog, catalog.snapshot():
        indexed.write("a/Secret.md", "---\nprivate: true\n---\nThe zanzibarquux.\n")
        indexed.index()
        kept = set(indexed.layout.chroma.iterdir())
        indexed.write("Tide.md", "# Tide\n\nThe tide comes when it likes.\n")
        indexed.indexer().update(["Tide.md"])
        assert kept == set(indexed.layout.chroma.iterdir())


def test_a_moved_note_is_no_withdrawn_one(indexed: Bench) -> None:
    (indexed.vault / "Wall.md").rename(indexed.vault / "a" / "Wall.md")
    kept = set(indexed.layout.chroma.iterdir())
    indexed.index()
    assert kept == set(indexed.layout.chroma.iterdir())
    check_equal(indexed)


@pytest.mark.parametrize(
    ("where", "how"),
    [(".", harm.gone), ("mirror.json", harm.cut), ("chroma.sqlite3", harm.cut)],
    ids=["gone", "no state", "half a database"],
)
def test_one_that_was_harmed_is_filled_anew(indexed: Bench, where: str, how: Harm) -> None:
    how(indexed.layout.chroma / where)
    indexed.write("New.md", "New words.\n")
    indexed.indexer().update(["New.md"])
    assert product.update_mirror(indexed.layout) is None
    check_equal(indexed)


def test_a_child_that_fails_hangs_or_is_interrupted(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    monkeypatch.setattr(sys, "executable", str(program))
    for lines, interrupted, said in (
        ("echo first >&2; echo 'the last line' >&2; exit 1", False, "the last line"),
        ("kill -SEGV $$", False, "it ended its process"),
        ("exec sleep 60", True, "it was interrupted"),
    ):
        program.write_text(f"#!/bin/sh\n{lines}\n")
        program.chmod(0o700)
        assert product.write_in_child(indexed.layout, lambda stop=interrupted: stop) == said
    assert product.write_in_child(indexed.layout, lambda: False, seconds=0.2) == "it does not answer"


def test_it_goes_where_it_is_not_wanted(indexed: Bench) -> None:
    state = product.read_mirror(indexed.layout)
    assert state is not None
    assert state.generation == 1
    indexed.settings = indexed.settings.with_overrides({"index.mirror": False})
    indexed.index()
    assert not indexed.layout.chroma.exists()


def test_the_doctor_says_what_is_with_it(indexed: Bench) -> None:
    def told() -> str | None:
        with indexed.catalog() as catalog, catalog.snapshot() as view:
            return product.mirror_problem(indexed.layout, view)

    assert told() is None
    harm.gone(indexed.layout.chroma)
    assert told() == "there is no copy for other programs"
