"""The routes of the API, by topic; each function makes a router over one service."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Body, Depends, Path, Request, Response
from fastapi import Query as Parameter
from fastapi.sse import EventSourceResponse, ServerSentEvent

from notehop.app.api.errors import respond
from notehop.app.api.guard import OPENS, TRUSTED, from_here
from notehop.app.api.metrics import MEDIA_TYPE
from notehop.app.api.openapi import (
    BROWSES,
    CAPTURES,
    EVENTS,
    QUERIES,
    SEARCHES,
    STREAM_EVENT,
    TEXTS,
    THEMES,
)
from notehop.app.api.service import (
    BODY_REFUSED,
    JSON,
    METHODS,
    Service,
    VaultRequest,
    problems,
    seen,
)
from notehop.app.api.workers import Stream
from notehop.app.models import (
    Answer,
    BrowseQuery,
    BrowseResult,
    Captured,
    CaptureQuery,
    Embedded,
    EmbedQuery,
    GraphView,
    Health,
    IndexStatus,
    NoteView,
    Query,
    SearchQuery,
    SearchResult,
    Suggestions,
    ThemesQuery,
    ThemesResult,
    VaultList,
)
from notehop.app.problems import http_problem

Question = Annotated[Query, Body(openapi_examples=QUERIES)]


def query_routes(service: Service) -> APIRouter:
    """``/query``, ``/query/stream``, ``/search`` and ``/themes``."""
    router = APIRouter(tags=["queries"])
    workers = service.workers

    @router.post(
        "/ask",
        operation_id="ask",
        summary="The same as /query, by the name that the command line and the tools have for it",
        response_model=Answer,
        responses=BODY_REFUSED,
    )
    @router.post(
        "/query",
        operation_id="query",
        summary="Answer a question with citations",
        response_model=Answer,
        responses=BODY_REFUSED,
    )
    async def ask(body: Question, asked: VaultRequest = Depends(service.asked)) -> Response:
        return await asked.reply(workers.answers, lambda vault: vault.ask(body))

    async def begun(
        body: Question, asked: VaultRequest = Depends(service.asked)
    ) -> AsyncIterator[Stream]:
        stream = Stream(
            workers.answers,
            lambda cancelled: asked.vault.open().stream(body, cancelled=cancelled),
        )
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
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        return await asked.reply(workers.lookups, lambda vault: vault.search(body))

    @router.post(
        "/themes",
        operation_id="themes",
        summary="List the themes of the vault, or those that have to do with a query",
        response_model=ThemesResult,
        responses=BODY_REFUSED | problems(HTTPStatus.CONFLICT),
    )
    async def themes(
        body: Annotated[ThemesQuery, Body(openapi_examples=THEMES)],
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        return await asked.reply(workers.lookups, lambda vault: vault.themes(body))

    return router


MOST = 300
"""Notes of a picture at most: with more nothing can be told apart."""

LONGEST = 1_000
"""Characters of a path or a name."""

Name = Annotated[str, Parameter(min_length=1, max_length=LONGEST)]


def note_routes(service: Service) -> APIRouter:
    """``/notes/{path}``, ``/graph``, ``/graph/browse`` and ``/suggest``."""
    router = APIRouter(tags=["notes"])
    lookups = service.workers.lookups
    refusals = problems(
        HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE
    )

    @router.get(
        "/notes/{path:path}",
        operation_id="read_note",
        summary="Read a note: its text, outline, links both ways and unlinked mentions",
        response_model=NoteView,
        responses=refusals,
    )
    async def note(
        path: Annotated[
            str,
            Path(
                max_length=LONGEST,
                description="Path in the vault, title or alias.",
                examples=["Projects/Hollin Reach/Hollin Reach.md"],
            ),
        ],
        section: Annotated[
            Name | None, Parameter(description="A heading: only its section is read.")
        ] = None,
        mentions: Annotated[
            bool, Parameter(description="Whether to look for mentions without a link.")
        ] = True,
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        return await asked.reply(
            lookups, lambda vault: vault.note(path, section=section, mentions=mentions)
        )

    @router.get(
        "/graph",
        operation_id="graph",
        summary="Lay out the notes around some, or the best linked ones, to be drawn",
        response_model=GraphView,
        responses=refusals,
    )
    async def graph(
        around: Annotated[
            list[Name],
            Parameter(
                max_length=20,
                description="Paths, titles or aliases; none: the best linked notes.",
                examples=[["Hollin Reach"]],
            ),
        ] = [],  # noqa: B006 (never changed; the framework copies it)
        depth: Annotated[int, Parameter(ge=1, le=2, description="Links to follow.")] = 1,
        most: Annotated[int, Parameter(ge=1, le=MOST, description="Notes at most.")] = 60,
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        return await asked.reply(
            lookups, lambda vault: vault.picture(around, depth=depth, most=most)
        )

    @router.get(
        "/suggest",
        operation_id="suggest",
        summary="Suggest links that a note, or the whole vault, may lack",
        response_model=Suggestions,
        responses=refusals,
    )
    async def suggest(
        note: Annotated[
            Name | None,
            Parameter(
                description="Path, title or alias; none: the best of the whole vault.",
                examples=["Hollin Reach"],
            ),
        ] = None,
        limit: Annotated[int, Parameter(ge=1, le=100, description="Links at most.")] = 10,
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        return await asked.reply(lookups, lambda vault: vault.suggest(note, limit))

    @router.post(
        "/graph/browse",
        operation_id="graph_browse",
        summary="List the notes a link or two away from some",
        response_model=BrowseResult,
        responses={**refusals, **BODY_REFUSED},
    )
    async def browse(
        body: Annotated[BrowseQuery, Body(openapi_examples=BROWSES)],
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        return await asked.reply(lookups, lambda vault: vault.browse(body))

    return router


LOCATION = {"Location": {"description": "Where it is read.", "schema": {"type": "string"}}}


def writing_routes(service: Service) -> APIRouter:
    """``/capture`` and ``/embed``."""
    router = APIRouter()
    lookups = service.workers.lookups

    @router.post(
        "/capture",
        operation_id="capture",
        tags=["writing"],
        summary="Keep a text as a new note, and say which notes it has to do with",
        status_code=HTTPStatus.CREATED,
        response_model=Captured,
        responses={**BODY_REFUSED, 201: {"headers": LOCATION}},
    )
    async def capture(
        body: Annotated[CaptureQuery, Body(openapi_examples=CAPTURES)],
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        captured = await lookups.run(lambda: asked.vault.capture(body))
        return Response(
            captured.model_dump_json(),
            HTTPStatus.CREATED,
            {"Location": f"{asked.below}/notes/{quote(captured.filename)}"},
            JSON,
        )

    @router.post(
        "/embed",
        operation_id="embed",
        tags=["queries"],
        summary="Turn texts into vectors with the model of the index",
        response_model=Embedded,
        responses=BODY_REFUSED,
    )
    async def embed(
        body: Annotated[EmbedQuery, Body(openapi_examples=TEXTS)],
        asked: VaultRequest = Depends(service.asked),
    ) -> Response:
        return await asked.reply(lookups, lambda vault: vault.embed(body))

    return router


CHALLENGE = Parameter(
    pattern="^[0-9a-f]{32}$", description="What a program of the same user has proved."
)


def state_routes(service: Service) -> APIRouter:
    """``/vaults``, ``/status``, ``/health`` with its two halves and, where it is wanted,
    ``/metrics``."""
    router = APIRouter(tags=["state"])
    unavailable = problems(HTTPStatus.SERVICE_UNAVAILABLE)

    @router.get(
        "/status",
        operation_id="status",
        summary="Say what the index holds, how fresh it is, and who works on it",
        description="Paths and settings are told to this machine only.",
        response_model=IndexStatus,
        responses=unavailable,
    )
    async def status(request: Request, asked: VaultRequest = Depends(service.asked)) -> Response:
        here = from_here(request.scope)
        return await asked.reply(
            service.workers.lookups, lambda vault: seen(vault.status(), from_here=here)
        )

    @router.get(
        "/vaults",
        operation_id="vaults",
        summary="List the vaults of the server, the default first",
        description=(
            "Below the `url` of each are all routes of this server, for that vault. A token of one "
            "vault is told of that vault alone; folders are told to this machine only."
        ),
        response_model=VaultList,
        responses=unavailable,
    )
    async def vaults(request: Request) -> Response:
        here, opens = from_here(request.scope), request.scope.get(OPENS)

        def work() -> str:
            names = [name for name in service.vaults if opens is None or name in opens]
            found = [service.vaults.summary(name) for name in names]
            if not here:
                found = [one.model_copy(update={"folder": ""}) for one in found]
            return VaultList(vaults=found).model_dump_json()

        return Response(await service.workers.lookups.run(work), media_type=JSON)

    @router.api_route("/vaults/{name}/{path:path}", methods=METHODS, include_in_schema=False)
    async def no_vault(name: str) -> Response:
        detail = (
            f"there is no vault {name[:LONGEST]!r} here; GET /vaults lists those that there are"
        )
        return respond(http_problem(HTTPStatus.NOT_FOUND, detail, kind="vault-missing"))

    # Without a thread: they wait for nothing, and answer while all threads answer questions.
    @router.get(
        "/health",
        operation_id="health",
        summary="Say whether the server is up",
        responses=problems(HTTPStatus.UNPROCESSABLE_ENTITY),
        response_model_exclude_none=True,
    )
    async def health(
        request: Request,
        challenge: Annotated[str | None, CHALLENGE] = None,
        asked: VaultRequest = Depends(service.asked),
    ) -> Health:
        vault, proof = asked.vault, None
        prove = service.prove.get(asked.name or service.vaults.default)
        if prove is not None and challenge is not None:
            proof = prove(challenge)
        if not request.scope.get(TRUSTED, True):
            return Health(live=True, ready=vault.ready, proof=proof)
        return Health(
            live=True,
            ready=vault.ready,
            vault=vault.place.name,
            generation=vault.generation,
            version=service.version,
            proof=proof,
        )

    @router.get(
        "/health/live",
        operation_id="health_live",
        summary="Answer at all",
        response_model_exclude_none=True,
    )
    async def live(asked: VaultRequest = Depends(service.asked)) -> Health:
        return Health(live=True, ready=asked.vault.ready)

    @router.get(
        "/health/ready",
        operation_id="health_ready",
        summary="Answer 200 once all that queries need is loaded, 503 before",
        response_model_exclude_none=True,
        responses={503: {"description": "Not ready yet", "model": Health}},
    )
    async def ready(response: Response, asked: VaultRequest = Depends(service.asked)) -> Health:
        if not asked.vault.ready:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
            response.headers["Retry-After"] = "1"
        return Health(live=True, ready=asked.vault.ready)

    # Probes ask for the head alone; the server leaves the body out.
    for path, answer in (("/health", health), ("/health/live", live), ("/health/ready", ready)):
        router.add_api_route(
            path,
            answer,
            methods=["HEAD"],
            include_in_schema=False,
            response_model_exclude_none=True,
        )

    if (metrics := service.metrics) is not None:

        @router.get(
            "/metrics",
            operation_id="metrics",
            summary="Numbers in the text format of Prometheus",
            response_class=Response,
            responses={200: {"content": {"text/plain": {}}}},
        )
        async def numbers() -> Response:
            return Response(metrics.text(), media_type=MEDIA_TYPE)

    return router
