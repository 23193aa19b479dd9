"""Runs an evaluation: finds or makes the questions, asks them under each setting, and counts what the
replies say.

A new signal with a weight is ablated without a word here; any other part of retrieval takes a line
in :data:`PARTS`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from math import isnan
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from notehop.app.answer.draft import without_opening
from notehop.app.evaluation.answer_sets import MEASURES as ANSWER_MEASURES
from notehop.app.evaluation.answer_sets import (
    AnswerRow,
    AnswersEvaluated,
    check_notes,
    conclusion,
    measured,
    read_answer_set,
    rows,
)
from notehop.app.evaluation.links import reader_without, with_unrelated_links
from notehop.app.evaluation.metrics import ANSWERS, MEASURES, measure_for
from notehop.app.evaluation.questions import (
    QuestionSet,
    golden_sets,
    own_questions,
    placed,
    read_questions,
)
from notehop.app.evaluation.runner import (
    Evaluated,
    MeasuredVault,
    Outcome,
    answered,
    ask_all,
    compare,
)
from notehop.app.services.open_vault import Place, open_place
from notehop.config import Settings, load_settings
from notehop.config.errors import UsageError
from notehop.config.layers import read_overrides
from notehop.indexing.fingerprint import expected_fingerprint
from notehop.indexing.pipeline import Indexer
from notehop.indexing.stores.layout import IndexLayout
from notehop.indexing.stores.reader import Reader, Snapshot
from notehop.indexing.tokens import Tokenizer

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle
    from notehop.indexing.report import Progress

BASE = ("semantic", "lexical")
"""The signals that each find hits of their own."""

CURRENT = "current"
STOCK = "stock"


class AblatedPart(NamedTuple):
    """A part of retrieval that can be without: the setting that says so, with its two values."""

    name: str
    key: str
    on: Any
    off: Any


PARTS = (
    AblatedPart("title dispatch", "retrieval.title_dispatch", True, False),
    AblatedPart("alias expansion", "retrieval.alias_expansion", True, False),
    AblatedPart("intents", "retrieval.intent", "auto", "none"),
    AblatedPart("languages", "retrieval.unread_share", 0.05, 1.0),
    AblatedPart("templates", "retrieval.template_share", 0.5, 1.0),
    AblatedPart("relevance", "retrieval.relevance_weight", 1.0, 0.0),
    AblatedPart("recall expansion", "retrieval.expansion", "conservative", "off"),
    AblatedPart("connected notes", "connected.max", 3, 0),
    AblatedPart("backlinks", "connected.direction", "both", "forward"),
    AblatedPart("order context", "connected.order", "context", "rank"),
    AblatedPart("gate", "connected.gate", 1.0, 0.0),
)
"""What is turned off and on beside the signals, each after what it builds on."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A setting by name: what it changes of the settings in force, and which one it is held to."""

    name: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    against: str | None = None


def _ablation(settings: Settings) -> list[Variant]:
    """What each part does: built up from bare signals, then one taken away or added at a time.

    The bare signals are held to their fusion, each rung of the ladder to the one below it, all
    others to the settings in force.
    """
    known = _presets(settings)
    weights = settings.retrieval.weights.model_dump()
    signals = [
        AblatedPart(one, _weight(one), weight or 1.0, 0.0) for one, weight in weights.items()
    ]
    on = [part for part in (*signals, *PARTS) if attrgetter(part.key)(settings) != part.off]
    ladder = Variant("fused", known["fused"], STOCK)
    found = [
        Variant(STOCK, known[STOCK]),
        *(Variant(f"bare {name}", known[name], "fused") for name in BASE),
        ladder,
    ]
    for part in on:
        if part.name not in BASE:
            overrides = {**ladder.overrides, part.key: attrgetter(part.key)(settings)}
            ladder = Variant(f"... + {part.name}", overrides, ladder.name)
            found.append(ladder)
    found.append(Variant(CURRENT, against=STOCK))
    several = sum(bool(weights[name]) for name in BASE) > 1
    found += [
        Variant(f"without {part.name}", {part.key: part.off}, CURRENT)
        for part in on
        if several or part.name not in BASE
    ]
    off = [part for part in (*signals, *PARTS) if part not in on]
    return found + [Variant(f"with {part.name}", {part.key: part.on}, CURRENT) for part in off]


def _named(settings: Settings, said: str) -> Mapping[str, Any]:
    """What a setting changes: a preset, ``key=value,key=value``, or a TOML file.

    :raises UsageError: if it is none of these.
    """
    known = _presets(settings)
    if said in known:
        return known[said]
    if said.lower().endswith(".toml"):
        return read_overrides(Path(said))
    pairs = [part.partition("=") for part in said.split(",")]
    if all(key.strip() and sign for key, sign, _ in pairs):
        return {key.strip(): value.strip() for key, _, value in pairs}
    raise UsageError(
        f"no setting {said!r}; write one of {', '.join(known)}, or key=value,key=value "
        "(connected.max=0,retrieval.top_k=8), or name a TOML file"
    )


