"""The catalog: what a commit writes is what every later reading gives."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.support import product
from tests.support.sample_index import record

PLAN = record("Plan.md", "alpha beta", "gamma", to=["Team", "Missing"])
TEAM = record("people/Team.md", "delta", aliases=("Crew",), content_hash="t")
SKIPPED = product.NoteRecord(product.NoteRow("Big.md", "Big", product.NoteStatus.SKIPPED, reason="too large"))


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[product.Catalog]:
    with product.Catalog.open(tmp_path / "catalog.sqlite", create=True) as catalog:
        catalog.commit(product.Batch(upsert=(TEAM, PLAN, SKIPPED), meta={"fingerprint": {"model": "m"}}))
        yield catalog


def test_touching_changes_size_and_times_only(filled: product.Catalog) -> None:
    later = 1_700_000_000_000_000_000
    filled.commit(product.Batch(touch={"Plan.md": (7, later), "Big.md": (8, later)}))
    touched = replace(PLAN.note, size=7, mtime_ns=later, modified=later / 1e9)
    assert filled.note("Plan.md") == touched
    assert filled.note("Big.md") == replace(SKIPPED.note, size=8, mtime_ns=later)
    assert filled.changed_paths(1) == []


def test_tokens_are_read_as_they_were_written(filled: product.Catalog) -> None:
    [first, _] = record("Plan.md", "alpha beta", "new").chunks
    assert dict(filled.chunk_tokens([first.id, "none"])) == {first.id: product.unpack_tokens(first.tokens)}


def test_a_snapshot_that_was_closed_is_no_damage(filled: product.Catalog) -> None:
    view = filled.snapshot()
    view.close()
    with pytest.raises(product.IndexFailure, match="the database failed") as caught:
        view.meta()
    assert not isinstance(caught.value, product.IndexDamaged)


def test_a_question_for_some_rows_reads_no_others(filled: product.Catalog) -> None:
    """It uses the index that the table has for it: a table of a large vault takes long to read."""
    with filled.database.reading() as connection:
        for table in product.METADATA.sorted_tables:
            for index in (table.primary_key, *table.indexes):
                column = next(iter(index.columns))
                asked = str(select(table).where(product.among(column)).compile(connection))
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {asked}", ("[]",)).all()
                assert f"SEARCH {table.name} " in str(plan), column
