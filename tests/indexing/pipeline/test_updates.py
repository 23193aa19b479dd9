"""Updates of some paths: what they look at, what they remember, and when they look at all."""

from __future__ import annotations

import os

import pytest

from tests.support.notes import Bench
from tests.support.product import Limits, read_run_record


def paths(bench: Bench) -> list[str]:
    with bench.catalog() as catalog:
        return list(catalog.stamps())


@pytest.fixture
def indexed(bench: Bench) -> Bench:
    bench.write("a.md", "See [[b]] and ![[pic.png]].")
    bench.write("b.md", "Here.")
    bench.write("deep/c.md", "See [[a]].")
    bench.index()
    return bench


def test_only_what_is_named_is_looked_at(indexed: Bench) -> None:
    found = indexed.indexer()
    indexed.write("b.md", "Here once more.")
    indexed.write("deep/c.md", "See [[b]].")
    update = found.update(["b.md"])
    assert (update.changed, update.wrote, update.notes) == (1, True, 3)
    assert indexed.links("deep/c.md")[0].target_path == "a.md"
    assert found.update(["deep"]).changed == 1
    assert indexed.links("deep/c.md")[0].target_path == "b.md"


def test_what_another_process_wrote_is_seen(indexed: Bench) -> None:
    found = indexed.indexer()
    found.update(["b.md"])
    indexed.write("new.md", "New.")
    indexed.index()
    (indexed.vault / "new.md").unlink()
    assert found.update(["new.md"]).deleted == 1


def test_the_first_update_of_all_looks_at_all(bench: Bench) -> None:
    bench.write("a.md", "One.")
    bench.write("b.md", "Two.")
    assert bench.indexer().update(["a.md"]).added == 2


def test_an_update_after_a_run_that_was_cut_off_looks_at_all(
    indexed: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed.limits = Limits(batch_notes=1)
    for number in range(3):
        indexed.write(f"more{number}.md", f"More {number}.")
    found = indexed.indexer()
    asked = 0

    def fail(texts: list[str], *_: object) -> object:
        nonlocal asked
        asked += 1
        if asked == 3:  # the first note is stored by then
            raise KeyboardInterrupt
        return type(indexed.model).embed(indexed.model, texts)

    monkeypatch.setattr(indexed.model, "embed", fail)
    with pytest.raises(KeyboardInterrupt):
        found.update(None)
    assert "more0.md" in paths(indexed)
    assert "more2.md" not in paths(indexed)
    found.update(["a.md"])
    assert "more2.md" in paths(indexed)


def test_what_was_passed_over_elsewhere_stays_known(indexed: Bench) -> None:
    (indexed.vault / "lost.md").symlink_to("nowhere.md")
    (indexed.vault / "deep" / "gone.md").symlink_to("nowhere.md")
    found = indexed.indexer()
    found.update(None)
    with indexed.catalog() as catalog:
        assert [path for path, _ in catalog.meta()["problems"]] == ["deep/gone.md", "lost.md"]
    (indexed.vault / "lost.md").unlink()
    found.update(["lost.md"])
    with indexed.catalog() as catalog:
        assert [path for path, _ in catalog.meta()["problems"]] == ["deep/gone.md"]


def test_a_run_leaves_a_record_and_an_idle_update_keeps_it(indexed: Bench) -> None:
    record = read_run_record(indexed.layout)
    assert record is not None
    assert (record.added, record.error) == (3, None)
    indexed.indexer().update(["a.md"])
    assert read_run_record(indexed.layout) == record


def test_a_symbolic_link_shows_what_its_file_says(indexed: Bench) -> None:
    (indexed.vault / "alias.md").symlink_to("deep/c.md")
    found = indexed.indexer()
    found.update(None)
    assert [chunk.text for chunk in indexed.chunks("alias.md")] == ["See a."]
    indexed.write("deep/c.md", "Other words.")
    found.update(["deep/c.md"])
    assert [chunk.text for chunk in indexed.chunks("alias.md")] == ["Other words."]
    (indexed.vault / "alias.md").unlink()
    found.update(["alias.md"])
    with indexed.catalog() as catalog:
        assert catalog.meta()["symlinks"] == []


def test_two_edits_within_one_tick_of_the_clock_are_two(indexed: Bench) -> None:
    found = indexed.indexer()
    note = indexed.vault / "b.md"
    note.write_text("One.")
    found.update(["b.md"])
    status = note.stat()
    note.write_text("Two.")
    os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert found.update(["b.md"]).changed == 1
    assert [chunk.text for chunk in indexed.chunks("b.md")] == ["Two."]
    assert not found.update(["b.md"]).wrote
