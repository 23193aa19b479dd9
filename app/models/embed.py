"""Texts as vectors, by the model of the index."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from notehop.app.models.base import Asked, Strict, at_most

MOST_TEXTS = 64
"""Texts of one request."""


class EmbedQuery(Asked):
    """Texts to embed; ``kind`` chooses the prompt that the model has for them."""

    texts: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=10_000)]],
        at_most(MOST_TEXTS),
    ] = Field(min_length=1, max_length=MOST_TEXTS)
    kind: Literal["query", "passage"] = "query"


class Embedded(Strict):
    """Vectors of length 1, in the order of the texts."""

    model: str
    dimensions: int
    vectors: list[list[float]]
