"""Runs an evaluation: finds or makes the questions, asks them under each setting, and counts what the
replies say.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.draft import without_opening
from notehop.app.answer.material import CONNECTED
from notehop.app.evaluation import answer_sets, metrics
from notehop.app.evaluation import questions as known
from notehop.app.evaluation.links import reader_without, with_unrelated_links
from notehop.app.evaluation.metrics import MEASURES, MeanEstimate
from notehop.app.evaluation.questions import KnownQuestion, Lines, QuestionSet
from notehop.app.evaluation.variants import CURRENT, EvaluationPlan, Variant
from notehop.app.models import Answer, SearchResult
from notehop.app.retrieval.graph_retriever import EXPANDED
from notehop.app.retrieval.trace import TracedQuery
from notehop.app.services.open_vault import Place, open_place
from notehop.app.services.vault import VaultHandle
from notehop.config import Settings, load_settings
from notehop.config.errors import UsageError
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.pipeline import Indexer
from notehop.indexing.report import Progress
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.reader import Reader, Snapshot
from notehop.indexing.tokens import Tokenizer

QUOTING = {"llm.provider": "none"}
"""Answers are quoted, whatever the settings name: nobody's model is asked hundreds of questions,
unless a setting that is compared says so itself."""

SAME = 1e-9  # values nearer than this are the same: a gain of nothing is none

PlaceFor = Callable[[Settings], Place]
"""Settings -> the vault with an index made with them."""


@dataclass(frozen=True, slots=True)
class Change:
    """A question, by id, that a setting answered better or worse than the one it is held to: values of the
    set's measure, and the notes ranked first.
    """

    id: str
    before: float
    after: float
    found_before: tuple[str, ...]
    found_after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One setting: the mean of each measure, and its gain over ``against`` (None for no other).

    ``gains`` are means of paired differences. Measures that no question of the set can be held to
    are in neither. ``recall`` is that of notes at each cut-off from 1. ``values`` are those of the
    set's measure, in the order of the questions, None where it does not apply. ``milliseconds`` is
    the median until a context is there, ``passages`` the mean number in one. ``answers`` are what
    was answered, ``words`` their mean length.
    """

    setting: str
    overrides: Mapping[str, Any]
    against: str | None
    measures: Mapping[str, MeanEstimate]
    gains: Mapping[str, MeanEstimate]
    recall: tuple[float, ...]
    values: tuple[float | None, ...]
    helped: tuple[Change, ...]
    hurt: tuple[Change, ...]
    passages: float
    milliseconds: float
    answers: tuple[str | None, ...] = ()
    words: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A set of questions under every setting; warnings of searches, with how many had them."""

    name: str
    notes: int
    measure: str
    questions: tuple[KnownQuestion, ...]
    rows: tuple[Row, ...]
    warnings: Mapping[str, int]

    def as_json(self) -> dict[str, Any]:
        """The result as plain values."""
        questions = [
            {
                "id": one.id,
                "question": one.text,
                "gold": list(map(str, one.gold)),
                "answers": list(one.answers),
            }
            for one in self.questions
        ]
        return {**asdict(self), "questions": questions}


class Context(NamedTuple):
    """What the context of an answer is made of, a note's path a passage: what the ranking alone brought, and
    what links did (connected notes, and hits of the recall expansion).
    """

    sources: list[str]
    linked: list[str]


class MeasuredVault:
    """Searches an opened vault for questions, and counts what the replies warn of.

    Questions are text: they may quote what looks like a filter.
    """

    def __init__(self, vault: VaultHandle) -> None:
        self.warnings: Counter[str] = Counter()
        self._vault = vault

    def context(self, question: KnownQuestion) -> Context:
        """What the context of an answer is made of."""
        query = TracedQuery(question.text)
        found = Context([], [])
        for node in self._vault.query_engine(**_asked(question)).retrieve(query):
            told = node.node.metadata
            by_link = told.get("role") == CONNECTED or EXPANDED in told
            (found.linked if by_link else found.sources).append(str(told["path"]))
        self.warnings.update(query.trace.warnings)
        return found

    def answered(self, question: KnownQuestion) -> metrics.Answered:
        """What is answered."""
        return _answered(self._vault.ask(question.text, **_asked(question)))

    def notes(self, question: KnownQuestion) -> list[str]:
        """The best notes, best first, each once."""
        return [hit.path for hit in self._search(question, "notes").hits]

    def chunks(self, question: KnownQuestion) -> list[tuple[str, Lines]]:
        """The best passages, best first."""
        return [(hit.path, hit.lines) for hit in self._search(question, "chunks").hits]

    def _search(self, question: KnownQuestion, results: str) -> SearchResult:
        # The ranking is measured, not what is shown where nothing matches.
        how = {"results": results, "top_k": metrics.TOP, "min_score": 0, "connected": {"max": 0}}
        found = self._vault.search(question.text, **how, **_asked(question))
        self.warnings.update(found.warnings)
        return found


def _asked(question: KnownQuestion) -> dict[str, Any]:
    filters = {} if question.without is None else {"not": {"path": [question.without]}}
    return {"filters": filters, "literal": True}


def _answered(answer: Answer) -> metrics.Answered:
    sources, connected = (
        "\n".join(f"{one.title}\n{one.heading}\n{one.text}" for one in places)
        for places in (answer.sources, answer.connected_notes)
    )
    text = "" if answer.mode == "none" else without_opening(answer.answer)
    cited = frozenset(one.path for one in answer.citations)
    return metrics.Answered(text, cited, sources, connected)


class _Outcome(NamedTuple):
    """What one setting gave, in the order of the questions.

    ``values``: shape (questions, measures), in the order of :data:`MEASURES`; ``recall`` is that of
    notes, shape (questions, cut-offs).
    """

    values: NDArray[np.float64]
    recall: NDArray[np.float64]
    passages: Sequence[int]
    milliseconds: Sequence[float]
    found: Sequence[tuple[str, ...]]
    answers: Sequence[str | None]


def _outcome(
    search: MeasuredVault, asked: QuestionSet, progress: Progress, *, answers: bool
) -> _Outcome:
    """Ask every question for its context, for notes and for passages; and where ``answers``, those
    whose answer is known for an answer."""
    shown: list[tuple[int, float, tuple[str, ...], str | None]] = []
    contexts, by_note, by_chunk, of_answers = [], [], [], []
    for question in asked.questions:
        started = time.perf_counter()
        sources, linked = search.context(question)
        took = (time.perf_counter() - started) * 1000
        contexts.append(metrics.context_values(question, sources, linked))
        notes = search.notes(question)
        whole = [known.Target(path) for path in sorted(question.notes)]
        by_note.append(metrics.ranked([(path, (0, 0)) for path in notes], whole))
        by_chunk.append(metrics.ranked(search.chunks(question), question.gold))
        text, of_answer = None, [nan] * len(metrics.ANSWERS)
        if answers and question.answers:
            reply = search.answered(question)
            text, of_answer = reply.text, metrics.answer_values(question, reply)
        of_answers.append(of_answer)
        shown.append((len(sources) + len(linked), took, tuple(notes[:5]), text))
        progress.advance(1)
    golds = [(len(one.notes), len(one.gold)) for one in asked.questions]
    of_notes, recall = metrics.ranking_values(by_note, [notes for notes, _ in golds])
    of_chunks, _ = metrics.ranking_values(by_chunk, [parts for _, parts in golds])
    values = np.hstack([np.asarray(contexts), of_notes, of_chunks, np.asarray(of_answers)])
    return _Outcome(values, recall, *zip(*shown, strict=True))


def _row(asked: QuestionSet, variant: Variant, own: _Outcome, other: _Outcome | None) -> Row:
    at = MEASURES.index(asked.measure)
    changes: list[Change] = []
    if other is not None:
        difference = own.values[:, at] - other.values[:, at]
        # Those that differ most come first; NaN, of questions that it does not apply to, last.
        for place in np.argsort(-np.abs(difference), kind="stable").tolist():
            if abs(difference[place]) >= SAME:
                before, after = float(other.values[place, at]), float(own.values[place, at])
                name = asked.questions[place].id
                changes.append(Change(name, before, after, other.found[place], own.found[place]))
    texts = [text for text in own.answers if text is not None]
    return Row(
        setting=variant.name,
        overrides=variant.overrides,
        against=variant.against,
        measures=metrics.estimates(MEASURES, own.values),
        gains={} if other is None else metrics.estimates(MEASURES, own.values - other.values),
        recall=tuple(map(float, own.recall.mean(axis=0))),
        values=tuple(None if isnan(value) else value for value in own.values[:, at].tolist()),
        helped=tuple(one for one in changes if one.after > one.before),
        hurt=tuple(one for one in changes if one.after < one.before),
        passages=float(np.mean(own.passages)),
        milliseconds=float(np.median(own.milliseconds)),
        answers=tuple(own.answers) if texts else (),
        words=float(np.mean([len(text.split()) for text in texts])) if texts else None,
    )


def evaluate_sets(
    data: Path,
    work: Path,
    plan: EvaluationPlan,
    progress: Progress,
    *,
    config_file: Path | None = None,
) -> Iterator[Evaluated]:
    """Evaluate the golden sets in ``data`` one after the other, each when it is asked for.

    :param work: folder for unpacked vaults and their indexes, kept for the next time.
    :raises UsageError: if there are none, one cannot be read, or the plan names no setting.
    """
    _check(plan)
    found = known.golden_sets(data, work)
    if not found:
        raise UsageError(f"{data}: holds no golden sets (folders with queries.jsonl, vault.tar.gz)")
    for golden in found:
        if plan.unrelated_links:
            golden = with_unrelated_links(golden, work, plan.unrelated_links, plan.seed)
        settings = load_settings(vault=golden.vault, config_file=config_file)
        settings = settings.with_overrides(QUOTING)
        # Settings that do not exist should show before an index is made.
        variants = plan.variants(settings)
        place_for = _indexed(golden.name, golden.vault, work, progress)
        place = place_for(settings)
        with _snapshot(place) as view:
            questions = known.placed(golden.questions, view, golden.name)
        asked = QuestionSet(golden.name, questions, metrics.measure_for(questions))
        yield _evaluated(asked, place, place_for, plan, variants, progress)


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


def evaluate_vault(
    place: Place, questions: Path | None, plan: EvaluationPlan, progress: Progress
) -> Iterator[Evaluated]:
    """Evaluate a vault on its index, with questions of a file or made out of the vault itself.

    Neither the vault nor its index is written to.

    :raises UsageError: if the file cannot be read, the vault gives no question, or the plan names
        no setting.
    :raises IndexFailure: if there is no index, or it was made with other settings.
    """
    _check(plan)
    place = replace(place, settings=place.settings.with_overrides(QUOTING))
    given = None if questions is None else known.read_questions(questions)
    variants = plan.variants(place.settings)
    with (
        Reader(place.layout, expected_fingerprint(place.settings)) as reader,
        reader.snapshot() as view,
    ):
        if given is not None:
            found = known.placed(given, view, str(questions))
            sets = [QuestionSet(str(questions), found, metrics.measure_for(found))]
        else:
            language = reader.catalog.meta().get("fingerprint", {}).get("language")
            terms = Tokenizer(str(language or "en")).query
            links = view.links_from(view.paths())
            how = {"most": plan.questions, "seed": plan.seed}
            made = known.own_questions(view.notes(), links, terms, **how)
            sets = [replace(one, name=f"{place.name}: {one.name}") for one in made]
    if not sets:
        raise UsageError(
            f"{place.vault}: has no headings, aliases or links to make questions out of; "
            "write your own (docs/evaluation.md)"
        )
    for asked in sets:
        yield _evaluated(
            asked, place, lambda own: replace(place, settings=own), plan, variants, progress
        )


def _snapshot(place: Place) -> Snapshot:
    with Reader(place.layout, expected_fingerprint(place.settings)) as reader:
        return reader.snapshot()


def _check(plan: EvaluationPlan) -> None:
    """Refuse before anything slow is done what cannot be measured."""
    if find_spec("ir_measures") is None:
        raise UsageError(
            "measuring needs the package ir-measures, which is not installed; "
            "run: pip install 'notehop[eval]'"
        )
    if plan.measure is not None and plan.measure not in MEASURES:
        raise UsageError(f"no measure {plan.measure!r}; choose: {', '.join(MEASURES)}")


def _evaluated(
    asked: QuestionSet,
    place: Place,
    place_for: PlaceFor,
    plan: EvaluationPlan,
    variants: list[Variant],
    progress: Progress,
) -> Evaluated:
    asked = asked if plan.measure is None else replace(asked, measure=plan.measure)
    if asked.measure in metrics.ANSWERS and not any(one.answers for one in asked.questions):
        raise UsageError(
            f"{asked.name}: none of its questions says its answer, which {asked.measure} asks for; "
            "write it as answer (docs/evaluation.md)"
        )
    # No part that an ablation takes away writes answers.
    answers = not plan.ablate or (plan.measure or "") in metrics.ANSWERS
    # Settings that come to the same are run once.
    outcomes: dict[Settings, _Outcome] = {}
    warnings: Counter[str] = Counter()
    several, read = len({one.settings for one in variants}), reader_without(asked.held_out)
    for variant in variants:
        if variant.settings not in outcomes:
            number = len(outcomes) + 1
            stage = f"{asked.name}, setting {number} of {several}: {variant.name}"
            there = place_for(variant.settings)
            with _opened(there, stage, len(asked.questions), progress, read=read) as vault:
                search = MeasuredVault(vault)
                outcomes[variant.settings] = _outcome(search, asked, progress, answers=answers)
            warnings += search.warnings
    at = MEASURES.index(asked.measure)
    if all(np.isnan(one.values[:, at]).all() for one in outcomes.values()):
        raise UsageError(f"{asked.name}: {asked.measure} applies to none of its questions")
    by_name = {one.name: outcomes[one.settings] for one in variants}
    rows = tuple(
        _row(asked, one, by_name[one.name], by_name[one.against] if one.against else None)
        for one in variants
    )
    with _snapshot(place) as view:
        notes = len(view.paths())
    return Evaluated(asked.name, notes, asked.measure, asked.questions, rows, dict(warnings))


def evaluate_answers(
    place: Place, file: Path, plan: EvaluationPlan, progress: Progress, *, each: bool = False
) -> answer_sets.AnswersEvaluated:
    """Ask the questions of an answer set, under the settings in force or those compared.

    :param each: whether to keep what was answered to each question. Who looks at that of a set that
        judges has nothing left to judge by.
    :raises UsageError: if the file cannot be read, or is about another vault.
    :raises IndexFailure: if there is no index, or it was made with other settings.
    """
    questions = answer_sets.read_answer_set(file)
    settings = place.settings.with_overrides(QUOTING)
    now = [Variant(CURRENT, {}, None, settings)]
    variants = plan.variants(settings) if plan.compare else now
    with _snapshot(replace(place, settings=settings)) as view:
        paths = frozenset(view.paths())
    for question in questions:
        for either in question.notes:
            if not paths.intersection(either):
                raise UsageError(
                    f"{file}: {question.id} needs {' or '.join(either)}, which the index lacks; "
                    "name the vault that the set is about, or index it anew"
                )
    found: dict[str, tuple[answer_sets.AnswerRow, ...]] = {}
    values: dict[str | None, NDArray[np.float64]] = {}
    told: list[dict[str, object]] = []
    for variant in variants:
        there = replace(place, settings=variant.settings)
        measures: list[list[float]] = []
        with _opened(there, f"{file.stem}: {variant.name}", len(questions), progress) as vault:
            for question in questions:
                answer = vault.ask(question.text)
                measures.append(answer_sets.measured(question, _answered(answer)))
                if each:
                    of_each = zip(answer_sets.MEASURES, measures[-1], strict=True)
                    told.append(
                        {
                            "id": question.id,
                            "kind": question.kind,
                            "why": question.why,
                            "question": question.text,
                            "setting": variant.name,
                            **{name: bool(value) for name, value in of_each if not isnan(value)},
                            "answer": without_opening(answer.answer),
                        }
                    )
                progress.advance(1)
        values[variant.name] = np.asarray(measures)
        found[variant.name] = answer_sets.rows(
            questions, values[variant.name], values.get(variant.against)
        )
    said = answer_sets.conclusion(found[variants[-1].name])
    return answer_sets.AnswersEvaluated(
        file.stem, len(paths), len(questions), found, said, tuple(told)
    )


@contextmanager
def _opened(
    place: Place, stage: str, questions: int, progress: Progress, **how: Any
) -> Iterator[VaultHandle]:
    """A vault that is warm, while so many questions are asked."""
    with open_place(place, **how) as vault:
        vault.warm()
        progress.stage(stage, questions, "questions")
        yield vault
        progress.close()
