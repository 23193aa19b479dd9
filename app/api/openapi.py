"""The OpenAPI schema: what the framework leaves out, and the requests and events that it shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from pydantic import Field, TypeAdapter

from notehop.app.api.guard import OPEN
from notehop.app.models import StreamEvent


def _example(summary: str, **value: Any) -> dict[str, Any]:
    return {"summary": summary, "value": value}


FILTERED = {
    "written": _example(
        "Filters in the text: a folder, a time, a phrase",
        query='path:Daily after:2026-10-01 "second casting"',
    ),
    "fields": _example(
        "The same kinds of filters as fields",
        query="atlas timeline",
        filters={
            "tag": "project",
            "after": "2w",
            "properties": {"status": "open"},
            "not": {"path": ["Archive", "Templates"]},
        },
    ),
    "newest": _example(
        "Filters alone: the newest notes that they leave",
        query="",
        filters={"type": "daily", "after": "7d"},
    ),
}

QUERIES = {
    "question": _example("A question", query="When does the Atlas project launch?"),
    "options": _example(
        "More sources, no connected notes",
        query="What did we decide about the Atlas launch?",
        top_k=8,
        connected={"max": 0},
    ),
    **FILTERED,
}

SEARCHES = {
    "passages": _example("The best passages", query="atlas timeline", top_k=10),
    "notes": _example(
        "One hit a note, with the ranks that each signal gave",
        query="atlas timeline",
        results="notes",
        explain=True,
    ),
    **FILTERED,
}

THEMES = {
    "all": _example("All themes, the largest first"),
    "some": _example(
        "Those that have to do with something, within a folder",
        query="tide gates",
        filters={"path": "Projects"},
        max=3,
    ),
}

BROWSES = {
    "around": _example("The notes that link to one, and those it links to", seeds=["Hollin Reach"]),
    "far": _example(
        "Two links forward, the newest first, with the passages that they lead to",
        seeds=["Hollin Reach", "People/Gwen Aldous.md"],
        depth=2,
        direction="forward",
        rank="recency",
        results="chunks",
        max=10,
    ),
}

CAPTURES = {
    "thought": _example(
        "A text; its first line names the note",
        text="Ask Gwen about the second casting of the tide gate.",
    ),
    "titled": _example(
        "With a title and tags",
        text="The eelgrass by the hatchery is back.",
        title="Eelgrass",
        tags=["estuary", "to-check"],
    ),
}

TEXTS = {
    "query": _example("As a query", texts=["When do elvers come?"]),
    "passages": _example(
        "As passages of notes",
        texts=["Elvers come in April.", "The gate opens."],
        kind="passage",
    ),
}

EVENTS: dict[str, Any] = {
    "answer": {
        "summary": "An answer, shortened",
        "value": (
            'event: sources\ndata: {"event":"sources","sources":[]}\n\n'
            'event: connected\ndata: {"event":"connected","connected_notes":[]}\n\n'
            'event: token\ndata: {"event":"token","text":"The launch "}\n\n'
            'event: done\ndata: {"event":"done","answer":{}}\n\n'
        ),
    },
}


LOCATION = {"Location": {"description": "Where it is read.", "schema": {"type": "string"}}}

REF = "#/components/schemas/{model}"
PROBLEM = {"$ref": REF.format(model="Problem")}
STREAM_EVENT = {"$ref": REF.format(model="StreamEvent")}


def problems(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """What the schema says of refusals: they are problem details."""
    schema = {"application/problem+json": {"schema": PROBLEM}}
    return {int(status): {"description": status.phrase, "content": schema} for status in statuses}


BODY_REFUSED = problems(
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""What every route with a body may answer beside its reply."""
EVERYWHERE = problems(
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
"""What every route may answer."""

_SCHEME = "HTTPBearer"


def install(app: FastAPI, *, needs_token: bool) -> None:
    """Make the app describe itself so: for programs, and at ``/docs`` for people."""
    made: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not made:
            made.update(_document(app, needs_token))
        return made

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI documents it

    @app.get("/docs", include_in_schema=False)
    def docs(request: Request) -> HTMLResponse:
        return HTMLResponse(_reference_html(openapi(), str(request.base_url).rstrip("/")))


def _document(app: FastAPI, needs_token: bool) -> dict[str, Any]:
    found = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    components = found.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    event = TypeAdapter(Annotated[StreamEvent, Field(discriminator="event")])
    told = event.json_schema(mode="serialization", ref_template=REF)
    for name, schema in told.pop("$defs").items():
        schemas.setdefault(name, schema)
    words = {"title": "StreamEvent", "description": "The data of an event, by its name."}
    schemas["StreamEvent"] = told | words
    components["securitySchemes"] = {_SCHEME: {"type": "http", "scheme": "bearer"}}
    # Where none is asked for, one that is sent does no harm: clients may be written for both.
    found["security"] = [{_SCHEME: []}] if needs_token else [{}, {_SCHEME: []}]
    for path, methods in found["paths"].items():
        for operation in methods.values():
            if path in OPEN:
                operation["security"] = []
            for response in operation["responses"].values():
                for content in response.get("content", {}).values():
                    content.pop("itemSchema", None)
    return found


Json = Mapping[str, Any]


def _reference_html(document: Json, base_url: str) -> str:
    """The document as a page to read, without a script and without a file from elsewhere.

    :param document: an OpenAPI document.
    :param base_url: where its examples ask, without a ``/`` at the end.
    """
    operations = [
        (method, path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    tags = dict.fromkeys(operation["tags"][0] for _, _, operation in operations)
    parts = [
        f'<h3 id="{escape(tag)}">{escape(tag.capitalize())}</h3>'
        + "".join(_operation(*one, base_url) for one in operations if one[2]["tags"][0] == tag)
        for tag in tags
    ]
    schemas = "".join(
        f'<details id="schema-{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        f"{_pre(json.dumps(schema, indent=2, ensure_ascii=False))}</details>"
        for name, schema in sorted(document["components"]["schemas"].items())
    )
    info = document["info"]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><title>notehop: the HTTP API</title>'
        '<link rel="icon" href="/static/icon.svg" type="image/svg+xml">'
        + "".join(
            f'<link rel="stylesheet" href="/static/css/{name}.css">'
            for name in ("tokens", "page", "prose")
        )
        + '</head><body><main class="prose">'
        f"<h1>{escape(info['title'])} {escape(info['version'])}: the HTTP API</h1>"
        f"<p>{escape(info.get('summary', ''))} For programs: "
        '<a href="/openapi.json">openapi.json</a>. The page for people is at <a href="/">/</a>.</p>'
        f'{"".join(parts)}<h3 id="schemas">Schemas</h3>{schemas}</main></body></html>'
    )


def _operation(method: str, path: str, operation: Json, base_url: str) -> str:
    parts = [
        f'<h4 id="{escape(operation["operationId"])}"><code>{method.upper()} {escape(path)}</code>'
        f"</h4><p>{escape(operation['summary'])}.</p>"
    ]
    if "description" in operation:
        parts.append(f"<p>{escape(operation['description'])}</p>")
    parts += [
        f"<p><code>{escape(one['name'])}</code> {escape(one.get('description', ''))}</p>"
        for one in operation.get("parameters", ())
    ]
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    if body:
        parts.append(f"<p>Takes {_named(body['schema'])}.</p>")
    for example in body.get("examples", {}).values():
        sent = json.dumps(example["value"], ensure_ascii=False).replace("'", r"'\''")
        call = f"curl -s {base_url}{path} -H 'Content-Type: application/json' \\\n  -d '{sent}'"
        parts.append(f"<p>{escape(example['summary'])}:</p>{_pre(call)}")
    replies: list[str] = []
    for status, reply in operation["responses"].items():
        contents = reply.get("content", {}).values()
        named = ", ".join(_named(one["schema"]) for one in contents if "schema" in one)
        replies.append(f"{status} {named or escape(reply['description'])}")
    return f"<section>{''.join(parts)}<p>Replies: {'; '.join(replies)}.</p></section>"


def _named(schema: Json) -> str:
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if not name:
        return escape(str(schema.get("title") or schema.get("type", "")))
    return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'


def _pre(text: str) -> str:
    return f"<pre><code>{escape(text, quote=False)}</code></pre>"
