"""Questions to evaluate on: answer sets and golden sets."""

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.cli.test_cli import told
from tests.support import product
from tests.support.commands import call, options, printed
from tests.support.product import rows

FACT: dict[str, Any] = {
    "id": "hull",
    "kind": "fact",
    "question": "Which paint is on the hull?",
    "answerable": True,
    "contains": ["tar varnish|pitch", r"two\s+coats"],
    "notes": [["Boats/Paint.md", "Boats/Hull.md"]],
}

NEAR = {"id": "price", "kind": "number", "question": "What did it cost?", "answerable": False}


def a_set(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "boats.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def hull(tmp_path: Path) -> product.AnswerQuestion:
    return product.read_answer_set(a_set(tmp_path, FACT))[0]


def test_what_an_answer_is_held_to(tmp_path: Path) -> None:
    question = hull(tmp_path)
    long = "It was painted. " + "Nothing here. " * 30 + "Tar varnish, two\ncoats."
    reply = product.Answered(long, sources="tar varnish", connected="TWO coats")
    # Half of it stands in the sources, half in a connected note; what is said late is not first.
    assert product.measured(question, reply) == [0, 1, 1, 0, 1, 0, 0]
    refused = product.measured(question, product.Answered("", sources="pitch, two coats"))
    assert refused == [1, 1, 0, 0, 0, 0, 1]
    without = product.measured(question, product.Answered("Pitch."))
    assert without[:4] == [0, 0, 0, 0]
    assert np.isnan(without[4:6]).all()


def test_rows_and_gains(tmp_path: Path) -> None:
    found = product.read_answer_set(a_set(tmp_path, FACT, {**NEAR, "why": "near"}))
    good = product.Answered("Pitch, two coats.", sources="pitch, two coats")
    values = np.asarray(
        [product.measured(found[0], good), product.measured(found[1], product.Answered(""))],
        dtype=np.float64,
    )
    by_group = {row.group: row for row in rows(found, values)}
    assert list(by_group) == ["answerable", "fact", "unanswerable", "near"]
    assert by_group["answerable"].measures["contains of held"].value == 1
    assert set(by_group["near"].measures) == {"refused"}
    worse = np.asarray([[1, 1, 0, 0, 0, 0, 1], [np.nan] * 6 + [0]])
    short = rows(found, worse, against=values)
    assert short[0].gains["contains"].value == -1
    assert short[2].gains["refused"].value == -1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**FACT, "kind": "riddle"}, "kind 'riddle' is none of fact"),
        ({**FACT, "contains": []}, "contains and notes are lists"),
        ({**FACT, "contains": ["(open"]}, "unterminated subpattern"),
        (NEAR, "'why'"),
        ({**NEAR, "why": "far"}, "why 'far' is none of near"),
        ({**FACT, "answerable": "yes"}, "neither true nor false"),
    ],
)
def test_a_line_that_is_no_question(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    file = a_set(tmp_path, FACT, row)
    with pytest.raises(product.UsageError) as error:
        product.read_answer_set(file)
    assert f"{file}:2: " in str(error.value)
    assert said in str(error.value)


@pytest.mark.model
def test_the_command(indexed: tuple[Path, Path], tmp_path: Path) -> None:
    asked = {**FACT, "contains": ["14 June"], "notes": ["Atlas.md"]}
    asked["question"] = "When is the launch of Atlas?"
    file = a_set(tmp_path, asked, {**NEAR, "question": "qwrt zxpl?", "why": "gibberish"})
    where = options(*indexed)
    out = tmp_path / "found.json"
    compared = ("--compare", "retrieval.top_k=1", "current")
    shown = printed("eval", "--answers", file, *where, *compared, "--out", out)
    assert "current, %" in shown
    assert "gained by current, %" in shown
    assert "gibberish" in shown
    # What judges stays unseen.
    assert asked["question"] not in shown
    assert "launch of Atlas" not in out.read_text()
    other = call("eval", "--answers", a_set(tmp_path, FACT), *where)
    assert "hull needs Boats/Paint.md or Boats/Hull.md" in told(other, 2)


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
    (found,) = product.golden_sets(tmp_path / "data" / named, tmp_path / "work")
    assert found.name == "set"
    assert (found.vault / "a.md").read_text() == "Words."
    assert found.questions == (product.Question("q1", "Who?", ("a.md",)),)
    (found.vault / "a.md").write_text("Mine.")
    (again,) = product.golden_sets(tmp_path / "data" / named, tmp_path / "work")
    assert (again.vault / "a.md").read_text() == "Mine."


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "q1"}, r"queries\.jsonl:1: not an object with"),
        ({**ROW, "gold": "a.md"}, "gold is no list of paths"),
        ({**ROW, "gold": []}, "gold is no list of paths"),
        ({**ROW, "question": " "}, "the question is no text"),
        ([], "holds no questions"),
    ],
)
def test_questions_that_cannot_be_read_are_named(tmp_path: Path, row: object, said: str) -> None:
    target = golden_set(tmp_path, row=row)
    with pytest.raises(product.UsageError, match=said):
        product.read_questions(target / "queries.jsonl")
