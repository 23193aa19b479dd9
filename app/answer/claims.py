"""Reads an answer sentence by sentence, and checks what each states against the sources it names.

Touches: the embedding model, through the analyzer.
"""

from __future__ import annotations

import logging
import re
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from notehop.app.answer.citations import code_spans, names_in
from notehop.app.answer.claim_support import (
    ClaimText,
    SourceText,
    SupportMatch,
    compare_with_source,
    decide_support,
)
from notehop.app.answer.draft import (
    MODEL_REFUSAL,
    NO_ANSWER,
    QUOTED_OPENING,
    UNSURE_OPENING,
    Draft,
    QuotedSpan,
)
from notehop.app.answer.material import (
    STATING_KINDS,
    Material,
    Unit,
    make_evidence,
    markers_in,
    ranked_headings,
    split_into_units,
    strip_markers,
)
from notehop.app.answer.quotes.passages import SentenceSpans
from notehop.app.answer.quotes.text_analyzer import TextAnalyzer
from notehop.app.models import Claim, Evidence, Support
from notehop.indexing.display import counted

_WORD = re.compile(r"\w")
_ASKS = re.compile(r"[?？¿][\"'”’»)*_]*$")
_BEFORE_STOP = re.compile(r"\s+(?=[.!?])")
_LISTS_SOURCES = re.compile(
    r"(?:sources?|references?|citations?|quellen?|fuentes?|fonti|fontes?|bronnen)[\W_]*", re.IGNORECASE
)
# How an answer says that the notes do not, in the languages of the index.
_NOTES = (
    r"\b(?:vault|notes?|sources?|context|notiz(?:en)?|quellen?|kontext|coffre|contexte|notas?|fuentes?"
    r"|b[óo]veda|contexto|nota|appunti|fonti|contesto|fontes?|cofre|notities?|aantekeningen|bronnen|kluis"
    r"|anteckning\w*|källor\w*|valvet|заметк\w*|источник\w*|хранилищ\w*)\b"
)
_NOT = (
    r"(?:\b(?:not|no|nothing|nicht|nichts|keine?n?|ne|pas|rien|aucune?|ningun[ao]?|nada|non|nessuna?"
    r"|n[ãa]o|nenhuma?|niet|niets|geen|inte|inget|ingen|ingenting|не|нет|ничего)\b|n['’]t\b|\bn['’](?=\w))"
)
_SAY = (
    r"\b(?:sa(?:y|id)|state|mention|tell|specif|answer|contain|give|provide|include|cover|explain|describe"
    r"|have|about|sag|nenn|enth[aä]lt|erwähn|geb|steh|di(?:sent|t|cen|ce|cono|zem|z)\b|précis|contien|indiqu"
    r"|donn|parl|indic|especific|hablan?|contengono|riporta|cont[eéê]m|falam?|informa|zeg|vermeld|bevat|noem"
    r"|geef|geven|säger|nämner|innehåller|anger|говор|сказан|упомина|содерж|указ)"
)
_INFORMATION = r"(?:informa\w+|angaben?|mention|answer|details?|uppgift\w*|информаци\w+)"
_REFUSES = re.compile(
    rf"{_NOTES}[^.;]{{0,40}}?(?:{_NOT}[^.;]{{0,25}}?{_SAY}|{_SAY}[^.;]{{0,30}}?{_NOT})"
    rf"|{_NOT}\W+(?:\w+\W+)?{_INFORMATION}\b"
    r"|\bI (?:could not|couldn['’]t|cannot|can['’]t|did not|didn['’]t) find\b"
    rf"|\bnot (?:mentioned|stated|specified|given) in\b[^.;]{{0,20}}{_NOTES}",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:but|however|although|though|yet|except|aber|jedoch|sondern|außer|mais|cependant|toutefois|sauf"
    r"|pero|sino|aunque|salvo|però|tuttavia|porém|embora|maar|echter|dock|но|однако)\b|[;:]"
    r"|(?<=, )(?:ma|mas|men)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer, as a claim that is not checked yet.

    ``states``: whether it says something that a source could support. ``quoted_span`` is there where it is
    a quote by construction.
    """

    claim: Claim
    states: bool
    quoted_span: QuotedSpan | None = None


def split_answer(
    draft: Draft, spans: SentenceSpans, markers: Collection[str], labels: Collection[str]
) -> list[Sentence]:
    """Return the sentences of an answer in order; nothing but blanks stands between them.

    :param markers: those of the sources, as ``[1]``; ``labels``: of the connected notes, as ``C1``.
    """
    text = draft.text
    code = code_spans(text)
    sentences: list[Sentence] = []

    def add_sentences(start: int, end: int) -> None:
        units = [
            Unit(one.start + start, one.end + start, one.kind)
            for one in split_into_units(text[start:end], spans)
        ]
        for unit, after in zip_longest(units, units[1:]):
            names = dict.fromkeys(
                name for marker in markers_in(text, unit, code) for name in names_in(marker["items"])
            )
            claim = Claim(
                text=text[unit.start : unit.end],
                span=unit.span,
                markers=[f"[{name}]" for name in names if f"[{name}]" in markers],
                mentioned=[name for name in names if name in labels],
            )
            # Beside its quotes, a quoted answer says only what they are about.
            states = draft.mode == "llm" and unit.kind in STATING_KINDS
            has_markers = bool(claim.markers or claim.mentioned)
            sentences.append(
                Sentence(claim, states and not _states_nothing(claim.text, after, has_markers=has_markers))
            )

    at = 0
    for quoted in draft.quoted_spans:
        add_sentences(at, quoted.start)
        span = quoted.start, quoted.end
        claim = Claim(text=text[slice(*span)], span=span, markers=[quoted.marker], mentioned=[])
        sentences.append(Sentence(claim, states=True, quoted_span=quoted))
        at = quoted.end
    add_sentences(at, len(text))
    return sentences


def _states_nothing(words: str, after: Unit | None, *, has_markers: bool) -> bool:
    """Whether a sentence states nothing of its own.

    :param has_markers: whether it has markers. Then it states something, unless it is nothing but them.
    """
    statement = _BEFORE_STOP.sub("", strip_markers(words))
    if (
        not _WORD.search(statement)
        or statement in (QUOTED_OPENING, UNSURE_OPENING, NO_ANSWER, MODEL_REFUSAL)
        or _LISTS_SOURCES.fullmatch(statement)
    ):
        return True
    if has_markers:
        return False
    if _ASKS.search(statement):
        return True
    if statement.endswith((":", "：")) and after is not None:
        return True
    return _REFUSES.search(statement) is not None and _TURNS.search(statement) is None


_log = logging.getLogger(__name__)

_RANK: Mapping[Support, int] = {"none": 0, "partial": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """An answer after the check.

    ``best_evidence`` maps the marker of a source to its evidence for the sentence that it supports best,
    the first of several.
    """

    claims: tuple[Claim, ...] = ()
    best_evidence: Mapping[str, Evidence] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


VECTOR_BUDGET_S = 1.0
"""Seconds in which vectors are compared; the sentences after it are compared by words."""


class Checker:
    """Holds sentences against the sources that they name.

    Threads may share it. Nothing that goes wrong in it is raised: an answer is worth more unchecked
    than not at all, and a warning says so.
    """

    def __init__(self, analyzer: TextAnalyzer, vault: str) -> None:
        """:param vault: its name, for links."""
        self._analyzer, self._vault = analyzer, vault

    def check(self, draft: Draft, material: Material) -> CheckResult:
        """Check the text of a draft; it is not changed."""
        try:
            return _Check(self._analyzer, self._vault, material).check_all(draft)
        except Exception as exc:  # noqa: BLE001 (an answer is worth more unchecked than not at all)
            _log.exception("the check of the citations failed")
            warning = f"the citations were not checked against the notes: {type(exc).__name__}"
            return CheckResult(warnings=(warning,))


class _Check:
    def __init__(self, analyzer: TextAnalyzer, vault: str, material: Material) -> None:
        self._analyzer, self._vault, self._material = analyzer, vault, material
        self._deadline = time.perf_counter() + VECTOR_BUDGET_S
        self._sources = {source.marker: source for source in material.sources}
        self._source_texts: dict[str, SourceText] = {}
        self._over_time, self._model_error = 0, ""

    def check_all(self, draft: Draft) -> CheckResult:
        """The claims, the best evidence of each source, and what could not be done."""
        labels = [note.label for note in self._material.connected]
        sentences = split_answer(draft, self._analyzer.sentences, self._sources, labels)
        claims = tuple(map(self._claim, sentences))
        best: dict[str, Evidence] = {}
        for evidence in (each for claim in claims for each in claim.evidence):
            best_known = best.get(evidence.marker)
            if best_known is None or _RANK[evidence.support or "high"] > _RANK[best_known.support or "high"]:
                best[evidence.marker] = evidence
        quoted: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for quoted_span in draft.quoted_spans:
            quoted[quoted_span.marker] += quoted_span.ranges
        # Of a source that is quoted in several places all of them count.
        best |= {marker: self._evidence(marker, ranges, None) for marker, ranges in quoted.items() if ranges}
        by_words = "compared with the notes by words alone"
        warnings = []
        if self._model_error:
            warnings.append(f"citations were {by_words}: {self._model_error}")
        if self._over_time:
            late = counted(self._over_time, "citation")
            warnings.append(f"{late} {by_words}: the time for it was over")
        return CheckResult(claims, best, tuple(warnings))

    def _claim(self, sentence: Sentence) -> Claim:
        claim, quoted_span = sentence.claim, sentence.quoted_span
        if quoted_span is not None and quoted_span.ranges:
            # A quote says where it stands: that it stands there does not make it right.
            claim.evidence = [self._evidence(quoted_span.marker, quoted_span.ranges, None)]
        elif sentence.states and claim.markers:
            self._compare(claim)
        elif sentence.states:
            claim.support = "none"
            claim.flag = "context" if claim.mentioned else "uncited"
        return claim

    def _compare(self, claim: Claim) -> None:
        """Say how far the sources that a claim names support it."""
        claim_text = ClaimText(claim.text, self._analyzer)
        matches = [self._find_support(claim_text, marker) for marker in claim.markers]
        together = decide_support(claim_text, matches)
        alone = [together] if len(matches) == 1 else [decide_support(claim_text, [one]) for one in matches]
        claim.support, claim.lacks = together.support, list(together.lacks)
        claim.flag = "unsupported" if together.support == "none" else None
        claim.evidence = [
            self._evidence(marker, [one.source.units[at].span for at in one.units], each.support)
            for marker, one, each in zip(claim.markers, matches, alone, strict=True)
        ]

    def _find_support(self, claim_text: ClaimText, marker: str) -> SupportMatch:
        if marker not in self._source_texts:
            names = self._material.aliases_of(marker)
            self._source_texts[marker] = SourceText(self._sources[marker], names, self._analyzer)
        source_text, with_vectors = (
            self._source_texts[marker],
            not self._model_error and time.perf_counter() < self._deadline,
        )
        self._over_time += not with_vectors and not self._model_error
        try:
            return compare_with_source(claim_text, source_text, with_vectors=with_vectors)
        except Exception as exc:  # any broken model
            if not with_vectors:
                raise
            _log.debug("the embedding model failed", exc_info=exc)
            self._model_error = (str(exc).splitlines() or [type(exc).__name__])[0][:200]
            return compare_with_source(claim_text, source_text, with_vectors=False)

    def _evidence(self, marker: str, spans: Sequence[tuple[int, int]], support: Support | None) -> Evidence:
        source = self._sources[marker]
        above = ranked_headings(self._material.metadata_of(marker) or {"heading": source.heading})
        quoted_spans = () if support == "none" else spans
        return make_evidence(source, above, quoted_spans, support, self._vault)
