"""Updates of some paths, the language of a vault, and notes that mean harm."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support import product
from tests.support.notes import Bench
from tests.vaults.hostile import Case, build_hostile, make_readable


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


def test_the_first_update_of_all_looks_at_all(bench: Bench) -> None:
    bench.write("a.md", "One.")
    bench.write("b.md", "Two.")
    assert bench.indexer().update(["a.md"]).added == 2


@pytest.fixture
def several(indexed: Bench) -> Bench:
    """With three new notes, each a batch of its own."""
    indexed.limits = product.Limits(batch_notes=1)
    for number in range(3):
        indexed.write(f"more{number}.md", f"More {number}.")
    return indexed


def test_an_update_after_a_run_that_was_cut_off_looks_at_all(
    several: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = several.indexer()
    asked = 0

    def fail(texts: list[str], *_: object) -> object:
        nonlocal asked
        asked += 1
        if asked == 3:  # the first note is stored by then
            raise KeyboardInterrupt
        return type(several.model).embed(several.model, texts)

    monkeypatch.setattr(several.model, "embed", fail)
    with pytest.raises(KeyboardInterrupt):
        found.update(None)
    assert "more0.md" in paths(several)
    assert "more2.md" not in paths(several)
    found.update(["a.md"])
    assert "more2.md" in paths(several)


def test_what_was_passed_over_elsewhere_stays_known(indexed: Bench) -> None:
    (indexed.vault / "lost.md").symlink_to("nowhere.md")
    os.mkfifo(indexed.vault / "deep" / "pipe.md")
    found = indexed.indexer()
    found.update(None)
    with indexed.catalog() as catalog:
        assert [path for path, _ in catalog.meta()["problems"]] == ["deep/pipe.md", "lost.md"]
    (indexed.vault / "lost.md").unlink()
    found.update(["lost.md"])
    with indexed.catalog() as catalog:
        assert [path for path, _ in catalog.meta()["problems"]] == ["deep/pipe.md"]


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


def test_each_run_goes_by_the_language_of_the_notes_alone(indexed: Bench) -> None:
    said = "Der Kessel pfeift, sobald das Wasser kocht, und muss einmal im Monat entkalkt werden. "
    for number in range(9):
        card = {"id": "1", "type": "text", "text": 9 * said, "x": 0, "y": 0, "width": 9, "height": 9}
        indexed.write(f"{number}.canvas", json.dumps({"nodes": [card]}))
    indexed.write("a.md", "The kettle has to be cleaned once a month, or it tastes of stone.")
    assert indexed.index().advice == ()
    for name in ("a.md", "b.md", "deep/c.md"):
        indexed.write(name, said)
    # A follower takes them in; whoever asks afterwards is told.
    indexed.indexer().update()
    words, meaning = indexed.index().advice
    assert words.startswith("most notes are in German, and the index was made for English;")
    assert "German, which all-MiniLM-L6-v2 does not read" in meaning
    assert 'model = "multilingual-e5-small"' in meaning
    for line in (words, meaning):
        assert line.endswith("run: notehop index --rebuild")


SECRETS = (
    "secret:",
    *("marzipan", "nougat", "praline", "truffle", "caramel", "liquorice", "toffee", "fudge"),
)


@dataclass(frozen=True, slots=True)
class Run:
    bench: Bench
    cases: tuple[Case, ...]
    first: product.Report
    second: product.Report


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    bench = Bench(tmp_path_factory.mktemp("hostile"))
    cases = build_hostile(bench.vault, big_bytes=20_000_000)
    try:
        yield Run(bench, cases, bench.index(), bench.index())
    finally:
        make_readable(bench.vault)


def told(report: product.Report) -> dict[str, str]:
    """Path -> reason of all that the report says is not in the index."""
    return dict((*report.skipped, *report.failed))


def shown(path: str) -> str:
    """A path as a report shows it: it may hold bytes that are no text."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def test_every_case_meets_its_fate(run: Run) -> None:
    reasons = told(run.first)
    with run.bench.catalog() as catalog:
        found = {note.path: note for note in catalog.notes()}
        cut_up = {key.path for key in catalog.chunk_keys()}
    missed: list[tuple[str, str]] = []
    for case in run.cases:
        path = shown(case.path)
        note = found.get(path)
        is_in = note is not None and note.status is product.NoteStatus.INDEXED
        assert is_in == (path in cut_up), path
        # A dot-folder is no part of a vault: it is passed over without a word.
        is_out = not is_in and (bool(reasons.get(path)) or path.startswith("."))
        fits = {
            "indexed": is_in and path not in reasons,
            "excluded": is_out,
            "skipped": is_out,
            "either": is_in or is_out,
        }
        if not fits[case.fate]:
            missed.append((case.fate, f"{path}: {reasons.get(path)}, {case.why}"))
    assert missed == []


def test_what_is_kept_out_leaves_no_word(run: Run) -> None:
    kept_out = [case.path for case in run.cases if case.fate == "excluded"]
    with run.bench.catalog() as catalog:
        ids = [key.id for key in catalog.chunk_keys()]
        texts = [chunk.text.casefold() for chunk in catalog.chunks(ids).values()]
        tokens = {token for _, said in catalog.chunk_tokens() for held in said.values() for token in held}
        rows = [row for row in map(catalog.note, kept_out) if row is not None]
    assert len(texts) == len(ids) > 0
    for secret in SECRETS:
        assert not [text for text in texts if secret in text], secret
        assert secret.rstrip(":") not in tokens
    assert all(row.status is product.NoteStatus.SKIPPED and row.front_matter == {} for row in rows)
    asked = " ".join(run.bench.model.asked).casefold()
    assert not [secret for secret in SECRETS if secret in asked]


def test_a_second_run_does_nothing(run: Run) -> None:
    assert run.second.generation == run.first.generation
    assert (run.second.added, run.second.changed, run.second.deleted) == (0, 0, 0)
    assert (run.second.moved, run.second.embedded) == (0, 0)
    assert run.second.unchanged == run.first.notes
    assert told(run.second) == told(run.first)
    assert run.bench.model.loaded == 1


def test_there_is_something_left_to_tidy_while_a_query_keeps_the_words_of_a_withdrawn_note(
    indexed: Bench,
) -> None:
    found = indexed.indexer()
    with indexed.catalog() as catalog:
        with catalog.snapshot() as reading:
            assert reading.counts().chunks
            indexed.write("b.md", "---\nprivate: true\n---\nHere.")
            found.update(["b.md"])
            assert not found.tidy()
        assert found.tidy()
