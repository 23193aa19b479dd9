"""Reads an answer sentence by sentence, and checks what each states against the sources it names.

Touches: the embedding model, through the reading.
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
from notehop.app.answer.draft import DECLINED, QUOTED, SILENT, UNSURE, Draft, Said
from notehop.app.answer.material import (
    STATING,
    Material,
    Unit,
    bare,
    evidence,
    markers_in,
    ranked_headings,
    units,
)
from notehop.app.answer.quotes.passages import SentenceSpans
from notehop.app.answer.quotes.reading import Reading
from notehop.app.answer.support import Found, Known, Stated, held_against, judged
from notehop.app.models import Claim, Evidence, Support
from notehop.indexing.shown import counted

_WORD = re.compile(r"\w")
_ASKS = re.compile(r"[?？¿][\"'”’»)*_]*$")
_BEFORE_STOP = re.compile(r"\s+(?=[.!?])")
_LISTS_SOURCES = re.compile(
    r"(?:sources?|references?|citations?|quellen?|fuentes?|fonti|fontes?|bronnen)[\W_]*",
    re.IGNORECASE,
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

    ``states``: whether it says something that a source could support. ``said`` is there where it is
    a quote by construction.
    """

    claim: Claim
    states: bool
    said: Said | None = None


def sentences(
    draft: Draft, spans: SentenceSpans, markers: Collection[str], labels: Collection[str]
) -> list[Sentence]:
    """Return the sentences of an answer in order; nothing but blanks stands between them.

    :param markers: those of the sources, as ``[1]``; ``labels``: of the connected notes, as ``C1``.
    """
    text = draft.text
    code = code_spans(text)
    found: list[Sentence] = []

    def read(start: int, end: int) -> None:
        cut = [
            Unit(one.start + start, one.end + start, one.kind)
            for one in units(text[start:end], spans)
        ]
        for unit, after in zip_longest(cut, cut[1:]):
            names = dict.fromkeys(
                name
                for marker in markers_in(text, unit, code)
                for name in names_in(marker["items"])
            )
            claim = Claim(
                text=text[unit.start : unit.end],
                span=unit.span,
                markers=[f"[{name}]" for name in names if f"[{name}]" in markers],
                mentioned=[name for name in names if name in labels],
            )
            # Beside its quotes, a quoted answer says only what they are about.
            states = draft.mode == "llm" and unit.kind in STATING
            named = bool(claim.markers or claim.mentioned)
            found.append(Sentence(claim, states and not _is_frame(claim.text, after, named=named)))

    at = 0
    for said in draft.said:
        read(at, said.start)
        span = said.start, said.end
        claim = Claim(text=text[slice(*span)], span=span, markers=[said.marker], mentioned=[])
        found.append(Sentence(claim, states=True, said=said))
        at = said.end
    read(at, len(text))
    return found


def _is_frame(words: str, after: Unit | None, *, named: bool) -> bool:
    """Whether a sentence states nothing of its own.

    :param named: whether it has markers. Then it states something, unless it is nothing but them.
    """
    said = _BEFORE_STOP.sub("", bare(words))
    if (
        not _WORD.search(said)
        or said in (QUOTED, UNSURE, SILENT, DECLINED)
        or _LISTS_SOURCES.fullmatch(said)
    ):
        return True
    if named:
        return False
    if _ASKS.search(said):
        return True
    if said.endswith((":", "：")) and after is not None:
        return True
    return _REFUSES.search(said) is not None and _TURNS.search(said) is None


_log = logging.getLogger(__name__)

