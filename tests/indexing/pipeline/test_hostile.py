"""Files that break note readers: each meets its fate, none ends the run, nothing secret is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.notes import Bench
from tests.support.product import NoteStatus, Report
from tests.vaults.hostile import Case, build_hostile, make_readable

SECRETS = (
    "secret:",
    *("marzipan", "nougat", "praline", "truffle", "caramel", "liquorice", "toffee", "fudge"),
)


@dataclass(frozen=True, slots=True)
class Run:
    bench: Bench
    cases: tuple[Case, ...]
    first: Report
    second: Report


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    bench = Bench(tmp_path_factory.mktemp("hostile"))
    cases = build_hostile(bench.vault, big_bytes=20_000_000)
    try:
        yield Run(bench, cases, bench.index(), bench.index())
    finally:
        make_readable(bench.vault)


def told(report: Report) -> dict[str, str]:
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
        is_in = note is not None and note.status is NoteStatus.INDEXED
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


def test_every_note_is_accounted_for(run: Run) -> None:
    with run.bench.catalog() as catalog:
        stood = {note.path for note in catalog.notes(NoteStatus.INDEXED)}
    assert run.first.notes == run.first.added == len(stood)
    assert {path for path, _ in run.first.failed} <= {"bytes/Unreadable.md"}
    assert stood <= {case.path for case in run.cases}
    assert not stood & told(run.first).keys()
    assert "max_note_bytes" in told(run.first)["Big.md"]


def test_what_is_kept_out_leaves_no_word(run: Run) -> None:
    kept_out = [case.path for case in run.cases if case.fate == "excluded"]
    with run.bench.catalog() as catalog:
        ids = [key.id for key in catalog.chunk_keys()]
        texts = [chunk.text.casefold() for chunk in catalog.chunks(ids).values()]
        tokens = {
            token for _, said in catalog.chunk_tokens() for held in said.values() for token in held
        }
        rows = [row for row in map(catalog.note, kept_out) if row is not None]
    assert len(texts) == len(ids) > 0
    for secret in SECRETS:
        assert not [text for text in texts if secret in text], secret
        assert secret.rstrip(":") not in tokens
    assert all(row.status is NoteStatus.SKIPPED and row.front_matter == {} for row in rows)
    asked = " ".join(run.bench.model.asked).casefold()
    assert not [secret for secret in SECRETS if secret in asked]


def test_a_second_run_does_nothing(run: Run) -> None:
    assert run.second.generation == run.first.generation
    assert (run.second.added, run.second.changed, run.second.deleted) == (0, 0, 0)
    assert (run.second.moved, run.second.embedded) == (0, 0)
    assert run.second.unchanged == run.first.notes
    assert told(run.second) == told(run.first)
    assert run.bench.model.loaded == 1


def test_an_outside_file_is_named_and_not_read(run: Run) -> None:
    there = {case.path for case in run.cases}
    outside = [path for path in ("links/Out", "links/Out.md") if path in there]
    for path in outside:
        assert "leaves the vault" in told(run.first)[path]
