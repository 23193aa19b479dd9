"""Golden sets are read strictly; shares, gains and intervals are what they say."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from app.evaluation.golden import Question, golden_sets, read_questions
from app.evaluation.intervals import mean
from app.evaluation.multihop import ask_all, compare
from config.errors import UsageError

ROW = {"id": "q1", "question": "Who?", "gold": ["a.md"]}
QUESTIONS = tuple(Question(str(n), f"{n}", frozenset({"a.md", f"{n}.md"})) for n in range(4))


def golden_set(data: Path, *, row: object = ROW, folder: str = "vault") -> Path:
    target = data / "set"
    target.mkdir(parents=True)
    (target / "queries.jsonl").write_text(f"{json.dumps(row)}\n" if row else "")
    note = data / "a.md"
    note.write_text("Words.")
    with tarfile.open(target / "vault.tar.gz", "w:gz") as archive:
        archive.add(note, f"{folder}/a.md")
    return target


def test_a_set_is_unpacked_once(tmp_path: Path) -> None:
    golden_set(tmp_path / "data")
    (found,) = golden_sets(tmp_path / "data", tmp_path / "work")
    assert (found.vault / "a.md").read_text() == "Words."
    assert found.questions == (Question("q1", "Who?", frozenset({"a.md"})),)
    (found.vault / "a.md").write_text("Mine.")
    (again,) = golden_sets(tmp_path / "data", tmp_path / "work")
    assert (again.vault / "a.md").read_text() == "Mine."


@pytest.mark.parametrize(
    ("row", "said"),
    [({"id": "q1"}, r"queries\.jsonl:1: not an object with"), ([], "holds no questions")],
)
def test_questions_that_cannot_be_read_are_named(tmp_path: Path, row: object, said: str) -> None:
    target = golden_set(tmp_path, row=row)
    with pytest.raises(UsageError, match=said):
        read_questions(target / "queries.jsonl")


def test_an_archive_that_is_not_one_is_named(tmp_path: Path) -> None:
    target = golden_set(tmp_path / "data")
    (target / "vault.tar.gz").unlink()
    with pytest.raises(UsageError, match=r"vault\.tar\.gz: cannot be unpacked"):
        golden_sets(tmp_path / "data", tmp_path / "work")
    other = golden_set(tmp_path / "more", folder="notes")
    with pytest.raises(UsageError, match="holds no folder vault"):
        golden_sets(other.parent, tmp_path / "work2")


def test_every_gold_note_has_to_be_there() -> None:
    outcome = ask_all(lambda _: ["a.md", "1.md", "2.md", "x.md"], QUESTIONS)
    assert outcome.supported.tolist() == [False, True, True, False]
    assert outcome.chunks.tolist() == [4, 4, 4, 4]


def test_settings_are_held_to_the_first() -> None:
    first = ask_all(lambda _: ["a.md", "0.md", "1.md"], QUESTIONS)
    second = ask_all(lambda _: ["a.md", "1.md", "2.md", "3.md"], QUESTIONS)
    rows = compare({"first": first, "second": second}, QUESTIONS)
    assert [row.share.value for row in rows] == [0.5, 0.75]
    assert rows[1].gain.value == 0.25
    assert (rows[1].helped, rows[1].hurt) == (("2", "3"), ("0",))
    assert rows[0].gain.low == rows[0].gain.high == 0


def test_an_interval_holds_the_mean_and_narrows() -> None:
    few = mean(np.asarray([0.0, 1.0] * 10))
    many = mean(np.asarray([0.0, 1.0] * 1000))
    assert few.low < 0.5 < few.high
    assert many.high - many.low < (few.high - few.low) / 5
    assert mean(np.ones(9)).low == 1
    with pytest.raises(ValueError, match="nothing to estimate"):
        mean(np.asarray([]))
