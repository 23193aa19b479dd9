"""Fits the weights of quoted answers: ``python -m tools.fit_answers DATA``, and writes weights.json.

DATA is a folder of golden sets (``NAME/queries.jsonl``, ``NAME/vault.tar.gz``) with the vaults of the
answer sets under ``vaults/``. Passages are ranked by a softmax over those of a question, the decision
is a logistic regression; both are held to each set in turn by fitting on the others. Unanswerable
questions are those of the answer sets, those of other sets, and the answerable ones again: without the
notes that answer them, and without the passages that do. What is fitted on, and what came of it, is in
docs/evaluation.md.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from notehop import open_vault
from tests.support.product import (
    PreparedQuestion,
    QuotableSource,
    TextAnalyzer,
    TracedQuery,
    VaultHandle,
    decision_features,
    demo_vault,
    extractive_synthesizer,
    load_weights,
    make_candidates,
    material_of,
    parse_question,
    quotable_sources,
    score_passages,
)

SETS = Path(__file__).parents[1] / "tests/answers"
ANSWER_SETS = ("demo", "dendron-docs")
"""The sets that are for development; the others are for judging, and never seen here."""

GOLDEN = ("hotpot-noisy", "musique-noisy", "2wiki-noisy")
QUESTIONS = 150
"""Of each golden set."""

STRANGERS = 25
"""Questions of each other set that are put to a vault which cannot answer them."""

SHARE = {"demo": 1.0, "dendron-docs": 1.0, "hotpot-noisy": 0.5, "musique-noisy": 0.3, "2wiki-noisy": 0.3}
"""What a set weighs: golden sets are of one kind, and of sentences that people write about facts."""

KINDS = {
    "answerable": 1.0,
    "near": 4.0,
    "off": 2.0,
    "gibberish": 2.0,
    "stranger": 0.4,
    "removed": 0.3,
    "blanked": 1.0,
}
"""What questions weigh in the decision; both sides come to the same in each set. ``removed``: an
answerable one without the notes that answer it; ``blanked``: without the passages that do, so that the
note is there and does not say."""

RISES = (
    "likeness", "chunk_", "text_share", "heading_share", "with_title", "beside_title",
    "title_share", "name_share", "rank", "top_three", "number_there", "date_there",
    "name_there", "measure_there", "place_there", "of_its", "in_its", "term_",
    "spelt", "link_", "item_for", "code_for", "fresh", "step",
)  # fmt: skip
"""Beginnings of the names of what can only speak for a passage, or against it: a few hundred
questions are too few to tell by. What is neither weighs little."""
FALLS = (
    "number_not", "date_not", "name_not", "measure_not", "bare", "label", "says_where",
    "asks", "task",
)  # fmt: skip
SPEAKS_FOR = (
    "likeness", "covered", "chunk_", "title_share", "beside_title", "defined", "words",
    "exact_likeness", "exact_covered",
)  # fmt: skip
SPEAKS_AGAINST = (
    "uncovered", "names_lack", "number_lacks", "weak", "asks_exactly", "exact_farther", "exact_covers_less",
)  # fmt: skip

UNSEEN = {
    "news": 4.0,
    "foreign": 0.8,
    "few_words": 0.6,
    "weak": -1.0,
    "unknown_name": -1.5,
    "term_unnamed": -1.0,
    "term_only_named": -1.5,
}
UNSEEN_PASSAGES = {"news": 8.0, "alias_asked": 1.6, "title_tells": 2.0, "rarest": 1.0}
FIXED = {"meaning": UNSEEN_PASSAGES, "words": UNSEEN_PASSAGES, "decision": UNSEEN}
"""What the sets have few questions for: news of something, aliases, who is what to whom, one word that the
question turns on, questions in another language than the notes, names that no note has, terms of which no
note tells, and words without a question, which are a search."""

RIDGE = 0.03
RIDGE_DECISION = 0.05
"""On features of one variance each."""
LOST = 0.01
"""Share of the answerable questions that the decision may refuse, of those of a set that it was not
fitted on: on its own it would seem to refuse fewer."""

MARGIN = 0.5
"""How much lower the bound lies than that, for vaults unlike those that are fitted on."""

Rows = list[tuple[list[dict[str, float]], NDArray[np.float64]]]


@dataclass(frozen=True, slots=True)
class Example:
    """A question with its passages (compared, and all) and whether they answer, and its features."""

    kind: str
    compared: list[tuple[dict[str, float], float]]
    all: list[tuple[dict[str, float], float]]
    decision: dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, default=Path("build/fit"), help="unpacked, indexed")
    parser.add_argument("--sets", nargs="*", default=[*ANSWER_SETS, *GOLDEN])
    parser.add_argument("--again", action="store_true", help="use the examples of the last run")
    parser.add_argument("--decision", action="store_true", help="leave the ranking as it is")
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    found = {name: _examples(name, given.data, given.work, given.again) for name in given.sets}
    target = Path(extractive_synthesizer.__file__).with_name("weights.json")
    fitted = {name: dict(load_weights()[name]) for name in ("words", "meaning")}
    if not given.decision:
        fitted["words"] = _ranking(found, lambda one: one.all, leave_out=("likeness",))
        fitted["meaning"] = _ranking(found, lambda one: one.compared)
        fitted = {name: each | FIXED[name] for name, each in fitted.items()}
        target.write_text(json.dumps({**load_weights(), **fitted}, indent=1, sort_keys=True) + "\n")
        # The decision looks at the best passages, so that its examples are made with the new weights.
        load_weights.cache_clear()
        found = {name: _examples(name, given.data, given.work, again=False) for name in given.sets}
    fitted["decision"] = _decision(found, leave_out=("title_share", "uncovered"))
    fitted = {name: fitted[name] | fixed for name, fixed in FIXED.items()}
    target.write_text(json.dumps(fitted, indent=1, sort_keys=True) + "\n")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _questions(name: str, data: Path) -> list[dict[str, Any]]:
    if name in ANSWER_SETS:
        return [one | {"gone": _all_notes(one)} for one in _lines(SETS / f"{name}.jsonl")]
    found = _lines(data / name / "queries.jsonl")
    found = [one for one in found if str(one["answer"]).casefold() not in ("yes", "no")]
    return [one | {"gone": one["gold"]} for one in found[:QUESTIONS]]


def _all_notes(question: dict[str, Any]) -> list[str]:
    """The notes that answer a question of an answer set, alternatives included."""
    notes = question.get("notes", [])
    return [path for one in notes for path in ([one] if isinstance(one, str) else one)]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]


def _vault(name: str, data: Path, work: Path) -> Path:
    if name == "demo":
        return demo_vault()
    folder = work / name
    if not folder.is_dir():
        packed = data / name / "vault.tar.gz"
        packed = packed if packed.is_file() else data / "vaults" / f"{name}.tar.gz"
        with tarfile.open(packed) as tar:
            tar.extractall(folder, filter="data")
    inside = [one for one in folder.iterdir() if one.is_dir() and not one.name.startswith(".")]
    return inside[0] if len(inside) == 1 else folder


def _examples(name: str, data: Path, work: Path, again: bool) -> list[Example]:
    """The questions of a set, those of the others, and its own without the notes that answer."""
    kept = work / f"{name}.examples"
    if again and kept.is_file():
        found: list[Example] = pickle.loads(kept.read_bytes())
        return found
    questions = _questions(name, data)
    jobs = [(one, one.get("why") or "answerable") for one in questions]
    own = [one for one in questions if one.get("answerable", True) and one["gone"]]
    jobs += [(one, kind) for one in own for kind in ("removed", "blanked")]
    for other in (*ANSWER_SETS, GOLDEN[0]):
        if other != name:
            own = [one for one in _questions(other, data) if one.get("answerable", True)]
            jobs += [(one, "stranger") for one in random.Random(1).sample(own, STRANGERS)]
    vault = _vault(name, data, work)
    index = work / f"{name}.index"
    _index(vault, index)
    memory = work / f"{name}.memory"
    nodes, rows = pickle.loads(memory.read_bytes()) if memory.is_file() else ({}, {})
    with open_vault(vault, index_dir=index) as opened:
        opened.warm()
        analyzer = _remembering(opened._engine.synthesizer._analyzer, rows)
        made = [_example(opened, analyzer, question, kind, nodes) for question, kind in jobs]
    found = [one for one in made if one is not None]
    memory.write_bytes(pickle.dumps((nodes, rows)))
    kept.write_bytes(pickle.dumps(found))
    return found


def _index(vault: Path, index: Path) -> None:
    if not index.is_dir():
        command = [sys.executable, "-m", "notehop", "index", str(vault), "--index-dir", str(index)]
        subprocess.run(command, check=True)


def _remembering(analyzer: TextAnalyzer, rows: dict[Any, NDArray[np.float32]]) -> TextAnalyzer:
    """Vectors are most of the time, and the second pass needs those of the first."""
    embed = analyzer.vectors
    assert embed is not None

    def vectors(query: str, texts: Sequence[str]) -> tuple[Any, Any]:
        new = [text for text in dict.fromkeys(texts) if text not in rows]
        if new or (query,) not in rows:
            asked, made = embed(query, new or list(texts[:1]))
            rows[query,] = asked
            rows.update(zip(new, made, strict=False))
        return rows[query,], np.stack([rows[text] for text in texts])

    return replace(analyzer, vectors=vectors)


def _example(
    vault: VaultHandle,
    analyzer: TextAnalyzer,
    question: dict[str, Any],
    kind: str,
    nodes: dict[tuple[str, str], Any],
) -> Example | None:
    """None for what is no example: an answer that was not found, or is there although it was taken out."""
    found_for = (question["question"], "answerable" if kind == "blanked" else kind)
    if found_for not in nodes:
        filters = {"not": {"path": question["gone"]}} if kind == "removed" else {}
        query = TracedQuery(question["question"])
        retrieved = vault.query_engine(literal=True, filters=filters).retrieve(query)
        nodes[found_for] = retrieved, query.trace.text or question["question"]
    retrieved, text = nodes[found_for]
    sources = quotable_sources(material_of(retrieved, vault.name))
    asked = PreparedQuestion(parse_question(text), analyzer)
    ranked = score_passages(asked, sources)
    own = kind == "answerable"
    if kind == "removed" and any(_says(question, None, one) >= 1.0 for one in ranked):
        return None
    if own and "gold" in question and not any(_says(question, None, one) for one in ranked):
        return None
    if kind == "blanked":
        left = [one for one in ranked if not _says(question, None, one)]
        if not left or len(left) == len(ranked):
            return None
        ranked = left

    def labelled(found: Iterable[Any]) -> list[tuple[dict[str, float], float]]:
        return [
            (dict(one.features), _says(question, sources[one.source_index], one) if own else 0.0)
            for one in found
        ]

    everything = make_candidates(asked, sources) if own else []
    return Example(
        kind, labelled(ranked if own else []), labelled(everything), decision_features(asked, ranked, sources)
    )


def _says(question: dict[str, Any], quotable: QuotableSource | None, candidate: Any) -> float:
    """The share of what an answer must hold that a passage does, in a note that answers.

    :param quotable: its source; None takes any note.
    """
    passage = candidate.passage
    text = " ".join(f"{passage.lead} {passage.text} {passage.table_head}".split())
    if "contains" in question:
        held = [bool(re.search(one, text, re.IGNORECASE)) for one in question["contains"]]
        return sum(held) / len(held)
    if quotable is not None and quotable.source.path not in question["gold"]:
        return 0.0
    return float(f" {_words(question['answer'])} " in f" {_words(passage.text)} ")


def _words(text: str) -> str:
    """The words of a text, without case, punctuation, marks and articles: in it like answers are alike."""
    plain = (
        " " if category(letter) == "Pd" else "" if category(letter)[0] in "MPS" else letter
        for letter in normalize("NFKD", text).casefold()
    )
    return " ".join(word for word in "".join(plain).split() if word not in ("a", "an", "the"))


def _ranking(
    found: dict[str, list[Example]],
    passages: Callable[[Example], list[tuple[dict[str, float], float]]],
    leave_out: Sequence[str] = (),
) -> dict[str, float]:
    """Weights under which the passages that answer are likely, by a softmax over a question's."""
    given = {
        name: [
            ([features for features, _ in rows], np.asarray([held for _, held in rows]))
            for rows in map(passages, examples)
            if any(held for _, held in rows)
        ]
        for name, examples in found.items()
    }
    names = _names((row for rows in given.values() for each, _ in rows for row in each), leave_out)
    for name, rows in given.items():
        others = {other: given[other] for other in given if other != name}
        if others:
            _say(f"  held out {name}: {_ranked(rows, names, _softmax(others, names))}")
    return _as_weights(names, _softmax(given, names))


