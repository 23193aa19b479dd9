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

from notehop.app.api.guard import OPEN
from notehop.app.models import StreamEvent


def _examples(**values: Any) -> dict[str, Any]:
    """Request bodies by name; a name's words are what a person is told of it."""
    return {
        name: {"summary": name.replace("_", " ").capitalize(), "value": value}
        for name, value in values.items()
    }


QUERIES = _examples(
    question={"query": "When does the Atlas project launch?"},
    filters_in_the_text={"query": 'path:Daily after:2026-10-01 "second casting"'},
)
SEARCHES = _examples(
    filters_as_fields={
        "query": "atlas timeline",
        "results": "notes",
        "filters": {"tag": "project", "after": "2w", "not": {"path": ["Archive", "Templates"]}},
    },
)
THEMES = _examples(within_a_folder={"filters": {"path": "Projects"}, "max": 3})
BROWSES = _examples(
    two_links_forward={
        "seeds": ["Hollin Reach", "People/Gwen Aldous.md"],
        "depth": 2,
        "direction": "forward",
        "rank": "recency",
        "max": 10,
    }
)
CAPTURES = _examples(
    titled={
        "text": "The eelgrass by the hatchery is back.",
        "title": "Eelgrass",
        "tags": ["estuary", "to-check"],
    }
)
TEXTS = _examples(
    passages={"texts": ["Elvers come in April.", "The gate opens."], "kind": "passage"}
)

_STREAM = (
    'event: sources\ndata: {"event":"sources","sources":[]}\n\n'
    'event: connected\ndata: {"event":"connected","connected_notes":[]}\n\n'
    'event: token\ndata: {"event":"token","text":"The launch "}\n\n'
    'event: done\ndata: {"event":"done","answer":{}}\n\n'
)

EVENTS = {
    "schema": {"$ref": "#/components/schemas/StreamEvent"},
    "examples": {"answer": {"summary": "An answer, shortened", "value": _STREAM}},
}
"""What the schema says of a stream."""

LOCATION = {"Location": {"description": "Where it is read.", "schema": {"type": "string"}}}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the schema says of refusals: they are problem details."""
    told = {"schema": {"$ref": "#/components/schemas/Problem"}}
    content = {"application/problem+json": told}
    return {one: {"description": HTTPStatus(one).phrase, "content": content} for one in statuses}


BODY_REFUSED = problems(408, 413, 415, 422, 503)
"""What every route with a body may answer beside its reply."""

EVERYWHERE = problems(400, 401, 403, 421, 429, 500)
"""What every route may answer."""


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
    # Where none is asked for, one that is sent does no harm: clients may be written for both.
    found["security"] = [token] if needs_token else [{}, token]
    for path, methods in found["paths"].items():
        for operation in methods.values():
            if path in OPEN:
                operation["security"] = []
            for response in operation["responses"].values():
                for content in response.get("content", {}).values():
                    content.pop("itemSchema", None)
    return found


def _reference_html(document: Mapping[str, Any]) -> str:
    """An OpenAPI document as a page to read, without a script."""
    parts: list[str] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            told = f"{operation['summary']}. {operation.get('description', '')}"
            parts.append(
                f"<h3><code>{method.upper()} {escape(path)}</code></h3><p>{escape(told)}</p>"
            )
            shown = escape(json.dumps(operation, indent=2, ensure_ascii=False), quote=False)
            parts.append(
                f"<details><summary>Parameters, body with examples, and replies</summary>"
                f"<pre><code>{shown}</code></pre></details>"
            )
    styles = "".join(
        f'<link rel="stylesheet" href="/static/css/{name}.css">'
        for name in ("tokens", "page", "prose")
    )
    info = document["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>notehop: the HTTP API</title>'
        f'<link rel="icon" href="/static/icon.svg" type="image/svg+xml">{styles}</head>'
        f'<body><main class="prose"><h1>notehop {escape(info["version"])}: the HTTP API</h1>'
        f"<p>{escape(info['summary'])} For programs, with all schemas: "
        '<a href="/openapi.json">openapi.json</a>. The page for people is at <a href="/">/</a>.</p>'
        f"{''.join(parts)}</main></body></html>"
    )
