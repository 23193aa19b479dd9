"""The OpenAPI schema: what the framework leaves out, and the requests and events that it shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from html import escape
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from pydantic import Field, TypeAdapter

from notehop.app.api.middleware import OPEN
from notehop.app.models import StreamEvent

STREAM = {"text/event-stream": {"schema": {"$ref": "#/components/schemas/StreamEvent"}}}
"""What the schema says of a stream."""

_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}

REFUSED: dict[int | str, dict[str, Any]] = {
    one: {"description": HTTPStatus(one).phrase, "content": _PROBLEM}
    for one in (400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 500, 503)
}
"""What every route may answer beside its reply: problem details."""


def install(app: FastAPI, *, needs_token: bool) -> None:
    """Make the app describe itself so: for programs, and at ``/docs`` for people."""
    openapi = cache(partial(_document, app, needs_token))
    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        return HTMLResponse(_reference_html(openapi()))


def _document(app: FastAPI, needs_token: bool) -> dict[str, Any]:
    found = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
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