def _softmax(given: dict[str, Rows], names: Sequence[str]) -> NDArray[np.float64]:
    data = [
        (SHARE.get(name, 0.3) / len(rows), _matrix(each, names), held / held.max())
        for name, rows in given.items()
        for each, held in rows
    ]

    def loss(b: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = RIDGE * float(b @ b) / 2, RIDGE * b
        for weight, matrix, held in data:
            scores = matrix @ b
            likely = np.exp(scores - scores.max())
            likely /= likely.sum()
            right = float(likely @ held) + 1e-9
            total -= weight * float(np.log(right))
            slope = slope - weight * (matrix.T @ (likely * held / right - likely))
        return total, slope

    bounds = [_bounds(name, RISES, FALLS, 0.6) for name in names]
    best: NDArray[np.float64] = minimize(
        loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", bounds=bounds
    ).x
    return best


def _ranked(rows: Rows, names: Sequence[str], b: NDArray[np.float64]) -> str:
    ranks = []
    for each, held in rows:
        order = np.argsort(-(_matrix(each, names) @ b), kind="stable")
        ranks.append(int(np.argmax(held[order] > 0)) + 1)
    at = np.asarray(ranks)
    return (
        f"{len(at)} questions, the first passage answers {100 * np.mean(at == 1):.1f} %, one of the "
        f"first three {100 * np.mean(at <= 3):.1f} %"
    )


def _decision(found: dict[str, list[Example]], leave_out: Sequence[str] = ()) -> dict[str, float]:
    """A logistic regression, and 0 where as many answerable questions are lost as may be.

    Where that is, is told by the questions of each answer set under what the other sets make of it.
    """
    names = _names(
        (one.decision for examples in found.values() for one in examples),
        (*leave_out, "constant", "nothing", *FIXED["decision"]),
    )
    own = {name: examples for name, examples in found.items() if name in ANSWER_SETS}
    held_out = []
    for name, examples in own.items():
        others = {other: each for other, each in found.items() if other != name}
        held_out.append((examples, _scores(examples, names, _logistic(others or found, names))))
    for lost in (LOST, 0.02, 0.04, 0.06, 0.1):
        bound = _bound(held_out, lost)
        _say(f"  held out, {100 * lost:.0f} % lost: {_refused(held_out, bound)}")
    bound = _bound(held_out, LOST)
    b = _logistic(found, names)
    for name, examples in found.items():
        _say(f"  {name}: {_refused([(examples, _scores(examples, names, b))], bound)}")
    return {**_as_weights(names, b[:-1]), "constant": round(float(b[-1] - bound) + MARGIN, 3)}


def _logistic(found: dict[str, list[Example]], names: Sequence[str]) -> NDArray[np.float64]:
    matrices, right, weights_ = [], [], []
    for name, examples in found.items():
        asked = [one for one in examples if "nothing" not in one.decision]
        answered = np.asarray([one.kind == "answerable" for one in asked])
        weight = np.asarray([KINDS[one.kind] for one in asked])
        for side in (answered, ~answered):
            weight[side] *= SHARE.get(name, 0.3) / weight[side].sum()
        matrices.append(_matrix([one.decision for one in asked], names))
        right.append(answered)
        weights_.append(weight)
    matrix, sign = np.concatenate(matrices), np.where(np.concatenate(right), 1.0, -1.0)
    spread = np.append(matrix.std(axis=0) + 1e-3, 1.0)
    matrix = np.column_stack((matrix, np.ones(len(matrix)))) / spread
    weight = np.concatenate(weights_)

    def loss(b: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = sign * (matrix @ b)
        ridge = RIDGE_DECISION * np.append(b[:-1], 0.0)
        slope = -(weight * sign / (1.0 + np.exp(margin))) @ matrix
        return float(weight @ np.logaddexp(0.0, -margin) + ridge @ b / 2), slope + ridge

    bounds = [_bounds(name, SPEAKS_FOR, SPEAKS_AGAINST, 1.0) for name in names]
    best: NDArray[np.float64] = minimize(
        loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)]
    ).x
    return best / spread


