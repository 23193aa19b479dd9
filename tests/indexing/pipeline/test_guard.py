"""A vault that is not there is not taken for one whose notes were deleted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.notes import Bench
from tests.support.product import (
    LATELY,
    Indexer,
    MassDeletion,
    VaultError,
    read_run_record,
    write_run_record,
)

NOTES = 24


@pytest.fixture
def full(bench: Bench) -> Bench:
    for number in range(NOTES):
        bench.write(f"{number}.md", f"Words of note {number}.")
    bench.index()
    return bench


def delete(bench: Bench, count: int) -> None:
    for number in range(count):
        (bench.vault / f"{number}.md").unlink()


def indexer(bench: Bench) -> Indexer:
    return Indexer(bench.vault, bench.settings, bench.layout, load=bench.model.load)


def test_an_emptied_vault_is_refused_and_nothing_changes(full: Bench) -> None:
    before = full.content()
    delete(full, NOTES)
    with pytest.raises(MassDeletion, match=r"24 of the 24 notes .* --allow-mass-delete"):
        full.index()
    assert full.content() == before


def test_a_rebuild_of_an_emptied_vault_is_refused_too(full: Bench) -> None:
    before = full.content()
    delete(full, NOTES)
    with pytest.raises(MassDeletion):
        full.index(rebuild=True)
    assert full.content() == before


@pytest.mark.parametrize("rebuild", [False, True])
def test_what_is_allowed_is_done(full: Bench, rebuild: bool) -> None:
    delete(full, NOTES)
    report = indexer(full).run(rebuild=rebuild, allow_mass_delete=True)
    assert report.notes == 0


def test_half_may_go_and_more_may_not(full: Bench) -> None:
    delete(full, NOTES // 2)
    assert full.index().deleted == NOTES // 2
    for number in range(NOTES):
        full.write(f"{number}.md", f"Words of note {number}.")
    full.index()
    delete(full, NOTES // 2 + 1)
    with pytest.raises(MassDeletion):
        full.index()


def test_a_few_may_always_go(bench: Bench) -> None:
    for number in range(10):
        bench.write(f"{number}.md", f"Words of note {number}.")
    bench.index()
    delete(bench, 10)
    assert bench.index().deleted == 10


def test_a_moved_vault_of_notes_is_none_of_deletions(full: Bench) -> None:
    (full.vault / "all").mkdir()
    for number in range(NOTES):
        (full.vault / f"{number}.md").rename(full.vault / "all" / f"{number}.md")
    assert full.index().moved == NOTES


def test_the_share_is_a_setting(full: Bench) -> None:
    full.settings = full.settings.with_overrides({"vault.max_delete_share": 1})
    delete(full, NOTES)
    assert full.index().deleted == NOTES


def test_an_update_of_some_paths_is_held_back_likewise(full: Bench) -> None:
    delete(full, NOTES)
    with pytest.raises(MassDeletion):
        indexer(full).update([f"{number}.md" for number in range(NOTES)])


def test_a_vault_that_is_not_there_is_an_error_and_nothing_changes(full: Bench) -> None:
    full.vault.rename(full.vault.with_name("away"))
    for rebuild in (False, True):
        with pytest.raises(VaultError):
            full.index(rebuild=rebuild)
    full.vault.with_name("away").rename(full.vault)
    assert full.index().unchanged == NOTES


def test_what_went_just_before_counts_with_what_goes_now(full: Bench) -> None:
    for number in range(5):
        (full.vault / f"{number}.md").unlink()
    indexer = Indexer(full.vault, full.settings, full.layout, load=full.model.load)
    with pytest.raises(MassDeletion, match="after the 30 of the last minutes no more"):
        indexer.update(lately=30)
    assert indexer.update(lately=3).deleted == 5
    # What goes away there and comes here is a move, whatever went before.
    (full.vault / "5.md").rename(full.vault / "moved.md")
    assert indexer.update(lately=300).moved == 1


def lose(bench: Bench, first: int, last: int) -> None:
    for number in range(first, last):
        (bench.vault / f"{number}.md").unlink()


def test_what_runs_of_their_own_forgot_counts_together(full: Bench) -> None:
    """A disk may lose a vault slice by slice, and a clock may run the index after each."""
    lose(full, 0, 8)
    assert full.index().deleted == 8
    lose(full, 8, 14)
    for _ in range(2):
        with pytest.raises(MassDeletion, match="after the 8 of the last minutes no more"):
            full.index()
    # What comes back is no loss.
    for number in range(6):
        full.write(f"{number}.md", f"Words of note {number}.")
    assert (full.index().added, full.index().deleted) == (6, 0)


def test_what_is_allowed_is_not_counted_again(full: Bench) -> None:
    lose(full, 0, 8)
    full.index()
    lose(full, 8, 14)
    indexer(full).run(allow_mass_delete=True)
    lose(full, 14, 18)
    assert full.index().deleted == 4


def test_after_some_minutes_it_is_forgotten(full: Bench) -> None:
    lose(full, 0, 8)
    full.index()
    record = read_run_record(full.layout)
    assert record is not None
    [(ended, count)] = [one for one in record.losses if one[1] > 0]
    long_ago = replace(record, losses=((ended - LATELY, count),))
    write_run_record(full.layout, long_ago)
    lose(full, 8, 14)
    assert full.index().deleted == 6


def test_what_a_follower_took_in_counts_for_a_run(full: Bench) -> None:
    lose(full, 0, 8)
    assert indexer(full).update([f"{number}.md" for number in range(8)]).deleted == 8
    lose(full, 8, 14)
    with pytest.raises(MassDeletion, match="after the 8"):
        full.index()
