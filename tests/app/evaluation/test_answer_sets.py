"""Answer sets: what is read, what an answer is held to, and ``notehop eval --answers``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.cli.test_cli import call, told
from tests.support.product import (
    AnswerQuestion,
    Replied,
    UsageError,
    conclusion,
    measured,
    read_answer_set,
    rows,
)

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


def printed(*arguments: object) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def hull(tmp_path: Path) -> AnswerQuestion:
    return read_answer_set(a_set(tmp_path, FACT))[0]


def test_what_an_answer_is_held_to(tmp_path: Path) -> None:
    question = hull(tmp_path)
    long = "It was painted. " + "Nothing here. " * 30 + "Tar varnish, two\ncoats."
    reply = Replied(long, False, "tar varnish", "TWO coats")
    # Half of it stands in the sources, half in a connected note; what is said late is not first.
    assert measured(question, reply) == [0, 1, 1, 0, 1, 0, 0]
    refused = measured(question, Replied(long, True, "pitch, two coats"))
    assert refused == [1, 1, 0, 0, 0, 0, 1]
    without = measured(question, Replied("Pitch.", False))
    assert without[:4] == [0, 0, 0, 0]
    assert np.isnan(without[4:6]).all()


def test_rows_and_what_falls_short(tmp_path: Path) -> None:
    found = read_answer_set(a_set(tmp_path, FACT, {**NEAR, "why": "near"}))
    good = Replied("Pitch, two coats.", False, "pitch, two coats")
    values = np.asarray(
        [measured(found[0], good), measured(found[1], Replied("no", True))], dtype=np.float64
    )
    by_group = {row.group: row for row in rows(found, values)}
    assert list(by_group) == ["answerable", "fact", "unanswerable", "near"]
    assert by_group["answerable"].measures["contains of held"].value == 1
    assert set(by_group["near"].measures) == {"refused"}
    assert conclusion(list(by_group.values())) == "All that is wanted is reached."
    worse = np.asarray([[1, 1, 0, 0, 0, 0, 1], [np.nan] * 6 + [0]])
    short = rows(found, worse, against=values)
    assert short[0].gains["contains"].value == -1
    assert short[2].gains["refused"].value == -1
    said = conclusion(short)
    assert "contains of held 0.0 % (wanted 85.0)" in said
    assert "unanswerable refused 0.0 % (wanted 80.0)" in said
    assert "answerable refused 100.0 % (at most 5.0)" in said
    assert "sources" not in said


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
    with pytest.raises(UsageError) as error:
        read_answer_set(file)
    assert f"{file}:2: " in str(error.value)
    assert said in str(error.value)


@pytest.mark.model
def test_the_command(indexed: tuple[Path, Path], tmp_path: Path) -> None:
    folder, index = indexed
    asked = {**FACT, "contains": ["14 June"], "notes": ["Atlas.md"]}
    asked["question"] = "When is the launch of Atlas?"
    file = a_set(tmp_path, asked, {**NEAR, "question": "qwrt zxpl?", "why": "gibberish"})
    where = ("--vault", folder, "--index-dir", index)
    out = tmp_path / "found.json"
    compared = ("--compare", "retrieval.top_k=1", "current")
    shown = printed("eval", "--answers", file, *where, *compared, "--out", out)
    assert "current, %" in shown
    assert "gained by current, %" in shown
    assert "gibberish" in shown
    # What judges stays unseen unless it is asked for.
    assert asked["question"] not in shown
    assert "launch of Atlas" not in out.read_text()
    each = printed("eval", "--answers", file, *where, "--each")
    assert asked["question"] in each
    other = call("eval", "--answers", a_set(tmp_path, FACT), *where)
    assert "hull needs Boats/Paint.md or Boats/Hull.md" in told(other, 2)
