"""Questions to evaluate on: answer sets and golden sets."""

import json
import tarfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.app.cli.test_cli import told
from tests.support import product
from tests.support.commands import call, options, printed
from tests.support.product import answer_rows, answer_values

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


def read(file: Path) -> Any:
    return product.read_questions(file, product.AnswerQuestion)


def answer(text: str, sources: str = "", connected: str = "") -> Any:
    """A reply with one source and one connected note of these texts."""

    def place(said: str) -> Any:
        return SimpleNamespace(title="", heading="", text=said)

    mode = "extractive" if text else "none"
    notes = [place(connected)]
    return SimpleNamespace(mode=mode, answer=text, sources=[place(sources)], connected_notes=notes)


def test_what_an_answer_is_held_to(tmp_path: Path) -> None:
    (question,) = read(a_set(tmp_path, FACT))
    long = "It was painted. " + "Nothing here. " * 30 + "Tar varnish, two\ncoats."
    reply = answer(long, sources="tar varnish", connected="TWO coats")
    # Half of it stands in the sources, half in a connected note; what is said late is not first.
    assert answer_values(question, reply) == [0, 1, 1, 0, 1, 0, 0]
    marks = answer("> It is so.\n" + "> - and\n" * 35 + "> Pitch, two coats.")
    assert answer_values(question, marks)[3] == 0
    marks = answer("> It is so.\n> |---|\n" + "> - and\n" * 34 + "> Pitch, two coats.")
    assert answer_values(question, marks)[3] == 1  # they are no words
    refused = answer_values(question, answer("", sources="pitch, two coats"))
    assert refused == [1, 1, 0, 0, 0, 0, 1]
    without = answer_values(question, answer("Pitch."))
    assert without[:4] == [0, 0, 0, 0]
    assert np.isnan(without[4:6]).all()


def test_rows_and_gains(tmp_path: Path) -> None:
    found = read(a_set(tmp_path, FACT, {**NEAR, "why": "near"}))
    good = answer("Pitch, two coats.", sources="pitch, two coats")
    values = np.asarray([answer_values(found[0], good), answer_values(found[1], answer(""))])
    by_group = {row.group: row for row in answer_rows(found, values)}
    assert list(by_group) == ["answerable", "fact", "unanswerable", "near"]
    assert by_group["answerable"].measures["contains of held"].value == 1
    assert set(by_group["near"].measures) == {"refused"}
    worse = np.asarray([[1, 1, 0, 0, 0, 0, 1], [np.nan] * 6 + [0]])
    short = answer_rows(found, worse, against=values)
    assert short[0].gains["contains"].value == -1
    assert short[2].gains["refused"].value == -1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**FACT, "kind": "riddle"}, "kind: Input should be 'fact'"),
        ({**FACT, "contains": []}, "contains and notes are lists"),
        ({**FACT, "contains": ["(open"]}, "contains.0: Input should be a valid regular"),
        (NEAR, "why it has no answer"),
        ({**NEAR, "why": "far"}, "why: Input should be 'near'"),
        ({**FACT, "answerable": "yes"}, "answerable: Input should be a valid boolean"),
    ],
)
def test_a_line_that_is_no_question(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    file = a_set(tmp_path, FACT, row)
    with pytest.raises(product.UsageError) as error:
        read(file)
    assert f"{file}:2: " in str(error.value)
    assert ": : " not in str(error.value)
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
        ({"id": "q1"}, r"queries\.jsonl:1: no question, .*gold: Field required"),
        ({**ROW, "gold": "a.md"}, "gold: Input should be a valid array"),
        ({"id": "q1", "gold": []}, "question: Field required, gold: Tuple should have at"),
        ({**ROW, "question": " "}, "question: String should have at least 1"),
        ([], "holds no questions"),
    ],
)
def test_questions_that_cannot_be_read_are_named(tmp_path: Path, row: object, said: str) -> None:
    target = golden_set(tmp_path, row=row)
    with pytest.raises(product.UsageError, match=said):
        product.read_questions(target / "queries.jsonl", product.Question)
