"""The events of an answer while it is made, in the order in which they come."""

from __future__ import annotations

from typing import Literal, TypeAlias

from notehop.app.models.base import Strict
from notehop.app.models.reply import Answer, ConnectedNote, Source
from notehop.app.models.server import Problem


class SourcesEvent(Strict):
    """First: what may be cited."""

    event: Literal["sources"] = "sources"
    sources: list[Source]


class ConnectedEvent(Strict):
    """Then: what is context, and never cited."""

    event: Literal["connected"] = "connected"
    connected_notes: list[ConnectedNote]


class TokenEvent(Strict):
    """Then, any number of times: more of the answer."""

    event: Literal["token"] = "token"
    text: str


class ResetEvent(Strict):
    """Before ``done``, where the text that was written is not the answer: this stands in its place.

    So it is where a model broke off, or where what it wrote could not be kept.
    """

    event: Literal["reset"] = "reset"
    text: str


class DoneEvent(Strict):
    """Last: the whole answer, its citations checked. Its text is what holds."""

    event: Literal["done"] = "done"
    answer: Answer


class ErrorEvent(Strict):
    """Last, in place of ``done``: why there is no answer."""

    event: Literal["error"] = "error"
    problem: Problem


StreamEvent: TypeAlias = (
    SourcesEvent | ConnectedEvent | TokenEvent | ResetEvent | DoneEvent | ErrorEvent
)
