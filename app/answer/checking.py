"""Checks an answer against its sources: every sentence becomes a claim with its evidence.

Touches: the embedding model, through the reading.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from notehop.app.answer.claims import Sentence, sentences
from notehop.app.answer.draft import Draft
from notehop.app.answer.evidence import evidence
from notehop.app.answer.material import Material
from notehop.app.answer.relevance import Reading
from notehop.app.answer.support import Found, Known, Stated, held_against, judged
from notehop.app.models import Claim, Evidence, Source, Support
from notehop.indexing.shown import counted

_log = logging.getLogger(__name__)

_RANK: Mapping[Support, int] = {"none": 0, "partial": 1, "high": 2}


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer after the check.

    ``best`` maps the marker of a source to its evidence for the sentence that it supports best,
    the first of several. ``elapsed_ms`` is what the check took.
    """

    claims: tuple[Claim, ...] = ()
    best: Mapping[str, Evidence] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    elapsed_ms: float = 0.0


class Checker:
    """Holds sentences against the sources that they name, within a time.

    Threads may share it. Nothing that goes wrong in it is raised: an answer is worth more unchecked
    than not at all, and a warning says so.
    """

    def __init__(
        self,
        reading: Reading,
        vault: str,
        *,
        within_ms: float = 500.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """:param vault: its name, for links.
        :param within_ms: time for comparing vectors; the sentences after it are compared by words.
        """
        self._reading = reading
        self._vault = vault
        self._within = within_ms / 1000
        self._clock = clock

    def check(self, draft: Draft, material: Material) -> Checked:
        """Check the text of a draft; it is not changed."""
        started = self._clock()
        try:
            found = _Check(self, draft, material, started).all()
        except Exception as exc:  # noqa: BLE001 (an answer is worth more unchecked than not at all)
            _log.exception("the check of the citations failed")
            warning = f"the citations were not checked against the notes: {type(exc).__name__}"
            found = Checked(warnings=(warning,))
        return replace(found, elapsed_ms=(self._clock() - started) * 1000)


class _Check:
    """The check of one answer."""

    def __init__(self, by: Checker, draft: Draft, material: Material, started: float) -> None:
        self._by = by
        self._draft = draft
        self._material = material
        self._until = started + by._within
        self._sources = {source.marker: source for source in material.sources}
        self._known: dict[str, Known] = {}
        self._broken = ""
        self._late = 0

    def all(self) -> Checked:
        """The claims, the best evidence of each source, and what could not be done."""
        labels = [note.label for note in self._material.connected]
        found = sentences(
            self._draft, self._by._reading.sentences, tuple(self._sources), tuple(labels)
        )
        claims = tuple(self._claim(one) for one in found)
        best: dict[str, Evidence] = {}
        for claim in claims:
            for one in claim.evidence:
                held = best.get(one.marker)
                if held is None or _RANK[one.support or "high"] > _RANK[held.support or "high"]:
                    best[one.marker] = one
        return Checked(claims, best, tuple(self._warnings()))

    def _claim(self, sentence: Sentence) -> Claim:
        claim = Claim(
            text=sentence.text,
            span=(sentence.start, sentence.end),
            markers=list(sentence.markers),
            mentioned=list(sentence.mentioned),
        )
        # Beside its quotes, a quoted answer says only what they are about.
        beside = self._draft.mode == "extractive" and sentence.said is None
        if not sentence.states or beside:
            return claim
        if sentence.said is not None and sentence.said.ranges:
            # A quote says where it stands: that it stands there does not make it right.
            shown = self._evidence(sentence.said.marker, sentence.said.ranges, None)
            return claim.model_copy(update={"evidence": [shown]})
        if not sentence.markers:
            flag = "context" if sentence.mentioned else "uncited"
            return claim.model_copy(update={"support": "none", "flag": flag})
        return self._compared(claim)

    def _compared(self, claim: Claim) -> Claim:
        reading = self._by._reading
        stated = Stated(claim.text, reading)
        found = [self._held(stated, self._source(marker)) for marker in claim.markers]
        verdict = judged(stated, found, reading)
        alone = [verdict] if len(found) == 1 else [judged(stated, [one], reading) for one in found]
        shown = [
            self._evidence(marker, _spans(one), each.support)
            for marker, one, each in zip(claim.markers, found, alone, strict=True)
        ]
        flag = "unsupported" if verdict.support == "none" else None
        return claim.model_copy(
            update={
                "support": verdict.support,
                "flag": flag,
                "lacks": list(verdict.lacks),
                "evidence": shown,
            }
        )

    def _held(self, stated: Stated, known: Known) -> Found:
        liken = not self._broken and self._by._clock() < self._until
        if not liken and not self._broken and self._by._reading.vectors is not None:
            self._late += 1
        try:
            return held_against(stated, known, self._by._reading, liken=liken)
        except Exception as exc:  # any broken model
            if not liken:
                raise
            _log.debug("the embedding model failed", exc_info=exc)
            self._broken = str(exc).splitlines()[0][:200] if str(exc) else type(exc).__name__
            return held_against(stated, known, self._by._reading, liken=False)

    def _source(self, marker: str) -> Known:
        if marker not in self._known:
            names = self._material.names.get(marker, ())
            self._known[marker] = Known(self._sources[marker], names, self._by._reading)
        return self._known[marker]

    def _evidence(
        self, marker: str, spans: Sequence[tuple[int, int]], support: Support | None
    ) -> Evidence:
        source: Source = self._sources[marker]
        headings = self._material.headings.get(marker)
        if headings is None:
            headings = [part for part in source.heading.split(" > ") if part]
        wanted = () if support == "none" else spans
        return evidence(source, headings, wanted, support, self._by._vault)

    def _warnings(self) -> list[str]:
        said = []
        if self._broken:
            said.append(
                f"the citations were compared with the notes by words alone: {self._broken}"
            )
        if self._late:
            said.append(
                f"{counted(self._late, 'citation')} compared with the notes by words alone: the "
                f"{self._by._within * 1000:,.0f} ms of answer.check_ms were over"
            )
        return said


def _spans(found: Found) -> list[tuple[int, int]]:
    units = found.known.units
    return [(units[at].start, units[at].end) for at in found.units]
