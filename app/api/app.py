"""The HTTP API of some vaults, put together: routes, what every request passes, start and end, and how it
describes itself: what the framework leaves out of the OpenAPI schema, and the requests and events in it.
"""

from __future__ import annotations

import gc
import json
import logging
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from html import escape
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from pydantic import Field, TypeAdapter

from notehop.app.api.errors import HANDLERS
from notehop.app.api.middleware import OPEN, BodyLimit, Guard, Outermost
from notehop.app.api.routes import routes
from notehop.app.api.workers import Workers
from notehop.app.models import StreamEvent
from notehop.app.services.vaults import LOOK, LazyVault, Vaults
from notehop.config.errors import BeingIndexed, IndexMissing, NotehopError
from notehop.config.settings import ServerSettings

_log = logging.getLogger(__name__)

_WARMING = threading.Lock()  # vaults are warmed in turn: all at once takes what queries need


def create_app(
    vaults: Vaults,
    settings: ServerSettings,
    workers: Workers,
    *,
    tokens: Sequence[str] = (),
    vault_tokens: Mapping[str, str] | None = None,
    routers: Sequence[APIRouter] = (),
) -> FastAPI:
    """Make the API of some vaults; it warms them up when it starts and closes them at its end. One that
    cannot be opened says why, and the others are served.

    :param workers: where requests wait, also those of the routers; closed at its end.
    :param tokens: clients must send one of them; none: nothing is asked for.
    :param vault_tokens: by name of a vault, what opens that vault alone; only where there are tokens.
    :param routers: served beside it, behind the same guards.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Requests are taken meanwhile: the first one waits for what it needs, and no longer.
        for one in vaults.items():
            threading.Thread(target=warm, args=one, name="notehop-warm", daemon=True).start()
        try:
            yield
        finally:
            workers.close()
            vaults.close()

    app = FastAPI(
        title="notehop",
        version=version("notehop"),
        summary="Ask an Obsidian vault: cited answers that follow the links between your notes.",
        lifespan=lifespan,
        # Whoever has a tracer in the process would get the names of notes: they stand in paths.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        # Their pages load scripts from the network; ours shows the same without any.
        docs_url=None,
        redoc_url=None,
        responses=REFUSED,
        # A path with a slash too many is none of ours, and not worth a second request.
        redirect_slashes=False,
        exception_handlers=HANDLERS,
    )
    app.state.workers = workers
    guard = Guard(settings, tokens, vault_tokens, vaults.default)
    app.add_middleware(BodyLimit)
    app.add_middleware(Outermost, guard=guard, vaults=vaults)
    _describe(app, needs_token=bool(tokens))
    for router in (routes(vaults, workers, app.version), *routers):
        app.include_router(router)
    return app


def warm(name: str, vault: LazyVault) -> None:
    """Load all that queries need, of a first index once it is made; what cannot be is logged once."""
    logged = ""
    while not vault.closed.is_set():
        try:
            with _WARMING:
                vault.open().warm()
                # What is loaded by now stays: a look through it, once in a hundred queries, took 0.15 s.
                gc.collect()
                gc.freeze()
            return
        except NotehopError as exc:
            # The server stays up: every query says the same, and the reason may pass.
            if not isinstance(exc, BeingIndexed) and str(exc) != logged:
                logged = str(exc)
                _log.error("%s: %s", name, exc)
            # The follower may wait for its turn, or fail and go on later.
            if not isinstance(exc, IndexMissing):
                return
            vault.closed.wait(LOOK)


_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}

REFUSED: dict[int | str, dict[str, Any]] = {
    one: {"description": HTTPStatus(one).phrase, "content": _PROBLEM}
    for one in (400, 401, 403, 404, 409, 413, 415, 421, 422, 500, 503)
}
"""What every route may answer beside its reply: problem details."""


def _describe(app: FastAPI, *, needs_token: bool) -> None:
    """Make the app describe itself so: for programs, and at ``/docs`` for people."""
    openapi = cache(partial(_document, app, needs_token))
    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(_reference_html(openapi()))


def _document(app: FastAPI, needs_token: bool) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    schemas = found["components"]["schemas"]
    event = TypeAdapter(Annotated[StreamEvent, Field(discriminator="event")])
    told = event.json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    found["components"]["schemas"] = schemas = {**told.pop("$defs"), **schemas}
    words = {"title": "StreamEvent", "description": "The data of an event, by its name."}
    schemas["StreamEvent"] = told | words
    bearer = {"HTTPBearer": {"type": "http", "scheme": "bearer"}}
    found["components"]["securitySchemes"] = bearer
    token: dict[str, list[str]] = {"HTTPBearer": []}
    # Where none is asked for, one that is sent does no harm: clients are written for both.
    found["security"] = [token] if needs_token else [{}, token]
    paths = found["paths"]
    for path in OPEN & paths.keys():
        paths[path]["get"]["security"] = []
    streamed = paths["/query/stream"]["post"]["responses"]["200"]["content"]
    del streamed["text/event-stream"]["itemSchema"]
    return found


_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>notehop: the HTTP API</title><link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/page.css"></head>
<body><main class="prose"><h1>notehop: the HTTP API</h1>
<p>For programs, with all schemas: <a href="/openapi.json">openapi.json</a>. The page for people is at
<a href="/">/</a>.</p>"""


def _reference_html(document: Mapping[str, Any]) -> str:
    """An OpenAPI document as a page to read, without a script."""
    parts = [_PAGE]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            told = f"{operation['summary']}. {operation.get('description', '')}"
            shown = escape(json.dumps(operation, indent=2, ensure_ascii=False), quote=False)
            parts += (
                f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(told)}</p>",
                f"<details><summary>Parameters, body and replies</summary><pre>{shown}</pre></details>",
            )
    return "".join((*parts, "</main></body></html>"))
