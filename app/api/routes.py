"""The routes of the API. What is written below ``routes`` is evaluated as it stands: no lazy annotations."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from http import HTTPStatus
from operator import methodcaller
from typing import Annotated, Any, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi import Query as Parameter
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from notehop.app import models
from notehop.app.api.errors import error_response
from notehop.app.api.middleware import OPENS, TRUSTED, from_here
from notehop.app.api.workers import Workers, stream
from notehop.app.problems import failure_of
from notehop.app.services.notes.browse import MOST
from notehop.app.services.notes.find_note import LONGEST
from notehop.app.services.vault import VaultHandle
from notehop.app.services.vaults import ASKED, LazyVault, Vaults, below

JSON = "application/json"

STREAM = {"text/event-stream": {"schema": {"$ref": "#/components/schemas/StreamEvent"}}}
"""What the schema says of a stream."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]

RouteT = TypeVar("RouteT", bound=Callable[..., Any])


def seen(status: models.IndexStatus, *, from_here: bool) -> models.IndexStatus:
    """A status as a client may see it, on this machine or elsewhere; the counts stay."""
    if from_here:
        return status.model_copy(update={"skipped": []})
    # Elsewhere no path, name, host or setting is told, and no reason, which may name them.
    told = {
        **dict.fromkeys(("index_dir", "catalog", "settings_file"), ""),
        **dict.fromkeys(("writer", "server", "llm", "enrichment", "failure")),
        **{name: [] for name in ("skipped", "failed", "passed_over", "egress")},
        **{"vault": status.name, "settings": {}},
        "problem": status.problem and "the settings in force cannot use the index",
        "watcher": status.watcher and replace(status.watcher, pid=0, host="", command="", detail=None),
    }
    return status.model_copy(update=told)


class RouteParameters(models.Parameters):
    """What a route takes in its address, where all is text; what it does not know is refused, as in a
    body."""

    model_config = ConfigDict(strict=False)


class NoteParameters(RouteParameters):
    section: Name | None = Field(None, description="A heading: only its section is read.")
    mentions: bool = Field(True, description="Look for mentions without a link.")


class GraphParameters(RouteParameters):
    around: list[Name] = Field([], max_length=20, description="Paths, titles or aliases.")
    depth: int = Field(1, ge=1, le=2, description="Links to follow.")
    most: int = Field(60, ge=1, le=MOST, description="Notes at most.")


class SuggestParameters(RouteParameters):
    note: Name | None = Field(None, description="Path, title or alias; none: the best of the whole vault.")
    limit: int = Field(10, ge=1, le=100, description="Links at most.")


