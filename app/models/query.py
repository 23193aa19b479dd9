"""What may be asked: a question, a search, and how its connected notes are chosen."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from notehop.app.models.base import Asked
from notehop.app.models.filters import Filters


class ConnectedOptions(Asked):
    """How connected notes are chosen; None means the setting in force."""

    max: int | None = Field(default=None, ge=0, le=20)
    order: Literal["context", "rank"] | None = None
    direction: Literal["forward", "backward", "both"] | None = None


Intent = Literal["auto", "none", "status", "discovery", "concept", "person", "timeline"]
"""What a query is after; ``auto`` reads it from the query, ``none`` weighs all signals alike."""


class BaseQuery(Asked):
    """What a question and a search have in common.

    ``query`` may hold filters itself (``tag:fish after:2026-10 "tide gate"``), which ``filters``
    adds to; ``literal`` takes the text as it stands, with no filters in it. A query without words
    lists the newest notes that its filters leave. ``intent`` sets the weights of the signals; None
    means the setting in force.
    """

    guessed = (
        ("question", "query"),
        ("q", "query"),
        ("limit", "top_k"),
    )

    query: str
    filters: Filters = Field(default_factory=Filters)
    literal: bool = False
    top_k: int | None = Field(default=None, ge=1, le=100)
    intent: Intent | None = None
    connected: ConnectedOptions = Field(default_factory=ConnectedOptions)
    explain: bool = False


class Query(BaseQuery):
    """A question.

    ``conversation_id`` is any name of a conversation, best a random one: a question is understood
    after those that were asked under it before. ``themes`` has the question answered from the
    themes of the vault (docs/themes.md), or not; None leaves that to its words, where themes are
    switched on.
    """

    themes: bool | None = None
    conversation_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9_-]{1,64}$")


class SearchQuery(BaseQuery):
    """A search: with the choice between chunks and notes.

    ``min_score``, 0 to 1, leaves out hits of a lower ``relevance``. Without it, a search that finds
    nothing but weak matches shows the first few.
    """

    results: Literal["chunks", "notes"] = "chunks"
    min_score: float | None = Field(default=None, ge=0, le=1)
