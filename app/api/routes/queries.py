"""Questions and searches."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from notehop.app.api.examples import EVENTS, QUERIES, SEARCHES, THEMES
from notehop.app.api.json_body import json_body
from notehop.app.api.openapi import STREAM_EVENT
from notehop.app.api.service import BODY_REFUSED, Service, problems
from notehop.app.api.streaming import Stream
from notehop.app.models import (
    Answer,
    Query,
    SearchQuery,
    SearchResult,
    ThemesQuery,
    ThemesResult,
)

Asked = Annotated[Query, Body(openapi_examples=QUERIES)]


def routes(service: Service) -> APIRouter:
    """``/query``, ``/query/stream``, ``/search`` and ``/themes``."""
    router = APIRouter(tags=["queries"], dependencies=[Depends(json_body)])
    vault, desks = service.vault, service.desks

    @router.post(
        "/query",
        operation_id="query",
        summary="Answer a question with citations",
        response_model=Answer,
        responses=BODY_REFUSED,
    )
    async def query(body: Asked) -> Response:
        return await service.reply(desks.answers, lambda: vault.ask(body))

    @router.post(
        "/ask",
        operation_id="ask",
        summary="The same as /query, by the name that the command line and the tools have for it",
        response_model=Answer,
        responses=BODY_REFUSED,
    )
    async def ask(body: Asked) -> Response:
        return await query(body)

    async def begun(body: Asked) -> AsyncIterator[Stream]:
        stream = Stream(desks, lambda cancelled: vault.stream(body, cancelled=cancelled))
        try:
            await stream.begin()
            yield stream
        finally:
            stream.leave()

    @router.post(
        "/query/stream",
        operation_id="query_stream",
        summary="Answer a question piece by piece, as server-sent events",
        description=(
            "Events `sources`, `connected`, `token` (any number) and `done`, or `error` where the "
            "answer fails after it began. The data of each is JSON. `done` holds the whole answer "
            "with its citations checked: its text is what holds. Closing the connection stops the "
            "work."
        ),
        response_class=EventSourceResponse,
        responses={
            **BODY_REFUSED,
            200: {"content": {"text/event-stream": {"schema": STREAM_EVENT, "examples": EVENTS}}},
        },
    )
    async def query_stream(stream: Stream = Depends(begun)) -> AsyncIterator[ServerSentEvent]:
        async for event in stream.events():
            yield ServerSentEvent(event=event.event, data=event)

    @router.post(
        "/search",
        operation_id="search",
        summary="List the passages or notes that match",
        response_model=SearchResult,
        responses=BODY_REFUSED,
    )
    async def search(
        body: Annotated[SearchQuery, Body(openapi_examples=SEARCHES)],
    ) -> Response:
        return await service.reply(desks.lookups, lambda: vault.search(body))

    @router.post(
        "/themes",
        operation_id="themes",
        summary="List the themes of the vault, or those that have to do with a query",
        response_model=ThemesResult,
        responses=BODY_REFUSED | problems(HTTPStatus.CONFLICT),
    )
    async def themes(
        body: Annotated[ThemesQuery, Body(openapi_examples=THEMES)],
    ) -> Response:
        return await service.reply(desks.lookups, lambda: vault.themes(body))

    return router
