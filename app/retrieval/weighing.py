"""What each signal weighs for one query: the settings, and what the query and the notes change."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from notehop.app.models import Intent
from notehop.app.retrieval.intents import Reading, about, read
from notehop.config import Settings
from notehop.indexing.embed.models import languages_read
from notehop.indexing.stores.reader import Snapshot
from notehop.indexing.tokens import NAMES, clear_language

DECIDED_BY = "decided_by"
"""What the metadata of a hit hold whose place signals decided: their names."""

DECIDING: Mapping[str, frozenset[str]] = {"status": frozenset({"subject", "recent"})}
"""Intent -> the signals that decide in it: the newest news of a project are what a question for its
status is after, however little their text resembles it."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Signal name -> weight, 0 or more; ``reasons`` tells in words what changed them.

    ``deciding`` are the signals whose hits stand first whatever their text resembles.
    """

    by_signal: Mapping[str, float]
    reasons: tuple[str, ...] = ()
    deciding: frozenset[str] = frozenset()

    def with_changes(self, weights: Mapping[str, float]) -> Weights:
        """Return these weights with some of them set, as an intent does."""
        return replace(self, by_signal={**self.by_signal, **weights})

    def scaled(self, signal: str, factor: float, reason: str) -> Weights:
        """Return these weights with that of one signal multiplied; as they are for a factor of 1.

        The last signal that finds hits is left as it is: something has to rank.

        :param factor: 0 or more.
        :raises ValueError: if it is negative, or there is no such signal.
        """
        if not factor >= 0:
            raise ValueError(f"the factor of {signal!r} is {factor}; it must be 0 or more")
        if signal not in self.by_signal:
            known = ", ".join(self.by_signal) or "none"
            raise ValueError(f"no signal {signal!r}; the signals are: {known}")
        changed = {**self.by_signal, signal: self.by_signal[signal] * factor}
        if factor == 1 or not any(changed.values()):
            return self
        return replace(self, by_signal=changed, reasons=(*self.reasons, reason))


@dataclass(frozen=True, slots=True)
class Share:
    """What is left of the semantic weight, 0 to 1, and why; no reason for all of it."""

    factor: float
    reason: str = ""


ALL = Share(1.0)


def semantic_share(
    asked: str | None, notes: str | None, model: Collection[str] | None, unread: float
) -> Share:
    """Say how far a model's ranking counts for one query.

    A model that does not read a language ranks by the names and numbers in it: as an equal, it
    would drag down what the words find (docs/decisions/words.md has the measurement).

    :param asked: language of the query, None where its words leave it open; then it is that of the
        notes.
    :param notes: language of most notes; None if it is not known.
    :param model: languages that the model reads; None for all.
    :param unread: the share where it does not read the language.
    """
    language = asked or notes
    if model is None or language is None or language in model:
        return ALL
    named = NAMES.get(language, language)
    whose = "the query is in" if asked else "the notes are in"
    return Share(unread, f"{whose} {named}, which the embedding model does not read")


def reading(text: str, view: Snapshot, intent: Intent) -> Reading:
    """Return what a query is after, and what about.

    :param text: the query without its filters.
    :param intent: ``auto`` reads it from the text.
    """
    if intent == "auto":
        return read(text, view.named_any)
    return about(text, intent)


def weigh(text: str, settings: Settings, taken: Reading, language: str = "und") -> Weights:
    """Return the weights of a query.

    :param text: the query without its filters.
    :param taken: what the query is after.
    :param language: of the notes, as the index was built for it.
    """
    weights = Weights(settings.retrieval.weights.model_dump())
    if taken.intent != "none":
        of_intent = getattr(settings.retrieval.intents, taken.intent)
        weights = weights.with_changes(of_intent.model_dump(exclude_none=True))
        weights = replace(weights, deciding=DECIDING.get(taken.intent, frozenset()))
    share = _share(text, settings, language)
    return weights.scaled("semantic", share.factor, share.reason)


def _share(text: str, settings: Settings, language: str) -> Share:
    """What the languages of query and notes leave of the semantic weight."""
    model = languages_read(settings.embedding)
    if model is None:
        return ALL
    # Notes in no language that is known may be lists, code or what else: that is no reason.
    known = None if language == "und" else language
    return semantic_share(clear_language(text), known, model, settings.retrieval.unread_share)
