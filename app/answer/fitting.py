"""Makes a context fit the window of a language model, and says what it left out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from notehop.app.answer.context import build_context, connected_part, source_part
from notehop.app.answer.evidence import lines_of
from notehop.app.answer.material import Material
from notehop.app.answer.passages import SentenceSpans
from notehop.app.answer.units import units
from notehop.app.models import ConnectedNote, LeftOut, Source
from notehop.indexing.llm.tokens import TokenCounter
from notehop.indexing.vault.sentences import sentence_spans

USEFUL = 40
"""Tokens of a text that are worth showing without the rest: some two sentences."""

JOINT = 2
"""Tokens of the blank line between two parts."""

Part = TypeVar("Part", Source, ConnectedNote)


@dataclass(frozen=True, slots=True)
class Fitted:
    """A context with the material that stands in it, shortened texts as they stand there.

    ``left_out`` names what does not, sources first, in the order of their markers.
    """

    context: str
    material: Material
    left_out: tuple[LeftOut, ...] = ()


def fit(
    material: Material,
    window: int,
    counter: Callable[[], TokenCounter],
    *,
    sentences: SentenceSpans = sentence_spans,
) -> Fitted:
    """Return a context of at most ``window`` tokens, as full as whole sentences allow.

    Room is given to sources first, in their order, then to connected notes. What does not fit is
    cut at the end of a sentence, list item or table row, and left out where less than something
    useful would be left. Something of the first source is always there.

    :param window: tokens for the context alone.
    :param counter: makes the counter; called only when the context could be too long. One that is
        not exact counts too many, so that the context fits.
    """
    context = _built(material, ())
    # No tokenizer makes more tokens than there are bytes.
    if len(context.encode()) <= window:
        return Fitted(context, material)
    tokens = counter()
    if tokens.count(context) <= window:
        return Fitted(context, material)
    return _Fitting(material, window, tokens, sentences).fitted()


class _Fitting:
    def __init__(
        self, material: Material, room: int, tokens: TokenCounter, sentences: SentenceSpans
    ) -> None:
        self._material = material
        self._room = room
        self._left = room
        self._tokens = tokens
        self._sentences = sentences
        self._cut: dict[str, int] = {}

    def fitted(self) -> Fitted:
        sources: list[Source] = []
        for source in self._material.sources:
            found = self._taken(source, source.marker, source_part, must=not sources)
            sources += [found] if found else []
        connected: list[ConnectedNote] = []
        self._left -= self._tokens.count("---\n\nCONNECTED NOTES (linked from retrieved results):")
        for note in self._material.connected:
            near = self._taken(note, note.label, connected_part)
            connected += [near] if near else []
        # Counted together, parts may be a few tokens more than one by one.
        while True:
            kept = replace(self._material, sources=tuple(sources), connected=tuple(connected))
            context = _built(kept, tuple(self._cut))
            if len(sources) + len(connected) <= 1 or self._tokens.count(context) <= self._room:
                break
            (connected or sources).pop()
        return Fitted(context, kept, tuple(self._left_out(kept)))

    def _taken(
        self, part: Part, name: str, shown: Callable[..., str], *, must: bool = False
    ) -> Part | None:
        """The part, or its beginning, that there is room for; None if there is none."""
        cost = self._tokens.count(shown(part)) + JOINT
        if cost <= self._left:
            self._left -= cost
            return part
        ends = self._ends(part.text)
        head = self._tokens.count(shown(part.model_copy(update={"text": ""}), shortened=True))
        room = self._left - head - JOINT
        fits = bisect_right(ends, room, key=lambda end: self._tokens.count(part.text[:end]))
        if (
            fits == 0
            or fits == len(ends)
            or self._tokens.count(part.text[: ends[fits - 1]]) < USEFUL
        ):
            if not must:
                return None
            fits = max(1, min(fits, len(ends)))
        end = ends[fits - 1] if ends else len(part.text)
        self._left = max(0, room - self._tokens.count(part.text[:end]))
        if end < len(part.text.rstrip()):
            self._cut[name] = end
        return part.model_copy(update={"text": part.text[:end]})

    def _ends(self, text: str) -> list[int]:
        """Where a text may be cut, ascending: not behind a heading, which says nothing alone."""
        return [one.end for one in units(text, self._sentences) if one.kind != "heading"]

    def _left_out(self, kept: Material) -> list[LeftOut]:
        there = {*(one.marker for one in kept.sources), *(one.label for one in kept.connected)}
        parts: list[tuple[str, Source | ConnectedNote]] = [
            *((one.marker, one) for one in self._material.sources),
            *((one.label, one) for one in self._material.connected),
        ]
        found = []
        for name, one in parts:
            if name in there and name not in self._cut:
                continue
            start = 0
            if name in there:
                start = self._cut[name]
                start += len(one.text[start:]) - len(one.text[start:].lstrip())
            found.append(
                LeftOut(
                    marker=name,
                    path=one.path,
                    title=one.title,
                    heading=one.heading,
                    lines=lines_of(one, start, len(one.text)) if start else one.lines,
                    part="end" if start else "whole",
                    tokens=self._tokens.count(one.text[start:]),
                )
            )
        return found


def _built(material: Material, shortened: tuple[str, ...]) -> str:
    return build_context(
        material.sources,
        material.connected,
        ordinals=material.ordinals,
        shortened=shortened,
    )