def routes(vaults: Vaults, workers: Workers, version: str) -> APIRouter:
    """All routes over some vaults; the vault of a request stands in its scope."""
    router = APIRouter(generate_unique_id_function=lambda route: route.name)

    async def reply(
        request: Request, work: Callable[[VaultHandle], BaseModel], *, slow: bool = False
    ) -> Response:
        """Have a thread do the work and write its result as JSON, so that the loop does neither."""
        vault: LazyVault = request.scope[ASKED]

        def written() -> str:
            return work(vault.open()).model_dump_json()

        return Response(await workers.run(written, slow=slow), media_type=JSON)

    def post(path: str, method: str, body: Any, reply_model: Any, summary: str, **more: Any) -> None:
        """A route whose body is handed to a method of the handle."""

        async def answer(request: Request, body: body) -> Response:
            return await reply(request, methodcaller(method, body), slow=method == "ask")

        options = {"tags": ["queries"], "name": path[1:].replace("/", "_"), **more}
        options |= {"response_model": reply_model, "summary": summary}
        router.add_api_route(path, answer, methods=["POST"], **options)

    def get(
        path: str, reply_model: Any, summary: str, tag: str = "notes", **more: Any
    ) -> Callable[[RouteT], RouteT]:
        return router.get(path, response_model=reply_model, summary=summary, tags=[tag], **more)

    post("/query", "ask", models.Query, models.Answer, "Answer a question with citations")
    told = "The same as /query, by the name that the command line and the tools have for it"
    post("/ask", "ask", models.Query, models.Answer, told)

    async def begun(
        request: Request, body: models.Query
    ) -> AsyncIterator[tuple[models.StreamEvent, AsyncGenerator[models.StreamEvent]]]:
        """The first event, so that what fails at once is refused with a status, and the others."""
        vault: LazyVault = request.scope[ASKED]
        made = stream(workers, lambda gone: vault.open().stream(body, cancelled=gone))
        async with aclosing(made) as events:
            first = await anext(events)
            if isinstance(first, models.ErrorEvent):
                raise failure_of(first.problem)
            yield first, events

    @router.post(
        "/query/stream",
        tags=["queries"],
        summary="Answer a question piece by piece, as server-sent events",
        description="`done` holds the whole answer with its citations checked: its text is what holds. "
        "Closing the connection stops the work.",
        response_class=EventSourceResponse,
        responses={200: {"content": STREAM}},
    )
    async def query_stream(
        answer: tuple[models.StreamEvent, AsyncGenerator[models.StreamEvent]] = Depends(begun),
    ) -> AsyncIterator[ServerSentEvent]:
        first, others = answer
        yield ServerSentEvent(event=first.event, data=first)
        async for event in others:
            yield ServerSentEvent(event=event.event, data=event)

    told = "List the passages or notes that match"
    post("/search", "search", models.SearchQuery, models.SearchResult, told)
    told = "List the themes of the vault"
    post("/themes", "themes", models.ThemesQuery, models.ThemesResult, told)

    told = "Read a note: its text, outline, links both ways and unlinked mentions"

    @get("/notes/{path:path}", models.NoteView, told)
    async def read_note(
        request: Request,
        path: str = Path(max_length=LONGEST, description="Path in the vault, title or alias."),
        asked: NoteParameters = Parameter(),
    ) -> Response:
        return await reply(request, lambda vault: vault.note(path, **dict(asked)))

    told = "Lay out the notes around some, or the best linked ones, to be drawn"

    @get("/graph", models.GraphView, told)
    async def graph(request: Request, asked: GraphParameters = Parameter()) -> Response:
        return await reply(request, lambda vault: vault.picture(**dict(asked)))

    @get("/suggest", models.Suggestions, "Suggest links that a note, or the whole vault, may lack")
    async def suggest(request: Request, asked: SuggestParameters = Parameter()) -> Response:
        return await reply(request, lambda vault: vault.suggest(**dict(asked)))

    told = "List the notes a link or two away from some"
    post("/graph/browse", "browse", models.BrowseQuery, models.BrowseResult, told, tags=["notes"])

    @router.post(
        "/capture",
        tags=["writing"],
        summary="Keep a text as a new note, and say which notes it has to do with",
        status_code=HTTPStatus.CREATED,
        response_model=models.Captured,
    )
    async def capture(request: Request, body: models.CaptureQuery) -> Response:
        vault: LazyVault = request.scope[ASKED]
        captured = await workers.run(lambda: vault.capture(body))
        where = f"{request.scope.get('root_path', '')}/notes/{quote(captured.filename)}"
        return Response(captured.model_dump_json(), HTTPStatus.CREATED, {"Location": where}, JSON)

    told = "Turn texts into vectors with the model of the index"
    post("/embed", "embed", models.EmbedQuery, models.Embedded, told)

    told = "Say what the index holds, how fresh it is, and who works on it"
    private = "Paths and settings are told to this machine only."

    @get("/status", models.IndexStatus, told, "state", description=private)
    async def status(request: Request) -> Response:
        here = from_here(request.scope)
        return await reply(request, lambda vault: seen(vault.status(), from_here=here))

    told = "List the vaults of the server, the default first"
    below_each = "Below the `url` of each are all routes of this server, for that vault."

    @get("/vaults", models.VaultList, told, "state", name="vaults", description=below_each)
    async def list_vaults(request: Request) -> models.VaultList:
        here, opens = from_here(request.scope), request.scope.get(OPENS)
        found = [
            models.VaultNow(
                name=name,
                vault=vault.place.name,
                folder=str(vault.place.vault) if here else "",
                url=below(name),
                default=name == vaults.default,
            )
            for name, vault in vaults.items()
            if opens is None or name in opens
        ]
        return models.VaultList(vaults=found)

    every = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

    @router.api_route("/vaults/{name}/{path:path}", methods=every, include_in_schema=False)
    async def no_vault(name: str) -> Response:
        told = f"there is no vault {name[:LONGEST]!r} here; GET /vaults lists those that there are"
        return error_response(HTTPStatus.NOT_FOUND, told, kind="vault-missing")

    # Without a thread: they wait for nothing, and answer while all threads answer questions.
    async def health(request: Request, response: Response) -> models.Health:
        vault: LazyVault = request.scope[ASKED]
        found = models.Health(live=True, ready=vault.ready)
        if request.scope.get(TRUSTED, True):
            found.vault, found.version = vault.place.name, version
            found.generation = vault.generation
        if not found.ready and request.scope["path"] == "/health/ready":
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
            response.headers["Retry-After"] = "1"
        return found

    not_ready = {503: {"description": "Not ready yet", "model": models.Health}}
    for path, others in (("/health", {}), ("/health/live", {}), ("/health/ready", not_ready)):
        shared: dict[str, Any] = {
            "response_model_exclude_none": True,
            "responses": others,
            "name": path[1:].replace("/", "_"),
            "summary": "Say whether the server is up, and whether all that queries need is loaded",
        }
        router.add_api_route(path, health, tags=["state"], **shared)
        # Probes ask for the head alone; the server leaves the body out.
        router.add_api_route(path, health, methods=["HEAD"], include_in_schema=False, **shared)

    return router
