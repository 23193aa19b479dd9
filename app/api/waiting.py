"""What a server answers while its vault is indexed for the first time: that it is up, and how far that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from http import HTTPStatus
from importlib.metadata import version

from fastapi import FastAPI, Request, Response

from notehop.app.api import middleware, problem_response
from notehop.app.api.desk import Desks
from notehop.app.api.middleware.tokens import TRUSTED
from notehop.app.api.problem_response import respond
from notehop.app.models import Health
from notehop.app.problems import http_problem
from notehop.config.settings import ServerSettings

AGAIN = 5
"""Seconds after which it is worth asking again."""

_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="{again}">
<title>notehop</title><link rel="icon" href="data:,"></head>
<body><h1>notehop</h1><p>{said}</p><p>This page looks again every {again} seconds.</p></body></html>
"""


def waiting_app(
    name: str, settings: ServerSettings, tokens: Sequence[str], progress: Callable[[], str]
) -> FastAPI:
    """Make the app that holds the place of a vault's API until there is an index.

    :param name: of the vault; like the progress, told to those only who may ask everything else.
    :param tokens: clients must send one of them; none: nothing is asked for.
    :param progress: how far the index is.
    """
    app = FastAPI(title="notehop", docs_url=None, redoc_url=None, openapi_url=None)
    app.state.desks = Desks(settings)
    middleware.install(app, settings, tokens, None)
    problem_response.install(app)
    again = {"Retry-After": str(AGAIN)}

    def said(request: Request) -> str:
        if not request.scope.get(TRUSTED, True):
            return "the vault is being indexed for the first time"
        return f"{name} is being indexed for the first time: {progress()}"

    @app.api_route("/health", methods=["GET", "HEAD"], response_model_exclude_none=True)
    @app.api_route("/health/live", methods=["GET", "HEAD"], response_model_exclude_none=True)
    async def health(request: Request) -> Health:
        trusted = request.scope.get(TRUSTED, True)
        return Health(
            live=True,
            ready=False,
            vault=name if trusted else None,
            version=version("notehop") if trusted else None,
        )

    @app.get("/")
    async def page(request: Request) -> Response:
        text = _PAGE.format(again=AGAIN, said=escape(f"{said(request)}."))
        return Response(text, HTTPStatus.SERVICE_UNAVAILABLE, again, "text/html")

    @app.api_route("/{path:path}", methods=_METHODS)
    async def other(request: Request) -> Response:
        detail = f"{said(request)}; ask again in {AGAIN} s"
        told = http_problem(HTTPStatus.SERVICE_UNAVAILABLE, detail, kind="indexing")
        return respond(told, again)

    return app