def _bounds(
    name: str, rises: tuple[str, ...], falls: tuple[str, ...], most: float
) -> tuple[float | None, float | None]:
    if name.startswith(falls):
        return None, 0.0
    return (0.0, None) if name.startswith(rises) else (-most, most)


def _scores(examples: Sequence[Example], names: Sequence[str], b: NDArray[np.float64]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = _matrix([one.decision for one in examples], names) @ b[:-1] + b[-1]
    found[["nothing" in one.decision for one in examples]] = -np.inf
    return found


Scored = tuple[Sequence[Example], NDArray[np.float64]]
"""Questions and the scores of what was found for them."""


def _bound(scored: Iterable[Scored], lost: float) -> float:
    found = [
        score
        for examples, scores in scored
        for one, score in zip(examples, scores.tolist(), strict=True)
        if one.kind == "answerable"
    ]
    return float(sorted(found)[int(lost * len(found))])


def _refused(scored: Iterable[Scored], bound: float) -> str:
    refused: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for examples, scores in scored:
        for one, score in zip(examples, scores.tolist(), strict=True):
            refused[one.kind].append(score < bound)
    return "refused: " + ", ".join(
        f"{kind} {100 * np.mean(each):.0f} % of {len(each)}" for kind, each in refused.items() if each
    )


def _names(rows: Iterable[dict[str, float]], leave_out: Sequence[str]) -> list[str]:
    found = sorted({name for row in rows for name in row})
    return [name for name in found if not name.startswith(tuple(leave_out) or ("\0",))]


def _matrix(rows: Sequence[dict[str, float]], names: Sequence[str]) -> NDArray[np.float64]:
    return np.asarray([[row.get(name, 0.0) for name in names] for row in rows], dtype=np.float64)


def _as_weights(names: Sequence[str], b: NDArray[np.float64]) -> dict[str, float]:
    named = zip(names, b, strict=True)
    return {name: round(float(value), 3) for name, value in named if abs(value) >= 0.02}


if __name__ == "__main__":
    main()
