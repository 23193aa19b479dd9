"""What ``/openapi.json`` says beyond what FastAPI reads from the routes.

Client generators make one class a schema that has a name, and stop at words of later versions of
OpenAPI: problems and the events of a stream are named, and ``itemSchema`` (3.2) is taken out.
"""

from __future__ import annotations

from typing import Any, get_args

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from pydantic.json_schema import models_json_schema

from notehop.app.api.middleware.tokens import OPEN
from notehop.app.api.reference import reference_html
from notehop.app.models import Problem, StreamEvent

REF = "#/components/schemas/{model}"
PROBLEM = {"$ref": REF.format(model="Problem")}
STREAM_EVENT = {"$ref": REF.format(model="StreamEvent")}

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
        return HTMLResponse(reference_html(openapi(), str(request.base_url).rstrip("/")))


def _document(app: FastAPI, needs_token: bool) -> dict[str, Any]:
    found = get_openapi(
        title=app.title, version=app.version, summary=app.summary, routes=app.routes
    )
    components = found.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name, schema in _named().items():
        schemas.setdefault(name, schema)
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


def _named() -> dict[str, Any]:
    """The schemas of problems and events, by name."""
    events = get_args(StreamEvent)
    _, whole = models_json_schema(
        [(model, "serialization") for model in (Problem, *events)], ref_template=REF
    )
    schemas: dict[str, Any] = whole["$defs"]
    kinds = {
        event.model_fields["event"].default: REF.format(model=event.__name__) for event in events
    }
    schemas["StreamEvent"] = {
        "title": "StreamEvent",
        "description": "The data of an event, by its name.",
        "oneOf": [{"$ref": ref} for ref in kinds.values()],
        "discriminator": {"propertyName": "event", "mapping": kinds},
    }
    return schemas
