"""Runs an evaluation: asks questions under each setting, and counts what the replies say."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.material import CONNECTED_ROLE
from notehop.app.evaluation import metrics
from notehop.app.evaluation.metrics import MEASURES, AnswerRow, MeanEstimate
from notehop.app.evaluation.questions import AnswerQuestion, KnownQuestion, golden_sets, read_questions
from notehop.app.evaluation.variants import CURRENT, EvaluationPlan, Variant
from notehop.app.retrieval.components import TracedQuery
from notehop.app.retrieval.graph_retriever import EXPANDED
from notehop.app.services.open_vault import Place, open_place
from notehop.app.services.vault import VaultHandle
from notehop.config import Settings, load_settings
from notehop.config.errors import UsageError
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.pipeline import Indexer
from notehop.indexing.report import Progress
from notehop.indexing.stores.layout import IndexLayout

QUOTING = {"llm.provider": "none"}
"""Answers are quoted, whatever the settings name: nobody's model is asked hundreds of questions,
unless a setting that is compared says so itself."""

PlaceFor = Callable[[Settings], Place]
"""Settings -> the vault with an index made with them."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Row:
    """One setting: the mean of each measure, and its gain over ``against`` (None for no other).

    ``gains`` are means of paired differences. ``values`` are those of the set's measure, in the order
    of the questions. ``milliseconds`` is the median until a context is there, ``passages`` the mean
    number in one.
    """

    setting: str
    overrides: Mapping[str, Any]
    against: str | None
    measures: Mapping[str, MeanEstimate]
    gains: Mapping[str, MeanEstimate]
    values: tuple[float, ...]
    passages: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A set of questions under every setting; warnings, with how many searches had them."""

    name: str
    notes: int
    measure: str
    questions: tuple[KnownQuestion, ...]
    rows: tuple[Row, ...]
    warnings: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AnswersEvaluated:
    """An answer set under every setting, in rows by group."""

    name: str
    notes: int
    questions: int
    settings: dict[str, tuple[AnswerRow, ...]]


def evaluate_sets(
    data: Path, work: Path, plan: EvaluationPlan, progress: Progress, *, config_file: Path | None = None
) -> Iterator[Evaluated]:
    """Evaluate the golden sets in ``data`` one after the other, each when it is asked for.

    :param work: folder for unpacked vaults and their indexes, kept for the next time.
    :raises UsageError: if there are none, one cannot be read, or the plan names no setting.
    """
    _check()
    for golden in golden_sets(data, work):
        settings = load_settings(vault=golden.vault, config_file=config_file)
        place_for = _indexed(golden.name, golden.vault, work, progress)
        yield _evaluated(golden.name, golden.questions, settings, place_for, plan, progress)


def _indexed(name: str, vault: Path, work: Path, progress: Progress) -> PlaceFor:
    """Index a golden set where an index for these settings is, or is to be."""
    made: dict[Path, Place] = {}

    def place_for(settings: Settings) -> Place:
        identity = json.dumps(expected_fingerprint(settings), sort_keys=True, default=str)
        digest = hashlib.sha256(identity.encode()).hexdigest()[:8]
        folder = (work / f"{name}-index-{digest}").resolve()
        if folder not in made:
            made[folder] = Place(vault, settings, IndexLayout(folder))
            Indexer(vault, settings, made[folder].layout, progress, command="notehop eval").run()
        return replace(made[folder], settings=settings)

    return place_for


def evaluate_vault(place: Place, questions: Path, plan: EvaluationPlan, progress: Progress) -> Evaluated:
    """Evaluate a vault on its index, with the questions of a file; nothing is written to either.

    :raises UsageError: if the file cannot be read, or the plan names no setting.
    :raises IndexFailure: if there is no index, or it was made with other settings.
    """
    _check()
    asked = read_questions(questions, KnownQuestion)
    place_for = _as_it_is(place)
    return _evaluated(str(questions), asked, place.settings, place_for, plan, progress)


def _as_it_is(place: Place) -> PlaceFor:
    return lambda settings: replace(place, settings=settings)


def _evaluated(
    name: str,
    questions: tuple[KnownQuestion, ...],
    settings: Settings,
    place_for: PlaceFor,
    plan: EvaluationPlan,
    progress: Progress,
) -> Evaluated:
    settings = settings.with_overrides(QUOTING)
    # Settings that do not exist should show before an index is made.
    variants = plan.variants(settings)
    paths = _paths(place_for(settings), name, {one.id: [[g] for g in one.gold] for one in questions})
    warnings: Counter[str] = Counter()

    def ask(vault: VaultHandle) -> tuple[NDArray[np.float64], list[int], list[float]]:
        """Ask every question for its context and for notes. Questions are text: they may quote what
        looks like a filter."""
        passages, milliseconds, contexts, rankings = [], [], [], []
        for question in questions:
            started = time.perf_counter()
            query = TracedQuery(question.question)
            nodes = vault.query_engine(literal=True).retrieve(query)
            milliseconds.append((time.perf_counter() - started) * 1000)
            passages.append(len(nodes))
            # By a link came connected notes, and hits of the recall expansion.
            sources: list[str] = []
            linked: list[str] = []
            for metadata in (node.node.metadata for node in nodes):
                by_link = metadata.get("role") == CONNECTED_ROLE or EXPANDED in metadata
                (linked if by_link else sources).append(str(metadata["path"]))
            contexts.append(metrics.context_values(question, sources, linked))
            # The ranking is measured, not what is shown where nothing matches.
            how = {"results": "notes", "top_k": metrics.TOP, "min_score": 0}
            alone = {"max": 0}
            found = vault.search(question.question, literal=True, connected=alone, **how)
            rankings.append([hit.path for hit in found.hits])
            warnings.update([*query.trace.warnings, *found.warnings])
            progress.advance(1)
        ranked = metrics.ranking_values(rankings, [one.gold for one in questions])
        return np.hstack([np.asarray(contexts), ranked]), passages, milliseconds

    asked = _under_each(variants, place_for, name, len(questions), progress, ask)
    measure = metrics.measure_for(questions)
    rows: list[Row] = []
    for variant in variants:
        values, passages, milliseconds = asked[variant.name]
        other = asked.get(variant.against or "")
        row = Row(
            setting=variant.name,
            overrides=variant.overrides,
            against=variant.against,
            measures=metrics.estimates(MEASURES, values),
            gains={} if other is None else metrics.estimates(MEASURES, values - other[0]),
            values=tuple(values[:, MEASURES.index(measure)].tolist()),
            passages=float(np.mean(passages)),
            milliseconds=float(np.median(milliseconds)),
        )
        rows.append(row)
    return Evaluated(name, paths, measure, questions, tuple(rows), dict(warnings))


def evaluate_answers(place: Place, file: Path, plan: EvaluationPlan, progress: Progress) -> AnswersEvaluated:
    """Ask the questions of an answer set, under the settings in force or those compared.

    :raises UsageError: if the file cannot be read, or is about another vault.
    :raises IndexFailure: if there is no index, or it was made with other settings.
    """
    questions = read_questions(file, AnswerQuestion)
    settings = place.settings.with_overrides(QUOTING)
    now = [Variant(CURRENT, {}, None, settings)]
    variants = plan.variants(settings) if plan.compare else now
    place_for = _as_it_is(place)
    notes = _paths(place_for(settings), file, {one.id: one.notes for one in questions})

    def ask(vault: VaultHandle) -> NDArray[np.float64]:
        found: list[list[float]] = []
        for question in questions:
            found.append(metrics.answer_values(question, vault.ask(question.question)))
            progress.advance(1)
        return np.asarray(found)

    values = _under_each(variants, place_for, file.stem, len(questions), progress, ask)
    rows = {
        one.name: metrics.answer_rows(questions, values[one.name], values.get(one.against or ""))
        for one in variants
    }
    return AnswersEvaluated(file.stem, notes, len(questions), rows)


def _under_each(
    variants: Sequence[Variant],
    place_for: PlaceFor,
    name: str,
    questions: int,
    progress: Progress,
    ask: Callable[[VaultHandle], T],
) -> dict[str, T]:
    """What asking a warm vault gives, by the name of the setting."""
    found: dict[str, T] = {}
    for at, variant in enumerate(variants, start=1):
        with open_place(place_for(variant.settings)) as vault:
            vault.warm()
            stage = f"{name}, setting {at} of {len(variants)}: {variant.name}"
            progress.stage(stage, questions, "questions")
            found[variant.name] = ask(vault)
            progress.close()
    return found


def _paths(place: Place, origin: str | Path, needed: Mapping[str, Sequence[Sequence[str]]]) -> int:
    """Count the notes of an index, and refuse questions about notes that it lacks.

    :param needed: id of a question -> of each entry one note.
    """
    with open_place(place) as vault, vault.view() as view:
        paths = frozenset(view.paths())
    for name, notes in needed.items():
        for either in notes:
            if paths.isdisjoint(either):
                raise UsageError(
                    f"{origin}: {name} needs {' or '.join(either)}, which the index lacks; "
                    "correct the path, name the vault that the questions are about, or index it anew"
                )
    return len(paths)


def _check() -> None:
    """Refuse before anything slow is done what cannot be measured."""
    if find_spec("ir_measures") is None:
        raise UsageError(
            "measuring needs the package ir-measures, which is not installed; "
            "run: pip install 'notehop[eval]'"
        )
