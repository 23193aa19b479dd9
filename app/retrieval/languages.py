"""Owns how far the semantic ranking counts, by the languages of query, notes and model. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from notehop.indexing.tokens import NAMES


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
