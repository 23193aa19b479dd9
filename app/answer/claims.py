"""Reads an answer sentence by sentence: what each states, which sources it names. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from notehop.app.answer.code_spans import code_spans
from notehop.app.answer.draft import DECLINED, QUOTED, SILENT, Draft, Said
from notehop.app.answer.markers import names_in
from notehop.app.answer.passages import SentenceSpans
from notehop.app.answer.units import STATING, Unit, bare, markers_in, units

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
    """A sentence of an answer with its half-open range.

    ``states``: whether it says something that a source could support. ``said`` is there where it is
    a quote by construction.
    """

    start: int
    end: int
    text: str
    states: bool
    markers: tuple[str, ...] = ()
    mentioned: tuple[str, ...] = ()
    said: Said | None = None


def sentences(
    draft: Draft,
    spans: SentenceSpans,
    markers: Collection[str],
    labels: Collection[str],
) -> list[Sentence]:
    """Return the sentences of an answer in order; nothing but blanks stands between them.

    :param markers: those of the sources, as ``[1]``; ``labels``: of the connected notes, as ``C1``.
    """
    text = draft.text
    code = code_spans(text)
    found: list[Sentence] = []
    at = 0
    for said in draft.said:
        found += _read(draft, at, said.start, spans, code, markers, labels)
        words = text[said.start : said.end]
        found.append(
            Sentence(said.start, said.end, words, states=True, markers=(said.marker,), said=said)
        )
        at = said.end
    return found + _read(draft, at, len(text), spans, code, markers, labels)


def _read(
    draft: Draft,
    start: int,
    end: int,
    spans: SentenceSpans,
    code: list[tuple[int, int]],
    markers: Collection[str],
    labels: Collection[str],
) -> list[Sentence]:
    """The sentences of a stretch."""
    stretch = draft.text[start:end]
    cut = [Unit(one.start + start, one.end + start, one.kind) for one in units(stretch, spans)]
    found = []
    for number, unit in enumerate(cut):
        cited: dict[str, None] = {}
        mentioned: dict[str, None] = {}
        for marker in markers_in(draft.text, unit, code):
            for name in names_in(marker["items"]):
                if name in labels:
                    mentioned[name] = None
                elif f"[{name}]" in markers:
                    cited[f"[{name}]"] = None
        words = draft.text[unit.start : unit.end]
        after = cut[number + 1] if number + 1 < len(cut) else None
        states = draft.mode != "none" and unit.kind in STATING
        states = states and not _is_frame(words, after, named=bool(cited or mentioned))
        found.append(Sentence(unit.start, unit.end, words, states, tuple(cited), tuple(mentioned)))
    return found


def _is_frame(words: str, after: Unit | None, *, named: bool) -> bool:
    """Whether a sentence states nothing of its own.

    :param named: whether it has markers. Then it states something, unless it is nothing but them.
    """
    said = _BEFORE_STOP.sub("", bare(words))
    if (
        not _WORD.search(said)
        or said in (QUOTED, SILENT, DECLINED)
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
