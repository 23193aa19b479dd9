"""What a run reads, embeds and writes, and what it leaves alone."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.support.notes import Bench
from tests.support.product import (
    Batch,
    Catalog,
    Indexer,
    IndexLocked,
    IndexMismatch,
    IndexUnwritable,
    Limits,
    Reader,
    UsageError,
    VaultError,
    WriterLock,
    read_run_record,
)

TWO_SECTIONS = """\
# Tides

## Spring
Spring tides come at new and full moon, when sun and moon pull in one line and the sea
rises highest on the wall that keeps it from the fields behind the village and its road.

## Neap
Neap tides come at the quarters, when sun and moon pull across each other and the water
neither rises far nor falls far, which is when the divers look at the foot of the wall.
"""


def test_a_first_run_accounts_for_every_note(bench: Bench) -> None:
    bench.write("a.md", "See [[b]] and [[nowhere]].")
    bench.write("b.md", "---\naliases: [bee]\n---\nHere.")
    bench.write("secret.md", "---\nprivate: true\n---\nWords.")
    bench.write("big.md", "x" * 2_000)
    bench.settings = bench.settings.with_overrides({"vault.max_note_bytes": 1_000})
    report = bench.index()
    assert (report.notes, report.added, report.generation) == (2, 2, 1)
    assert [path for path, _ in report.skipped] == ["big.md", "secret.md"]
    assert (report.links.resolved, report.links.unresolved) == (1, 1)
    assert "max_note_bytes" in dict(report.skipped)["big.md"]


def test_a_second_run_does_nothing(bench: Bench) -> None:
    bench.write("a.md", "See [[b]].")
    bench.write("secret.md", "---\nprivate: true\n---\nWords.")
    first = bench.index()
    second = bench.index()
    assert second.generation == first.generation
    assert second.unchanged == 1
    assert bench.model.loaded == 1


def test_a_touched_note_is_not_embedded(bench: Bench) -> None:
    bench.write("a.md", "Words.")
    bench.index()
    os.utime(bench.vault / "a.md", (1, 1))
    report = bench.index()
    assert (report.changed, report.unchanged, bench.model.loaded) == (0, 1, 1)
    assert bench.index().generation == report.generation


def test_an_edit_embeds_its_section_only(bench: Bench) -> None:
    bench.write("tides.md", TWO_SECTIONS)
    bench.index()
    before = bench.chunks("tides.md")
    bench.write("tides.md", TWO_SECTIONS.replace("divers", "surveyors"))
    report = bench.index()
    after = bench.chunks("tides.md")
    assert report.changed == 1
    assert len(bench.model.asked) == 1
    assert "surveyors" in bench.model.asked[0]
    assert [c.id for c in after[:-1]] == [c.id for c in before[:-1]]
    assert after[-1].id != before[-1].id
    assert bench.vector_ids()[0] == {chunk.id for chunk in after}


def test_a_moved_folder_embeds_nothing(bench: Bench) -> None:
    bench.write("old/tides.md", TWO_SECTIONS)
    bench.write("old/walls.md", "Walls stand. See [[tides#Neap]].")
    bench.index()
    (bench.vault / "old").rename(bench.vault / "new")
    report = bench.index()
    assert (report.moved, report.added, report.deleted) == (2, 0, 0)
    assert bench.model.asked == []
    (link,) = bench.links("new/walls.md")
    assert link.target_path == "new/tides.md"
    assert bench.links("old/walls.md") == []


def test_a_deleted_note_leaves_nothing(bench: Bench) -> None:
    bench.write("a.md", "See [[b]].")
    bench.write("b.md", "Here.")
    bench.index()
    (bench.vault / "b.md").unlink()
    report = bench.index()
    assert (report.deleted, report.notes) == (1, 1)
    (link,) = bench.links("a.md")
    assert (link.status, link.target_path, link.target_chunk_id) == ("unresolved", None, None)
    assert bench.vector_ids()[0] == {chunk.id for chunk in bench.chunks("a.md")}


def test_a_new_note_catches_the_links_that_waited(bench: Bench) -> None:
    bench.write("a.md", "See [[b#Part]].")
    bench.index()
    bench.write("b.md", "# Part\nHere.")
    bench.index()
    (link,) = bench.links("a.md")
    assert (link.status, link.target_path, link.fragment_found) == ("resolved", "b.md", True)
    assert link.target_chunk_id == bench.chunks("b.md")[0].id


def test_an_alias_that_comes_and_goes_moves_its_links(bench: Bench) -> None:
    bench.write("a.md", "See [[bee]].")
    bench.write("b.md", "Here.")
    bench.index()
    assert bench.links("a.md")[0].status == "unresolved"
    bench.write("b.md", "---\naliases: [bee]\n---\nHere.")
    bench.index()
    assert (bench.links("a.md")[0].target_path, bench.links("a.md")[0].via) == ("b.md", "alias")
    bench.write("b.md", "Here once more.")
    bench.index()
    assert bench.links("a.md")[0].status == "unresolved"


def test_a_note_that_becomes_private_leaves_no_word(bench: Bench) -> None:
    bench.write("a.md", "See [[b]].")
    bench.write("b.md", "---\ntitle: Salaries\n---\nNumbers.")
    bench.index()
    bench.write("b.md", "---\ntitle: Salaries\nprivate: true\n---\nNumbers.")
    bench.index()
    assert bench.chunks("b.md") == []
    assert bench.links("a.md")[0].status == "excluded"
    with bench.catalog() as catalog:
        note = catalog.note("b.md")
    assert note is not None
    assert (note.title, note.front_matter) == ("b", {})
    bench.write("b.md", "Numbers.")
    bench.index()
    assert bench.links("a.md")[0].status == "resolved"


def test_an_attachment_that_comes_and_goes_moves_its_links(bench: Bench) -> None:
    bench.write("a.md", "![[plan.png]]")
    bench.index()
    bench.write("plan.png", "")
    assert bench.index().links.resolved == 1
    (bench.vault / "plan.png").unlink()
    assert bench.index().links.unresolved == 1


def test_a_link_follows_its_heading_to_another_chunk(bench: Bench) -> None:
    bench.write("a.md", "See [[tides#Neap]].")
    bench.write("tides.md", TWO_SECTIONS)
    bench.index()
    bench.write("tides.md", TWO_SECTIONS.replace("divers", "surveyors"))
    bench.index()
    assert bench.links("a.md")[0].target_chunk_id == bench.chunks("tides.md")[-1].id


def test_notes_under_a_folder_that_cannot_be_listed_stay(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write("open/a.md", "Words.")
    bench.write("shut/b.md", "Words too.")
    bench.index()
    listed = os.scandir

    def refuse(path: str | os.PathLike[str]) -> object:
        if Path(os.fspath(path)).name == "shut":
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", refuse)
    report = bench.index()
    assert (report.deleted, report.notes) == (0, 2)
    assert "shut" in dict(report.skipped)


def test_an_excluded_folder_is_skipped_with_the_reason(bench: Bench) -> None:
    bench.write("Archive/a.md", "Words.")
    bench.write("b.md", "Words too.")
    bench.index()
    bench.settings = bench.settings.with_overrides({"vault.exclude": ["Archive/**"]})
    report = bench.index()
    assert report.notes == 1
    assert "Archive" in dict(report.skipped)["Archive/a.md"]
    assert bench.chunks("Archive/a.md") == []


def test_an_empty_vault_is_indexed(bench: Bench) -> None:
    report = bench.index()
    assert (report.notes, report.chunks, report.generation) == (0, 0, 1)
    assert bench.index().generation == 1


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_wrong_vault_path_makes_no_index(bench: Bench, kind: str) -> None:
    bench.vault.rmdir()
    if kind == "file":
        bench.vault.write_text("no folder")
    with pytest.raises(VaultError, match="vault"):
        bench.index()
    assert not bench.layout.root.exists()


def test_other_settings_ask_for_a_rebuild(bench: Bench) -> None:
    bench.write("a.md", "Words.")
    bench.index()
    bench.settings = bench.settings.with_overrides({"chunking.min_tokens": 5})
    with pytest.raises(
        IndexMismatch, match=r"min_tokens 32, settings name min_tokens 5.*--rebuild"
    ):
        bench.index()
    assert bench.index(rebuild=True).added == 1


def test_a_second_writer_is_told_who_the_first_is(bench: Bench) -> None:
    bench.write("a.md", "Words.")
    bench.index()
    with (
        WriterLock(bench.layout, "notehop serve"),
        pytest.raises(IndexLocked, match="notehop serve"),
    ):
        bench.index()


def test_a_folder_of_other_things_is_left_alone(bench: Bench) -> None:
    bench.layout.root.mkdir()
    (bench.layout.root / "thesis.doc").write_text("years of work")
    with pytest.raises(UsageError, match="--index-dir"):
        bench.index(rebuild=True)
    assert (bench.layout.root / "thesis.doc").read_text() == "years of work"


def test_a_folder_that_became_a_link_elsewhere_is_gone(bench: Bench, tmp_path: Path) -> None:
    bench.write("inside/a.md", "Confidential.")
    bench.index()
    (bench.vault / "inside").rename(tmp_path / "outside")
    (bench.vault / "inside").symlink_to(tmp_path / "outside")
    report = bench.index()
    assert (report.deleted, report.notes) == (1, 0)
    assert bench.chunks("inside/a.md") == []


def test_a_touched_private_note_stays_out(bench: Bench) -> None:
    bench.write("secret.md", "---\nprivate: true\n---\nWords.")
    bench.write("a.md", "See [[secret]].")
    bench.index()
    os.utime(bench.vault / "secret.md", (1, 1))
    bench.write("a.md", "See [[secret]] again.")
    report = bench.index()
    assert bench.links("a.md")[0].status == "excluded"
    assert (report.changed, report.unchanged, len(report.skipped)) == (1, 0, 1)


def test_a_renamed_private_note_is_not_counted(bench: Bench) -> None:
    bench.write("secret.md", "---\nprivate: true\n---\nWords.")
    bench.write("a.md", "Words.")
    bench.index()
    (bench.vault / "secret.md").rename(bench.vault / "hidden.md")
    report = bench.index()
    assert (report.added, report.moved, report.deleted, report.unchanged) == (0, 0, 0, 1)
    assert [path for path, _ in report.skipped] == ["hidden.md"]


def test_words_of_a_withdrawn_note_leave_every_file_of_ours(bench: Bench) -> None:
    bench.write("a.md", "The zanzibarquux is at the pier.")
    bench.write("b.md", "Another note.")
    bench.index()
    before = [*bench.layout.lexical.rglob("*"), *bench.layout.vectors.rglob("*.npy")]
    assert any(b"zanzibarquux" in file.read_bytes() for file in before)
    bench.write("a.md", "---\nprivate: true\n---\nThe zanzibarquux is at the pier.")
    bench.index()
    for file in bench.layout.root.rglob("*"):
        assert not file.is_file() or b"zanzibarquux" not in file.read_bytes(), file
    vectors = sum(np.load(file).shape[0] for file in bench.layout.vectors.glob("chunks*.npy"))
    assert vectors == 1


def test_words_of_a_withdrawn_note_leave_while_a_reader_is_open(bench: Bench) -> None:
    bench.write("a.md", "The zanzibarquux is at the pier.")
    bench.index()

    def holding() -> list[str]:
        files = [file for file in bench.layout.root.rglob("*") if file.is_file()]
        return [file.name for file in files if b"zanzibarquux" in file.read_bytes()]

    with Reader.open(bench.layout) as reader:
        held = reader.snapshot()
        bench.write("a.md", "---\nprivate: true\n---\nThe zanzibarquux is at the pier.")
        bench.index()
        # What an old generation shows is there until nobody sees it; the next run knows of it.
        assert set(holding()) <= {"catalog.sqlite", "catalog.sqlite-wal"}
        assert bench.layout.journal_mark.exists()
        bench.index()
        assert bench.layout.journal_mark.exists()
        held.close()
        bench.index()
        assert holding() == []
        assert not bench.layout.journal_mark.exists()


def test_a_run_that_failed_says_what_it_got_done(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.limits = Limits(batch_notes=1)
    for name in ("a.md", "b.md"):
        bench.write(name, f"Words of {name}.")

    real, calls = Catalog.commit, []

    def once(self: Catalog, batch: Batch) -> int:
        calls.append(batch)
        if len(calls) == 2:
            raise IndexUnwritable("the disk is full")
        return real(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "commit", once)
        with pytest.raises(IndexUnwritable):
            bench.index()
    record = read_run_record(bench.layout)
    assert record is not None
    assert (record.generation, record.added, record.error) == (1, 1, "the disk is full")
    indexer = Indexer(bench.vault, bench.settings, bench.layout, load=bench.model.load)
    indexer.update()
    record = read_run_record(bench.layout)
    assert record is not None
    assert record.error is None


def test_a_note_that_fails_again_is_at_rest(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write("a.md", "Words.")

    def breaks(*_: object, **__: object) -> None:
        raise RecursionError("too deep")

    with monkeypatch.context() as patch:
        patch.setattr("notehop.indexing.reading.parse_note", breaks)
        first = bench.index()
        assert [path for path, _ in first.failed] == ["a.md"]
        assert "RecursionError" in first.failed[0][1]
        assert bench.index().generation == first.generation
    mended = bench.index()
    assert (mended.added, mended.failed) == (1, ())


def test_excluding_an_attachment_reaches_its_links(bench: Bench) -> None:
    bench.write("a.md", "![[plan.png]]")
    bench.write("plan.png", "")
    bench.index()
    bench.settings = bench.settings.with_overrides({"vault.exclude": ["*.png"]})
    bench.index()
    assert bench.links("a.md")[0].status == "excluded"


def test_the_language_is_learnt_from_the_first_notes(bench: Bench) -> None:
    bench.index()
    bench.write("a.md", "Der Deich wurde im vergangenen Jahr erneuert, und die Schleuse hält nun.")
    bench.index()
    with bench.catalog() as catalog:
        assert catalog.meta()["fingerprint"]["language"] == "de"


def test_another_vaults_index_is_refused(bench: Bench, tmp_path: Path) -> None:
    bench.write("a.md", "Words.")
    bench.index()
    (tmp_path / "other").mkdir()
    first, bench.vault = bench.vault, tmp_path / "other"
    for rebuild in (False, True):
        with pytest.raises(IndexMismatch, match=r"index of .*vault, not of .*other"):
            bench.index(rebuild=rebuild)
    first.rename(tmp_path / "moved")
    bench.vault = tmp_path / "moved"
    assert bench.index().unchanged == 1


def test_what_is_no_part_of_the_vault_is_kept_for_the_status(bench: Bench) -> None:
    (bench.vault / "loop.md").symlink_to("loop.md")
    bench.index()
    with bench.catalog() as catalog:
        assert [path for path, _ in catalog.meta()["problems"]] == ["loop.md"]
    (bench.vault / "loop.md").unlink()
    bench.index()
    with bench.catalog() as catalog:
        assert catalog.meta()["problems"] == []
