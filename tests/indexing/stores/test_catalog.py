"""The catalog: what a commit writes is what every later reading gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.product import Batch, Catalog, NoteRecord, NoteRow, NoteStatus
from tests.support.sample_index import link, record

PLAN = record("Plan.md", "alpha beta", "gamma", to=["Team", "Missing"])
TEAM = record("people/Team.md", "delta", aliases=("Crew",), content_hash="t")
SKIPPED = NoteRecord(NoteRow("Big.md", "Big", NoteStatus.SKIPPED, reason="too large"))


@pytest.fixture
def filled(catalog: Catalog) -> Catalog:
    catalog.commit(Batch(upsert=(TEAM, PLAN, SKIPPED), meta={"fingerprint": {"model": "m"}}))
    return catalog


def test_what_is_written_is_read_back_in_order(filled: Catalog) -> None:
    assert filled.notes() == [SKIPPED.note, PLAN.note, TEAM.note]
    assert filled.notes(NoteStatus.SKIPPED) == [SKIPPED.note]
    assert filled.note("people/Team.md") == TEAM.note
    assert filled.note("none.md") is None
    assert filled.chunks_of("Plan.md") == [replace(one, generation=1) for one in PLAN.chunks]
    assert list(filled.links()) == list(PLAN.links)
    assert filled.generation == 1


def test_touching_changes_size_and_times_only(filled: Catalog) -> None:
    later = 1_700_000_000_000_000_000
    filled.commit(Batch(touch={"Plan.md": (7, later), "Big.md": (8, later)}))
    assert filled.note("Plan.md") == replace(
        PLAN.note, size=7, mtime_ns=later, modified=later / 1e9
    )
    kept_out = filled.note("Big.md")
    assert kept_out is not None
    assert (kept_out.size, kept_out.mtime_ns, kept_out.modified) == (8, later, 0.0)
    assert filled.changed_paths(1) == []
    assert filled.relinked_paths(1) == ["Plan.md"]


def test_touching_a_note_that_names_its_date_leaves_that(catalog: Catalog) -> None:
    told = record("a.md", "alpha")
    told = replace(
        told, note=replace(told.note, front_matter={"Last-Modified": "2024-05-06"}, modified=1.0)
    )
    catalog.commit(Batch(upsert=(told,)))
    catalog.commit(Batch(touch={"a.md": (7, 8)}))
    assert catalog.note("a.md") == replace(told.note, size=7, mtime_ns=8)
    assert catalog.relinked_paths(1) == []


def test_a_chunk_keeps_its_generation_until_its_tokens_change(filled: Catalog) -> None:
    """Readers of the lexical index ask for what is newer than theirs, and only for that."""
    again = record("Plan.md", "alpha beta", "new")
    filled.commit(Batch(upsert=(again,)))
    assert [key.generation for key in filled.chunk_keys(["Plan.md"])] == [1, 2]
    retagged = replace(again.chunks[0], tokens={**again.chunks[0].tokens, "tags": ("x",)})
    filled.commit(Batch(upsert=(replace(again, chunks=(retagged, again.chunks[1])),)))
    assert [key.generation for key in filled.chunk_keys(["Plan.md"])] == [3, 2]
    assert [one for one, _ in filled.chunk_tokens(since_generation=2)] == [retagged.id]
    assert dict(filled.chunk_tokens([retagged.id, "none"])) == {retagged.id: retagged.tokens}


def test_a_snapshot_stays_at_its_generation(filled: Catalog) -> None:
    with filled.snapshot() as held:
        filled.commit(Batch(upsert=(record("New.md", "zeta"),), delete=("Plan.md",)))
        assert filled.generation == 2
        assert held.generation == 1
        assert held.note("New.md") is None
        assert [one.text for one in held.chunks_of("Plan.md")] == ["alpha beta", "gamma"]
        assert len(list(held.links())) == 2
        assert held.fingerprint == {"model": "m"}
        assert held.stamp == filled.stamp()
    assert [note.path for note in filled.notes()] == ["Big.md", "New.md", "people/Team.md"]


def test_a_catalog_made_anew_is_told_from_the_old_one(filled: Catalog, tmp_path: Path) -> None:
    stamp = filled.stamp()
    assert not filled.replaced
    for path in tmp_path.glob("catalog.sqlite*"):
        path.unlink()
    assert filled.replaced
    with Catalog.open(tmp_path / "catalog.sqlite", create=True) as other:
        other.commit(Batch(meta={"fingerprint": {"model": "m"}}))
        assert filled.replaced
        assert not other.replaced
        assert other.stamp() != stamp


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        pytest.param(Batch(upsert=(PLAN, PLAN)), "writes a note twice", id="twice"),
        pytest.param(Batch(upsert=(PLAN,), delete=("Plan.md",)), "deletes Plan.md", id="deleted"),
        pytest.param(
            Batch(upsert=(PLAN,), touch={"Plan.md": (1, 1)}), "touches Plan.md", id="touched"
        ),
        pytest.param(
            Batch(upsert=(PLAN,), relink=PLAN.links), "relinks Plan.md", id="written and relinked"
        ),
        pytest.param(
            Batch(delete=("Plan.md",), relink=PLAN.links), "changes Plan.md", id="gone and relinked"
        ),
        pytest.param(
            Batch(upsert=(replace(PLAN, chunks=TEAM.chunks),)),
            "a row of people/Team.md",
            id="alien",
        ),
        pytest.param(Batch(meta={"generation": 9}), "'generation'|generation", id="own meta"),
        pytest.param(Batch(touch={"none.md": (1, 1)}), "1 notes that are not", id="touch nothing"),
        pytest.param(
            Batch(relink=(link("Plan.md", 9, "x"),)), "1 links that are not", id="relink nothing"
        ),
        pytest.param(
            Batch(
                upsert=(
                    replace(record("Copy.md"), chunks=(replace(TEAM.chunks[0], path="Copy.md"),)),
                )
            ),
            "there already",
            id="id of another note",
        ),
    ],
)
def test_a_batch_that_contradicts_itself_changes_nothing(
    filled: Catalog, batch: Batch, says: str
) -> None:
    before = (filled.generation, filled.notes(), filled.chunk_keys(), list(filled.links()))
    with pytest.raises(ValueError, match=says):
        filled.commit(batch)
    assert (filled.generation, filled.notes(), filled.chunk_keys(), list(filled.links())) == before