def _presets(settings: Settings) -> dict[str, Mapping[str, Any]]:
    """Settings that have a name, as changes of those in force.

    ``current``: those in force. ``fused``: their signals that find hits, and no part. ``stock``: as
    LlamaIndex assembles the same signals, with equal weights and the usual offset. And each such
    signal alone.
    """
    bare = {part.key: part.off for part in PARTS}
    weights = settings.retrieval.weights.model_dump()
    silent = bare | {_weight(name): 0.0 for name in weights}
    both = {_weight(name): weights[name] for name in BASE}
    equal = {_weight(name): 1.0 for name in BASE}
    return {
        CURRENT: {},
        STOCK: {**silent, **equal, "retrieval.rrf_k": 60},
        "fused": {**silent, **both},
        **{name: {**silent, _weight(name): weights[name] or 1.0} for name in BASE},
    }


def _distinct(settings: Settings, variants: Iterable[Variant]) -> dict[str, list[Variant]]:
    """Group variants that come to the same settings, under the name of the first.

    :raises SettingsError: if one is no valid setting.
    """
    found: dict[Settings, list[Variant]] = {}
    for variant in variants:
        found.setdefault(settings.with_overrides(variant.overrides), []).append(variant)
    return {same[0].name: same for same in found.values()}


def _weight(signal: str) -> str:
    return f"retrieval.weights.{signal}"


QUOTING = {"llm.provider": "none"}
"""Answers are quoted, whatever the settings name: nobody's model is asked hundreds of questions,
unless a setting that is compared says so itself."""

