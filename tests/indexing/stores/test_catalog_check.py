"""Each way in which the rows of a catalog can contradict each other is found, and named."""

from __future__ import annotations

import sqlite3

import pytest

from notehop.indexing.stores.catalog_check import check_catalog
from notehop.indexing.stores.finding import REBUILD, Finding
from tests.indexing.stores.index_samples import SampleIndex, record


def checked(index: SampleIndex, *statements: str) -> list[Finding]:
    index.write(
        record("a.md", "one", "two", to=["b"]), record("b.md", "three", to=["a"]), derived=False
    )
    # What the pipeline adds when it resolves a link.
    first = "(SELECT id FROM chunks WHERE chunks.path = links.target_path AND ordinal = 0)"
    with sqlite3.connect(index.layout.catalog) as connection:
        connection.execute(f"UPDATE links SET target_chunk_id = {first}")
        for statement in statements:
            connection.execute(statement)
    connection.close()
    with index.catalog() as catalog, catalog.snapshot() as view:
        return check_catalog(view)


def test_a_sound_catalog(index: SampleIndex) -> None:
    assert checked(index) == []


@pytest.mark.parametrize(
    ("statement", "problem", "examples"),
    [
        (
            "UPDATE notes SET status='skipped' WHERE path='b.md'",
            "chunks of notes that are not indexed",
            ("b.md",),
        ),
        (
            "UPDATE notes SET status='failed' WHERE path='b.md'",
            "links in notes that are not indexed",
            ("b.md",),
        ),
        (
            "UPDATE notes SET status='failed' WHERE path='b.md'",
            "names of notes that are not indexed",
            ("b.md",),
        ),
        ("DELETE FROM chunks WHERE path='a.md'", "indexed notes without a chunk", ("a.md",)),
        (
            "DELETE FROM chunks WHERE path='a.md' AND ordinal=0",
            "notes whose chunks are not in one order",
            ("a.md",),
        ),
        (
            "UPDATE chunks SET ordinal=0 WHERE path='a.md'",
            "notes whose chunks are not in one order",
            ("a.md",),
        ),
        (
            "UPDATE chunks SET generation=9",
            "chunks of a generation that is not there yet",
            ("a.md", "b.md"),
        ),
        (
            "UPDATE changes SET generation=9 WHERE path='a.md'",
            "changes of a generation that is not there yet",
            ("a.md",),
        ),
        (
            "UPDATE links SET chunk_id='nowhere' WHERE path='a.md'",
            "links that stand in no chunk of their note",
            ("a.md",),
        ),
        (
            "UPDATE links SET chunk_id=target_chunk_id WHERE path='a.md'",
            "links that stand in no chunk of their note",
            ("a.md",),
        ),
        (
            "UPDATE links SET target_chunk_id=chunk_id WHERE path='a.md'",
            "links to chunks that their target does not have",
            ("a.md",),
        ),
        (
            "UPDATE links SET target_chunk_id=NULL WHERE path='a.md'",
            "links that show no chunk of the note they lead to",
            ("a.md",),
        ),
        (
            "UPDATE links SET target_path='c.png', target_chunk_id=NULL WHERE path='a.md'",
            "links to files that the catalog does not know",
            ("a.md",),
        ),
        (
            "UPDATE links SET status='unresolved' WHERE path='a.md'",
            "links whose status contradicts their target",
            ("a.md",),
        ),
        (
            "UPDATE links SET target_path=NULL, target_chunk_id=NULL WHERE path='a.md'",
            "links whose status contradicts their target",
            ("a.md",),
        ),
        ("DELETE FROM names WHERE path='a.md'", "indexed notes that no name finds", ("a.md",)),
    ],
)
def test_contradictions(
    index: SampleIndex, statement: str, problem: str, examples: tuple[str, ...]
) -> None:
    found = {one.problem: one for one in checked(index, statement)}
    assert problem in found, list(found)
    assert found[problem].examples == examples
    assert found[problem].count >= len(examples)
    assert (found[problem].command, found[problem].broken) == (REBUILD, True)


def test_a_link_to_an_attachment_is_none(index: SampleIndex) -> None:
    found = checked(
        index,
        "INSERT INTO attachments VALUES ('c.png', 0)",
        "UPDATE links SET target_path='c.png', target_chunk_id=NULL WHERE path='a.md'",
    )
    assert found == []


def test_few_examples_of_many(index: SampleIndex) -> None:
    index.write(*(record(f"{number:02}.md", "text") for number in range(20)), derived=False)
    [found] = checked(index, "DELETE FROM names WHERE path LIKE '0%'")
    assert found.count == 10
    assert found.examples == ("00.md", "01.md", "02.md", "03.md", "04.md")
