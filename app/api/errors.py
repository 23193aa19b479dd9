"""Every error of the API as an RFC 9457 problem detail, also those of the framework."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from notehop.app.models import Problem
from notehop.app.models.query import describe_error
from notehop.app.problems import http_problem, problem
from notehop.config.errors import NotehopError

MOST = 10  # things wrong with a request that are told at once
LONGEST = 200  # characters of a name or message that is told back

KINDS = {
    HTTPStatus.BAD_REQUEST: "not-json",
    HTTPStatus.NOT_FOUND: "route-missing",
    HTTPStatus.METHOD_NOT_ALLOWED: "method",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "media-type",
    HTTPStatus.UNPROCESSABLE_ENTITY: "invalid",
}
"""Types of what the framework refuses, apart from what a vault does under the same status."""

_JSON = re.compile(r"\s*application/(?:[^;\s]+\+)?json\s*(?:;|$)", re.IGNORECASE)
"""As the framework reads it: what is of another type it takes for no JSON."""


class ProblemResponse(JSONResponse):
    media_type = "application/problem+json"

    def __init__(self, told: Problem, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(told.model_dump(exclude_none=True), told.status, headers)


def error_response(
    status: HTTPStatus,
    detail: str,
    headers: Mapping[str, str] | None = None,
    *,
    kind: str | None = None,
    errors: list[dict[str, Any]] | None = None,
) -> ProblemResponse:
    """The response of :func:`http_problem`; ``kind`` is that of :data:`KINDS` if None."""
    told = http_problem(status, detail, errors, kind=kind or KINDS.get(status))
    return ProblemResponse(told, headers)


async def refused(_: Request, exc: Exception) -> ProblemResponse:
    """An error of ours."""
    assert isinstance(exc, NotehopError)
    again = None if exc.retry_after is None else {"Retry-After": str(exc.retry_after)}
    return ProblemResponse(problem(exc), again)


async def refused_by_framework(request: Request, exc: Exception) -> ProblemResponse:
    """What no route takes."""
    assert isinstance(exc, HTTPException)
    path = f"{request.scope.get('root_path', '')}{request.scope['path']}"
    detail = {
        HTTPStatus.NOT_FOUND: f"there is nothing at {path}; /openapi.json lists what there is, "
        "/docs shows it",
        HTTPStatus.METHOD_NOT_ALLOWED: f"{path} does not take {request.method}; "
        f"use {(exc.headers or {}).get('Allow', 'another method')}",
    }.get(HTTPStatus(exc.status_code), str(exc.detail))
    return error_response(HTTPStatus(exc.status_code), detail, exc.headers)


async def refused_by_model(request: Request, exc: Exception) -> ProblemResponse:
    """A body or a parameter that is not what a route takes."""
    assert isinstance(exc, RequestValidationError)
    errors = exc.errors()
    if request.method == "POST" and not _JSON.match(request.headers.get("content-type", "")):
        status, detail = HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send Content-Type: application/json"
        return error_response(status, detail, {"Accept-Post": "application/json"})
    if any(error["type"] == "json_invalid" for error in errors):
        why = "; ".join(str(one.get("ctx", {}).get("error", one["msg"])) for one in errors)
        return error_response(HTTPStatus.BAD_REQUEST, f"the body is not JSON: {why}")
    # The input is not repeated: it may be long, and the asker has it.
    told = [
        {"at": _place(error)[:LONGEST], "message": describe_error(error)[:LONGEST]} for error in errors[:MOST]
    ]
    detail = "; ".join(f"{one['at']}: {one['message']}" for one in told)
    if len(errors) > MOST:
        detail += f"; and {len(errors) - MOST:,} more"
    return error_response(HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=told)


def _place(error: Mapping[str, Any]) -> str:
    """``body.connected.max`` or ``query.limit`` without where in the request it stands."""
    parts = [str(part) for part in error["loc"][1:]]
    # A key may hold half of a surrogate pair, which no reply can.
    return ".".join(parts).encode("utf-8", "replace").decode() or "body"


HANDLERS: dict[int | type[Exception], Any] = {
    NotehopError: refused,
    HTTPException: refused_by_framework,
    RequestValidationError: refused_by_model,
}
"""Make an app answer every error with a problem."""
