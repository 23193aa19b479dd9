"""Every error of the API as an RFC 9457 problem detail, also those of the framework."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from notehop.app.models import Problem
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


def install(app: FastAPI) -> None:
    """Make the app answer every error with a problem."""

    @app.exception_handler(NotehopError)
    async def refused(_: Request, exc: NotehopError) -> ProblemResponse:
        again = None if exc.retry_after is None else {"Retry-After": str(exc.retry_after)}
        return ProblemResponse(problem(exc), again)

    app.add_exception_handler(HTTPException, _frameworks)
    app.add_exception_handler(RequestValidationError, _validation)


async def _frameworks(request: Request, exc: Exception) -> ProblemResponse:
    assert isinstance(exc, HTTPException)
    detail = exc.detail
    if exc.status_code == HTTPStatus.NOT_FOUND:
        below, given = request.scope.get("root_path", ""), request.scope["path"]
        path = given.rstrip("/")
        instead = "/openapi.json lists what there is, /docs shows it"
        if path != given and path in request.app.openapi()["paths"]:
            instead = f"use {below}{path}"
        detail = f"there is nothing at {below}{given}; {instead}"
    elif exc.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (exc.headers or {}).get("Allow", "another method")
        detail = f"{request.url.path} does not take {request.method}; use {allowed}"
    return error_response(HTTPStatus(exc.status_code), str(detail), exc.headers)


async def _validation(request: Request, exc: Exception) -> ProblemResponse:
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
        {"at": _place(error)[:LONGEST], "message": error["msg"][:LONGEST]}
        for error in errors[:MOST]
    ]
    detail = "; ".join(f"{one['at']}: {one['message']}" for one in told)
    if len(errors) > MOST:
        detail += f"; and {len(errors) - MOST:,} more"
    return error_response(HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=told)


def _place(error: Mapping[str, Any]) -> str:
    """``body.connected.max`` without the ``body``, which is all there is."""
    parts = [str(part) for part in error["loc"] if part != "body"]
    # A key may hold half of a surrogate pair, which no reply can.
    return ".".join(parts).encode("utf-8", "replace").decode() or "body"
