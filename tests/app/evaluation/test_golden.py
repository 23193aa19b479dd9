"""Golden sets are read strictly, unpacked once, and placed in the notes of the index."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tests.support.product import (
    GoldenSet,
    Question,
    Target,
    UsageError,
    golden_sets,
    linked_at_random,
    read_questions,
    with_unrelated_links,
)

ROW = {"id": "q1", "question": "Who?", "gold": ["a.md"], "answer": "Ann"}


def golden_set(data: Path, *, row: object = ROW, folder: str = "vault") -> Path:
    target = data / "set"
    target.mkdir(parents=True)
    (target / "queries.jsonl").write_text(f"{json.dumps(row)}\n" if row else "")
    note = data / "a.md"
    note.write_text("Words.")
    with tarfile.open(target / "vault.tar.gz", "w:gz") as archive:
        archive.add(note, f"{folder}/a.md")
    return target


@pytest.mark.parametrize("named", [".", "set"])
def test_a_set_is_unpacked_once(tmp_path: Path, named: str) -> None:
    golden_set(tmp_path / "data")
    (found,) = golden_sets(tmp_path / "data" / named, tmp_path / "work")
    assert found.name == "set"
    assert (found.vault / "a.md").read_text() == "Words."
    assert found.questions == (Question("q1", "Who?", (Target("a.md"),), answers=("Ann",)),)
    (found.vault / "a.md").write_text("Mine.")
    (again,) = golden_sets(tmp_path / "data" / named, tmp_path / "work")
    assert (again.vault / "a.md").read_text() == "Mine."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "q1"}, r"queries\.jsonl:1: not an object with"),
        ({**ROW, "gold": "a.md"}, "gold is no list of paths"),
        ({**ROW, "gold": []}, "gold is no list of paths"),
        ({**ROW, "question": " "}, "the question is no text"),
        ({**ROW, "answers": "Ann"}, "answers is no list"),
        ({**ROW, "answer": {"text": "Ann"}}, "neither text nor number"),
        ([], "holds no questions"),
    ],
)
def test_questions_that_cannot_be_read_are_named(tmp_path: Path, row: object, said: str) -> None:
    target = golden_set(tmp_path, row=row)
    with pytest.raises(UsageError, match=said):
        read_questions(target / "queries.jsonl")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param({"answer": " Ann "}, ("Ann",), id="text"),
        pytest.param({"answer": 1974}, ("1974",), id="number"),
        pytest.param({"answer": True}, ("yes",), id="truth"),
        pytest.param({"answers": ["Ann", "Anna", "Ann"]}, ("Ann", "Anna"), id="several"),
        pytest.param({"answer": "Ann", "answer_aliases": ["A."]}, ("Ann", "A."), id="aliases"),
        pytest.param({"answer": "", "answers": None}, (), id="unknown"),
    ],
)
def test_the_answer_is_read(tmp_path: Path, keys: dict[str, object], expected: object) -> None:
    row = {key: value for key, value in ROW.items() if key != "answer"} | keys
    target = golden_set(tmp_path, row=row)
    assert read_questions(target / "queries.jsonl")[0].answers == expected


def test_a_set_is_copied_once_and_keeps_its_questions(tmp_path: Path) -> None:
    vault = tmp_path / "set" / "vault"
    (vault / "deep").mkdir(parents=True)
    (vault / "a.md").write_text("A.")
    (vault / "deep" / "b.md").write_text("B.")
    asked = (Question("q", "What?", (Target("a.md"),)),)
    golden = GoldenSet("set", vault, asked)
    found = with_unrelated_links(golden, tmp_path, 1)
    assert (found.name, found.questions) == ("set+1-links", asked)
    assert (found.vault / "deep" / "b.md").read_text() == "B (see [[a]])."
    assert (vault / "a.md").read_text() == "A."
    (found.vault / "a.md").write_text("Mine.")
    assert (with_unrelated_links(golden, tmp_path, 1).vault / "a.md").read_text() == "Mine."
    assert with_unrelated_links(golden, tmp_path, 1, seed=2).name == "set+1-links-seed-2"


NOTES = {
    "Atlas.md": "---\naliases: [A. B.]\n---\n# Atlas. A map\nIt began in [[Plan]]. It grew! Why?\n",
    "Plan.md": "One sentence without an end\n\n```\nCode. More code.\n```\n\n| a. | b. |\n",
    "Empty.md": "",
    **{f"deep/Note {n}.md": f"Note {n} says this. And that." for n in range(30)},
    "Odd #1.md": "A name that no link can hold.",
}


def test_only_sentences_of_the_text_get_them() -> None:
    atlas = linked_at_random(NOTES, 20)["Atlas.md"]
    assert atlas.startswith("---\naliases: [A. B.]\n---\n# Atlas. A map\nIt began in [[Plan]]")
    assert atlas.endswith("?\n")
    plan = linked_at_random(NOTES, 20)["Plan.md"]
    assert "```\nCode. More code.\n```\n\n| a. | b. |\n" in plan
    assert plan.startswith("One sentence without an end (see [[")