PlaceFor = Callable[[Settings], Place]
"""Settings -> the vault with an index made with them."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """What is to be held against what.

    Settings in force against a stock assembly; with ``ablate`` each part by itself, too; with
    ``compare`` the two settings of these names instead. ``measure`` is the one by which questions
    count as helped or hurt, None for the one that fits the questions. ``questions`` and ``seed``
    are for those made out of a vault: how many of each kind, and which. ``unrelated_links`` is how
    many links to notes drawn at random are written into each note of a golden set first.
    """

    ablate: bool = False
    compare: tuple[str, str] | None = None
    measure: str | None = None
    questions: int = 100
    seed: int = 0
    unrelated_links: int = 0

    @property
    def answers(self) -> bool:
        """Whether questions are answered, too: no part that an ablation takes away writes answers,
        so that one only does it where it is asked for a measure of them.
        """
        return not self.ablate or (self.measure or "") in ANSWERS

    def variants(self, settings: Settings) -> list[Variant]:
        """The settings to run.

        :raises UsageError: if one that was named is none.
        """
        if self.compare is not None:
            first, second = self.compare
            if first == second:
                raise UsageError(f"{first} is compared with itself; name two settings")
            return [
                Variant(first, _named(settings, first)),
                Variant(second, _named(settings, second), first),
            ]
        if self.ablate:
            return _ablation(settings)
        return [Variant(STOCK, _presets(settings)[STOCK]), Variant(CURRENT, against=STOCK)]


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
    found = golden_sets(data, work)
    if not found:
        raise UsageError(f"{data}: holds no golden sets (folders with queries.jsonl, vault.tar.gz)")
    for golden in found:
        if plan.unrelated_links:
            golden = with_unrelated_links(golden, work, plan.unrelated_links, plan.seed)
        settings = load_settings(vault=golden.vault, config_file=config_file)
        settings = settings.with_overrides(QUOTING)
        place_for = _indexed(golden.name, golden.vault, work, progress)
        # Settings that do not exist should show before an index is made.
        _distinct(settings, plan.variants(settings))
        place = place_for(settings)
        with _snapshot(place) as view:
            questions = placed(golden.questions, view, golden.name)
        asked = QuestionSet(golden.name, questions, measure_for(questions))
        yield _evaluated(asked, place, place_for, plan, progress)


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
    given = None if questions is None else read_questions(questions)
    _distinct(place.settings, plan.variants(place.settings))
    with (
        Reader(place.layout, expected_fingerprint(place.settings)) as reader,
        reader.snapshot() as view,
    ):
        if given is None:
            language = reader.catalog.meta().get("fingerprint", {}).get("language")
            sets = _own(view, Tokenizer(str(language or "en")), place, plan)
        else:
            found = placed(given, view, str(questions))
            sets = [QuestionSet(str(questions), found, measure_for(found))]
    for asked in sets:
        yield _evaluated(
            asked, place, lambda settings: replace(place, settings=settings), plan, progress
        )


def evaluate_answers(
    place: Place, file: Path, plan: EvaluationPlan, progress: Progress, *, each: bool = False
) -> AnswersEvaluated:
    """Ask the questions of an answer set, under the settings in force or those compared.

    :param each: whether to keep what was answered to each question. Who looks at that of a set that
        judges has nothing left to judge by.
    :raises UsageError: if the file cannot be read, or is about another vault.
    :raises IndexFailure: if there is no index, or it was made with other settings.
    """
    questions = read_answer_set(file)
    settings = place.settings.with_overrides(QUOTING)
    variants = plan.variants(settings) if plan.compare else [Variant(CURRENT)]
    with _snapshot(replace(place, settings=settings)) as view:
        paths = frozenset(view.paths())
    check_notes(questions, paths, file)
    found: dict[str, tuple[AnswerRow, ...]] = {}
    values: dict[str, NDArray[np.float64]] = {}
    told: list[dict[str, object]] = []
    for variant in variants:
        there = replace(place, settings=settings.with_overrides(variant.overrides))
        with _opened(there, f"{file.stem}: {variant.name}", len(questions), progress) as vault:
            measures: list[list[float]] = []
            for question in questions:
                answer = vault.ask(question.text)
                measures.append(measured(question, answered(answer)))
                if each:
                    known = zip(ANSWER_MEASURES, measures[-1], strict=True)
                    about = {
                        "id": question.id,
                        "kind": question.kind,
                        "why": question.why,
                        "question": question.text,
                        "setting": variant.name,
                    }
                    holds = {name: bool(value) for name, value in known if not isnan(value)}
                    told.append({**about, **holds, "answer": without_opening(answer.answer)})
                progress.advance(1)
        values[variant.name] = np.asarray(measures)
        against = None if variant.against is None else values[variant.against]
        found[variant.name] = rows(questions, values[variant.name], against)
    last = found[variants[-1].name]
    return AnswersEvaluated(
        file.stem, len(paths), len(questions), found, conclusion(last), tuple(told)
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


def _check(plan: EvaluationPlan) -> None:
    """Refuse before anything slow is done what cannot be measured."""
    if find_spec("ir_measures") is None:
        raise UsageError(
            "measuring needs the package ir-measures, which is not installed; "
            "run: pip install 'notehop[eval]'"
        )
    if plan.measure is not None and plan.measure not in MEASURES:
        raise UsageError(f"no measure {plan.measure!r}; choose: {', '.join(MEASURES)}")


def _own(
    view: Snapshot, tokenizer: Tokenizer, place: Place, plan: EvaluationPlan
) -> list[QuestionSet]:
    sets = own_questions(
        view.notes(),
        view.links_from(view.paths()),
        tokenizer.query,
        most=plan.questions,
        seed=plan.seed,
    )
    if not sets:
        raise UsageError(
            f"{place.vault}: has no headings, aliases or links to make questions out of; "
            "write your own (docs/evaluation.md)"
        )
    return [replace(one, name=f"{place.name}: {one.name}") for one in sets]


def _evaluated(
    asked: QuestionSet, place: Place, place_for: PlaceFor, plan: EvaluationPlan, progress: Progress
) -> Evaluated:
    asked = asked if plan.measure is None else replace(asked, measure=plan.measure)
    if asked.measure in ANSWERS and not any(one.answers for one in asked.questions):
        raise UsageError(
            f"{asked.name}: none of its questions says its answer, which {asked.measure} asks for; "
            "write it as answer (docs/evaluation.md)"
        )
    variants = plan.variants(place.settings)
    groups = _distinct(place.settings, variants)
    outcomes: dict[str, Outcome] = {}
    warnings: Counter[str] = Counter()
    for number, same in enumerate(groups.values(), start=1):
        there = place_for(place.settings.with_overrides(same[0].overrides))
        stage = f"{asked.name}, setting {number} of {len(groups)}: {same[0].name}"
        read = reader_without(asked.held_out)
        with _opened(there, stage, len(asked.questions), progress, read=read) as vault:
            search = MeasuredVault(vault)
            outcome = ask_all(search, asked, progress, answers=plan.answers)
        warnings += search.warnings
        outcomes |= dict.fromkeys((variant.name for variant in same), outcome)
    with _snapshot(place) as view:
        notes = len(view.paths())
    rows = compare(asked, variants, outcomes)
    return Evaluated(asked.name, notes, asked.measure, asked.questions, rows, dict(warnings))


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


def _snapshot(place: Place) -> Snapshot:
    with Reader(place.layout, expected_fingerprint(place.settings)) as reader:
        return reader.snapshot()
