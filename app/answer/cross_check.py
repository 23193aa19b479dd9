"""Reads a sentence together with its sources, by the cross-encoder of the rerank if there is one.

Touches: model, through the scorer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from notehop.app.answer.support import Found
from notehop.app.retrieval.cross_encoder import Scorer
from notehop.config.errors import ModelError

NOTHING = "This page was left blank."
"""What supports no sentence: the lower end of the scale on which scores are read."""

SENTENCES = 12
"""Sentences of an answer that are read so at most."""


class CrossCheck:
    """Takes part of a sentence's likeness from a cross-encoder, while its time lasts.

    Every model has a scale of its own. So each sentence is also scored against itself and against
    :data:`NOTHING`, and its score is read between the two. One answer's worth: make a new one for
    the next.
    """

    def __init__(
        self,
        scorer: Scorer,
        *,
        budget_ms: float,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._scorer = scorer
        self._left = budget_ms / 1000
        self._budget_ms = budget_ms
        self._clock = clock
        self._read = 0
        self._failure = ""
        self._late = False

    def sharpened(self, sentence: str, found: Sequence[Found]) -> list[Found]:
        """Return what was found, its likeness the mean of the vectors' and the cross-encoder's."""
        held = [one for one in found if one.units]
        if not held or self._failure or self._late or self._read >= SENTENCES:
            return list(found)
        started = self._clock()
        scores = self._scored(sentence, held)
        self._left -= self._clock() - started
        if scores is None:
            return list(found)
        self._read += 1
        upper, lower, *rest = scores
        if upper <= lower:
            return list(found)
        by_source = {
            one.known.source.marker: min(1.0, max(0.0, (score - lower) / (upper - lower)))
            for one, score in zip(held, rest, strict=True)
        }
        return [_mixed(one, by_source.get(one.known.source.marker)) for one in found]

    def warnings(self) -> list[str]:
        """What could not be done."""
        if self._failure:
            return [f"the citations were checked without the cross-encoder: {self._failure}"]
        if self._late:
            return [
                f"the cross-encoder read {self._read} of the cited sentences: the "
                f"{self._budget_ms:,.0f} ms of rerank.budget_ms were over"
            ]
        return []

    def _scored(self, sentence: str, held: Sequence[Found]) -> list[float] | None:
        if self._left <= 0:
            self._late = True
            return None
        texts = [sentence, NOTHING, *(one.known.joined(one.units) for one in held)]
        try:
            self._scorer.load()
            if not self._scorer.take(self._left):
                self._late = True
                return None
            try:
                return list(self._scorer.scores(sentence, texts))
            finally:
                self._scorer.give()
        except ModelError as exc:
            self._failure = str(exc)
            return None


def _mixed(found: Found, score: float | None) -> Found:
    if score is None:
        return found
    likeness = score if found.likeness is None else (found.likeness + score) / 2
    return replace(found, likeness=likeness)
