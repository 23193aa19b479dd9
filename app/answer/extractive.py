"""The answer without a language model, as a LlamaIndex response synthesizer.

Touches: the embedding model, through the reading it is given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from llama_index.core.llms import MockLLM

from notehop.app.answer.claims import Checker
from notehop.app.answer.decision import features, likelihood, unmentioned
from notehop.app.answer.draft import SURE, Draft, Quote, of_a_kind, of_tasks, quoted, silent
from notehop.app.answer.material import Material, promoted
from notehop.app.answer.question import read
from notehop.app.answer.relevance import Asked, Named, Reading, score
from notehop.app.answer.selection import OF_A_DOUBT, OF_ALL, select
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.models import ConnectedNote, Source

SUBJECT, NEWS = "subject", "recent"
"""The signals that find what a question for news is about, and the newest notes with news of it."""


EVEN = 0.5
"""Least likelihood of an answer; what it costs is in docs/evaluation.md."""


@cache
def weights() -> Mapping[str, Mapping[str, float]]:
    """The fitted weights, by the name of their set."""
    text = files("notehop.app.answer").joinpath("weights.json").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, float]] = json.loads(text)
    return found


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found for a question: the quotes, and the likelihood that they answer it.

    ``missing`` are words of the question, as they are written there, that no note has, ``unknown``
    the names among them, and ``unmentioned`` the sides of a comparison that no source speaks of.
    """

    quotes: Sequence[Quote] = ()
    likelihood: float = 0.0
    missing: Sequence[str] = ()
    unknown: Sequence[str] = ()
    unmentioned: Sequence[str] = ()

    @property
    def answers(self) -> bool:
        """Whether that is an answer."""
        return bool(self.quotes) and self.likelihood >= EVEN


def look(query: str, sources: Sequence[Named], reading: Reading, limit: int) -> Looked:
    """Find what of the sources answers best.

    :param sources: best first, connected notes last.
    :param limit: sources at most.
    """
    asked = Asked(read(query), reading)
    ranked = score(asked, sources, weights())
    fitted = weights()["decision" if reading.vectors is not None else "decision_by_words"]
    likely = likelihood(features(asked, ranked, sources), fitted)
    words = OF_ALL if likely >= SURE else OF_A_DOUBT
    return Looked(
        select(ranked, asked, sources, limit, words),
        likely,
        list(dict.fromkeys(one.written or one.word for one in asked.terms if one.missing)),
        asked.unknown,
        unmentioned(asked, sources),
    )


class ExtractiveSynthesizer(VaultSynthesizer):
    """Quotes the passages of the sources that answer best; asks no language model."""

    def __init__(
        self,
        vault: str,
        reading: Reading,
        *,
        max_sentences: int = 5,
        checker: Checker | None = None,
    ) -> None:
        """:param max_sentences: how many sources are quoted at most.
        :param checker: finds the place of each quote.
        """
        # The base class would otherwise look for a language model of its own, across the network.
        super().__init__(vault, MockLLM(), checker)
        self._reading = reading
        self._max = max_sentences

    def draft(self, query: str, material: Material) -> Draft:
        """Quote what answers, or say that nothing does; notes that were listed are named."""
        if material.tasks is not None:
            return of_tasks(material)
        if material.listed:
            return of_a_kind(material, self._reading.sentences)
        found = self._look(query, material)
        if not found.answers:
            return silent(material, found.missing, found.unmentioned, found.likelihood)
        used = [quote.source.marker for quote in found.quotes]
        shown = promoted(material, used)
        by_place = {(one.path, one.lines, one.text): one for one in shown.sources}
        return replace(
            quoted(
                [replace(one, source=by_place[_place(one.source)]) for one in found.quotes],
                found.unmentioned,
                found.likelihood,
                unknown=found.unknown,
            ),
            material=shown,
        )

    def answers(self, query: str, material: Material) -> bool:
        """Whether anything in the material answers."""
        return bool(material.listed) or self._look(query, material).answers

    def _look(self, query: str, material: Material) -> Looked:
        return look(query, evidence_of(material), self._reading, self._max)


def _place(source: Source) -> tuple[str, tuple[int, int], str]:
    return source.path, source.lines, source.text


def evidence_of(material: Material) -> list[Named]:
    """What may be quoted: the sources, then the connected notes."""
    found = [
        Named(
            source,
            material.names.get(source.marker, ()),
            subject=_decided(source, material, SUBJECT) > 0,
            news=_decided(source, material, NEWS),
            likeness=((source.signals or {}).get("semantic") or {}).get("score"),
            opens=material.ordinals.get(source.marker, 1) == 0,
        )
        for source in material.sources
    ]
    for note in material.connected:
        if note.label in material.outside:
            continue
        evidence = note.evidence or {}
        found.append(
            Named(
                as_source(note),
                material.names.get(note.label, ()),
                likeness=_number(evidence.get("target_similarity")),
                linked=note.linked_from.sentence or note.title,
                link_likeness=_number(evidence.get("sentence_similarity")) or 0.0,
                opens=material.ordinals.get(note.label, 1) == 0,
            )
        )
    return found


def as_source(note: ConnectedNote) -> Source:
    """A connected note in the shape of a source, its label for a marker."""
    return Source(
        marker=note.label,
        id="",
        path=note.path,
        title=note.title,
        heading=note.heading,
        lines=note.lines,
        text=note.text,
        score=0.0,
        uri=note.uri,
    )


def _number(value: float | str | None) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _decided(source: Source, material: Material, signal: str) -> int:
    """The rank that a signal which decided gave a source; 0 if it gave none, or only voted."""
    if signal not in material.decided.get(source.marker, ()):
        return 0
    return int((source.signals or {}).get(signal, {}).get("rank") or 0)