_RANK: Mapping[Support, int] = {"none": 0, "partial": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer after the check.

    ``best`` maps the marker of a source to its evidence for the sentence that it supports best,
    the first of several.
    """

    claims: tuple[Claim, ...] = ()
    best: Mapping[str, Evidence] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


CHECKED_WITHIN = (
    1.0  # seconds in which vectors are compared; the sentences after it are compared by words
)


class Checker:
    """Holds sentences against the sources that they name.

    Threads may share it. Nothing that goes wrong in it is raised: an answer is worth more unchecked
    than not at all, and a warning says so.
    """

    def __init__(self, reading: Reading, vault: str) -> None:
        """:param vault: its name, for links."""
        self._reading, self._vault = reading, vault

    def check(self, draft: Draft, material: Material) -> Checked:
        """Check the text of a draft; it is not changed."""
        try:
            return _Check(self._reading, self._vault, material).all(draft)
        except Exception as exc:  # noqa: BLE001 (an answer is worth more unchecked than not at all)
            _log.exception("the check of the citations failed")
            warning = f"the citations were not checked against the notes: {type(exc).__name__}"
            return Checked(warnings=(warning,))


class _Check:
    def __init__(self, reading: Reading, vault: str, material: Material) -> None:
        self._reading, self._vault, self._material = reading, vault, material
        self._until = time.perf_counter() + CHECKED_WITHIN
        self._sources = {source.marker: source for source in material.sources}
        self._known: dict[str, Known] = {}
        self._late, self._broken = 0, ""

    def all(self, draft: Draft) -> Checked:
        """The claims, the best evidence of each source, and what could not be done."""
        labels = [note.label for note in self._material.connected]
        found = sentences(draft, self._reading.sentences, self._sources, labels)
        claims = tuple(map(self._claim, found))
        best: dict[str, Evidence] = {}
        for one in (each for claim in claims for each in claim.evidence):
            held = best.get(one.marker)
            if held is None or _RANK[one.support or "high"] > _RANK[held.support or "high"]:
                best[one.marker] = one
        quoted: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for said in draft.said:
            quoted[said.marker] += said.ranges
        # Of a source that is quoted in several places all of them count.
        best |= {
            marker: self._evidence(marker, ranges, None)
            for marker, ranges in quoted.items()
            if ranges
        }
        by_words = "compared with the notes by words alone"
        warnings = []
        if self._broken:
            warnings.append(f"citations were {by_words}: {self._broken}")
        if self._late:
            late = counted(self._late, "citation")
            warnings.append(f"{late} {by_words}: the time for it was over")
        return Checked(claims, best, tuple(warnings))

    def _claim(self, sentence: Sentence) -> Claim:
        claim, said = sentence.claim, sentence.said
        if said is not None and said.ranges:
            # A quote says where it stands: that it stands there does not make it right.
            claim.evidence = [self._evidence(said.marker, said.ranges, None)]
        elif sentence.states and claim.markers:
            self._compare(claim)
        elif sentence.states:
            claim.support = "none"
            claim.flag = "context" if claim.mentioned else "uncited"
        return claim

    def _compare(self, claim: Claim) -> None:
        """Say how far the sources that a claim names support it."""
        stated = Stated(claim.text, self._reading)
        found = [self._held(stated, marker) for marker in claim.markers]
        verdict = judged(stated, found)
        alone = [verdict] if len(found) == 1 else [judged(stated, [one]) for one in found]
        claim.support, claim.lacks = verdict.support, list(verdict.lacks)
        claim.flag = "unsupported" if verdict.support == "none" else None
        claim.evidence = [
            self._evidence(marker, [one.known.units[at].span for at in one.units], each.support)
            for marker, one, each in zip(claim.markers, found, alone, strict=True)
        ]

    def _held(self, stated: Stated, marker: str) -> Found:
        if marker not in self._known:
            names = self._material.names(marker)
            self._known[marker] = Known(self._sources[marker], names, self._reading)
        known, liken = self._known[marker], not self._broken and time.perf_counter() < self._until
        self._late += not liken and not self._broken
        try:
            return held_against(stated, known, liken=liken)
        except Exception as exc:  # any broken model
            if not liken:
                raise
            _log.debug("the embedding model failed", exc_info=exc)
            self._broken = (str(exc).splitlines() or [type(exc).__name__])[0][:200]
            return held_against(stated, known, liken=False)

    def _evidence(
        self, marker: str, spans: Sequence[tuple[int, int]], support: Support | None
    ) -> Evidence:
        source = self._sources[marker]
        above = ranked_headings(self._material.of(marker) or {"heading": source.heading})
        wanted = () if support == "none" else spans
        return evidence(source, above, wanted, support, self._vault)
