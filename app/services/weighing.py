"""What each signal weighs for one query: the settings, and what the query and the notes change.

Touches: index; model (reads its files, once).
"""

from __future__ import annotations

from dataclasses import replace

from notehop.app.models import Intent
from notehop.app.retrieval.index_view import IndexView
from notehop.app.retrieval.intents import Reading, about, read
from notehop.app.retrieval.languages import ALL, Share, semantic_share
from notehop.app.retrieval.weights import DECIDING, Weights
from notehop.config import Settings
from notehop.indexing.embed.models import languages_read
from notehop.indexing.tokens import clear_language


def reading(text: str, view: IndexView, intent: Intent) -> Reading:
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
