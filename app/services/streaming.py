"""Answers a question as a row of events: what may be cited at once, the text as it is written.

Touches: index and models, through what it is given.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator

from llama_index.core.base.response.schema import Response

from notehop.app.answer.material import material_of
from notehop.app.answer.query_engine import NotehopQueryEngine, asked_in, with_trace
from notehop.app.answer.synthesizer import VaultSynthesizer
from notehop.app.models import (
    Answer,
    ConnectedEvent,
    DoneEvent,
    ErrorEvent,
    ResetEvent,
    Source,
    SourcesEvent,
    StreamEvent,
    TokenEvent,
)
from notehop.app.problems import problem
from notehop.app.retrieval.trace import TracedQuery
from notehop.config.errors import NotehopError

_log = logging.getLogger(__name__)


def events(
    engine: NotehopQueryEngine,
    synthesizer: Callable[[], VaultSynthesizer],
    query: TracedQuery,
    vault: str,
    *,
    begin: Callable[[], None],
    shown: Callable[[list[Source]], list[Source]],
    finished: Callable[[Response], Answer],
    cancelled: Callable[[], bool],
) -> Iterator[StreamEvent]:
    """Yield the sources, the connected notes, the answer in pieces, then the whole of it.

    Whatever goes wrong is the last event; nothing is raised. Once cancelled, it ends.

    :param begin: makes the query ready; a language model may have a part in that.
    :param shown: the sources as the query wants to see them.
    :param finished: makes the answer of a response.
    """
    try:
        begin()
        if cancelled():
            return
        material = material_of(engine.retrieve(query), vault)
        yield SourcesEvent(sources=shown(list(material.sources)))
        yield ConnectedEvent(connected_notes=list(material.connected))
        if cancelled():
            return
        with query.trace.timed("answer"):
            pieces = synthesizer().streamed(asked_in(query), material, cancelled)
            response, said = yield from _tokens(pieces)
        if response is not None and not cancelled():
            answer = finished(with_trace(response, query))
            if said.strip() and said.strip() != answer.answer.strip():
                yield ResetEvent(text=answer.answer)
            yield DoneEvent(answer=answer)
    except Exception as exc:  # noqa: BLE001 (an event says so, and the log)
        if not isinstance(exc, NotehopError):
            _log.exception("the answer failed")
        yield ErrorEvent(problem=problem(exc))


def _tokens(
    pieces: Generator[str, None, Response | None],
) -> Generator[StreamEvent, None, tuple[Response | None, str]]:
    """Hand on the pieces; returns the response, and all that was handed on."""
    said: list[str] = []
    try:
        while True:
            try:
                piece = next(pieces)
            except StopIteration as end:
                return end.value, "".join(said)
            said.append(piece)
            yield TokenEvent(text=piece)
    finally:
        pieces.close()
