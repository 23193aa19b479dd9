"""The catalog: what a commit writes is what every later reading gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.product import (
    Batch,
    Catalog,
    ChunkKey,
    FileStamp,
    NoteRecord,
    NoteRow,
    NoteStatus,
    stamp_of,
)
from tests.support.sample_index import chunk, link, name_of, record

PLAN = record("Plan.md", "alpha beta", "gamma", to=["Team", "Missing"])
TEAM = record("people/Team.md", "delta", aliases=("Crew",), content_hash="t")
SKIPPED = NoteRecord(NoteRow("Big.md", "Big", NoteStatus.SKIPPED, reason="too large"))


@pytest.fixture
def filled(catalog: Catalog) -> Catalog:
    catalog.commit(Batch(upsert=(TEAM, PLAN, SKIPPED), meta={"fingerprint": {"model": "m"}}))
    return catalog


def test_a_new_catalog_is_at_generation_0_and_empty(catalog: Catalog) -> None:
    assert catalog.generation == 0
    assert catalog.notes() == []
    assert catalog.chunk_keys() == []
    assert list(catalog.links()) == []
    assert list(catalog.chunk_tokens()) == []
    assert catalog.meta().keys() == {"generation", "identity", "schema"}


def test_what_is_written_is_read_back_in_order(filled: Catalog) -> None:
    assert filled.notes() == [SKIPPED.note, PLAN.note, TEAM.note]
    assert filled.notes(NoteStatus.SKIPPED) == [SKIPPED.note]
    assert filled.note("people/Team.md") == TEAM.note
    assert filled.note("none.md") is None
    assert filled.chunks_of("Plan.md") == [replace(one, generation=1) for one in PLAN.chunks]
    assert list(filled.links()) == list(PLAN.links)
    assert filled.generation == 1


def test_it_is_the_same_after_closing_and_opening(filled: Catalog, tmp_path: Path) -> None:
    before = (filled.notes(), filled.chunk_keys(), list(filled.links()), filled.meta())
    filled.close()
    with Catalog.open(tmp_path / "catalog.sqlite", read_only=True) as again:
        assert (again.notes(), again.chunk_keys(), list(again.links()), again.meta()) == before


def test_chunks_come_in_the_order_asked_for_without_the_unknown(filled: Catalog) -> None:
    first, second = PLAN.chunks
    found = filled.chunks([second.id, "nothing", first.id, second.id])
    assert list(found) == [second.id, first.id]
    assert found[first.id].text == "alpha beta"
    assert found[first.id].tokens == {"content": ("alpha", "beta"), "title": ("Plan",)}


def test_what_there_is_is_known_without_reading_it(catalog: Catalog) -> None:
    assert (catalog.has_chunks, catalog.vectors_at_most()) == (False, 0)
    catalog.commit(Batch(upsert=(TEAM, PLAN, SKIPPED)))
    assert (catalog.has_chunks, catalog.vectors_at_most()) == (True, 3 + 2)
    one, other = PLAN.chunks
    assert catalog.known_chunks([other.id, "nothing", one.id]) == {one.id, other.id}
    assert catalog.known_chunks([]) == set()


def test_keys_and_ids_are_by_path_and_ordinal(filled: Catalog) -> None:
    keys = filled.chunk_keys()
    assert [(key.path, key.ordinal) for key in keys] == [
        ("Plan.md", 0),
        ("Plan.md", 1),
        ("people/Team.md", 0),
    ]
    only = TEAM.chunks[0]
    assert filled.chunk_keys(["people/Team.md"]) == [
        ChunkKey(only.id, only.path, 0, only.embedded_hash, 1)
    ]
    assert filled.chunk_ids() == {
        "Plan.md": tuple(one.id for one in PLAN.chunks),
        "people/Team.md": (only.id,),
    }
    assert filled.chunk_lines(["Plan.md", "none.md"]) == {
        "Plan.md": tuple((one.id, one.first_line, one.last_line) for one in PLAN.chunks)
    }


def test_links_are_found_by_source_target_name_and_sentence(filled: Catalog) -> None:
    team, missing = PLAN.links
    assert filled.links_from(["Plan.md", "none.md"]) == [team, missing]
    assert filled.links_to(["Team.md"]) == [team]
    assert filled.links_named(["missing", "nobody"]) == [missing]
    assert filled.links_named(["Missing"]) == []
    assert filled.sentence_ids() == sorted(str(one.sentence_id) for one in PLAN.links)
    assert filled.sentence_ids(["people/Team.md"]) == []
    assert filled.known_sentences([str(team.sentence_id), "none"]) == {team.sentence_id}


def test_questions_about_files(filled: Catalog) -> None:
    assert filled.stamps()["Big.md"] == FileStamp(0, 0, "", NoteStatus.SKIPPED)
    assert list(filled.stamps()) == ["Big.md", "Plan.md", "people/Team.md"]
    assert filled.paths_by_content_hash(["c", "t", "x"]) == {
        "c": ["Plan.md"],
        "t": ["people/Team.md"],
    }
    assert filled.notes_named(" crew") == ["people/Team.md"]
    assert filled.notes_named("Big") == filled.notes_named("") == []
    counts = filled.counts()
    assert (counts.notes, counts.chunks, counts.links) == (
        {"indexed": 2, "skipped": 1},
        3,
        {"resolved": 2},
    )


def test_a_vector_is_found_by_its_text_in_any_note(catalog: Catalog) -> None:
    first, second = record("b.md", "same"), record("a.md", "same")
    catalog.commit(Batch(upsert=(first, second)))
    digest = first.chunks[0].embedded_hash
    lowest = min(first.chunks[0].id, second.chunks[0].id)
    assert catalog.chunk_by_embedded_hash([digest, "none"]) == {digest: lowest}


def test_writing_a_note_again_replaces_all_it_held(filled: Catalog) -> None:
    assert filled.commit(Batch(upsert=(record("Plan.md", "epsilon"),))) == 2
    assert [one.text for one in filled.chunks_of("Plan.md")] == ["epsilon"]
    assert list(filled.links()) == []
    assert filled.chunks([PLAN.chunks[0].id]) == {}


def test_deleting_a_note_takes_its_chunks_and_links(filled: Catalog) -> None:
    filled.commit(Batch(delete=("Plan.md", "never there.md")))
    assert filled.note("Plan.md") is None
    assert filled.chunks_of("Plan.md") == []
    assert filled.links_from(["Plan.md"]) == []
    assert filled.changed_paths(1) == ["Plan.md", "never there.md"]


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


def test_relinking_changes_one_link_and_its_name_stays_findable(filled: Catalog) -> None:
    moved = replace(PLAN.links[1], status="unresolved", via=None, target_path=None)
    filled.commit(Batch(relink=(moved,)))
    assert filled.links_from(["Plan.md"]) == [PLAN.links[0], moved]
    assert filled.links_named(["missing"]) == [moved]
    assert filled.links_to(["Missing.md"]) == []


def test_an_empty_batch_makes_no_generation(filled: Catalog) -> None:
    assert filled.commit(Batch()) == 1
    assert filled.generation == 1


def test_meta_is_merged_and_kept(filled: Catalog) -> None:
    filled.commit(Batch(meta={"vault": "/v", "times": [1, 2]}))
    meta = filled.meta()
    assert meta["fingerprint"] == {"model": "m"}
    assert (meta["vault"], meta["times"], meta["generation"]) == ("/v", [1, 2], 2)
    assert filled.stamp() == stamp_of(meta)


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


def test_tokens_come_by_id_over_many_pages(catalog: Catalog) -> None:
    records = [record(f"{n:04}.md", f"text {n}", to=["a", "b"]) for n in range(5_001)]
    catalog.commit(Batch(upsert=tuple(records)))
    ids = sorted(one.id for note in records for one in note.chunks)
    assert [one for one, _ in catalog.chunk_tokens()] == ids
    assert [one for one, _ in catalog.chunk_tokens(ids[::-1])] == ids
    assert [(one.path, one.ordinal) for one in catalog.links()] == [
        (f"{n:04}.md", at) for n in range(5_001) for at in (0, 1)
    ]
    assert list(catalog.chunks(ids[::-1])) == ids[::-1]


def test_more_ids_than_a_statement_takes(filled: Catalog) -> None:
    names = [name_of(str(n)) for n in range(40_000)]
    assert list(filled.chunks([*names, PLAN.chunks[0].id])) == [PLAN.chunks[0].id]


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


def test_snapshots_outlive_the_catalog_object(filled: Catalog) -> None:
    held = filled.open_snapshot()
    filled.close()
    assert held.note("Plan.md") == PLAN.note
    held.close()
    held.close()


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


def test_a_url_names_the_same_catalog(filled: Catalog, tmp_path: Path) -> None:
    with Catalog.open(f"sqlite:///{tmp_path}/catalog.sqlite") as again:
        assert again.notes() == filled.notes()


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


def test_chunks_of_equal_text_in_two_notes_are_two(catalog: Catalog) -> None:
    catalog.commit(Batch(upsert=(record("a.md", "same"), record("b.md", "same"))))
    assert len(catalog.chunk_keys()) == 2
    assert chunk("a.md", 0, "same").id != chunk("b.md", 0, "same").id
