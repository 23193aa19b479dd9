"""The HTTP API: what it serves and what each reply looks like.

Touches: index and models, through the vault handle it is given.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Any, Protocol

from fastapi import Body, Depends, FastAPI

from app.api.examples import QUERIES, SEARCHES
from app.api.guards import LOOPBACK, BodyLimit, HostGuard, allowed_hosts, json_body
from app.api.problem_response import install
from app.models import Answer, Health, Problem, Query, SearchQuery, SearchResult
from config.errors import NotehopError

_log = logging.getLogger(__name__)


class Vault(Protocol):
    """What the API asks of a vault; :class:`app.container.VaultHandle` is one."""

    @property
    def name(self) -> str:
        """Name of the vault."""

    @property
    def generation(self) -> int:
        """Generation of the index that replies come from."""

    @property
    def ready(self) -> bool:
        """Whether the next query finds everything loaded."""

    def warm(self) -> None:
        """Load what queries need."""

    def ask(self, query: Query) -> Answer:
        """Answer a question."""

    def search(self, query: SearchQuery) -> SearchResult:
        """List what matches."""

    def close(self) -> None:
        """Let go of the index."""


def create_app(vault: Vault, *, host: str = "127.0.0.1") -> FastAPI:
    """Make the API of one vault; it warms the vault up when it starts and closes it at its end.

    :param host: the address that the server listens on: requests must name it or a loopback name.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Requests are taken meanwhile: the first one waits for what it needs, and no longer.
        threading.Thread(target=_warm, args=(vault,), name="notehop-warm", daemon=True).start()
        try:
            yield
        finally:
            vault.close()

    app = FastAPI(
        title="notehop",
        version=version("notehop"),
        summary="Ask an Obsidian vault: cited answers that follow the links between your notes.",
        lifespan=lifespan,
        # Their pages load scripts from the network; /openapi.json is all that they show.
        docs_url=None,
        redoc_url=None,
        responses=_problems(
            HTTPStatus.BAD_REQUEST,
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            HTTPStatus.MISDIRECTED_REQUEST,
            HTTPStatus.INTERNAL_SERVER_ERROR,
        ),
    )
    app.add_middleware(BodyLimit)
    names = allowed_hosts(host)
    app.add_middleware(HostGuard, names=names, any_address=names != frozenset(LOOPBACK))
    install(app)
    _routes(app, vault)
    return app


def _warm(vault: Vault) -> None:
    try:
        vault.warm()
    except NotehopError as exc:
        # The server stays up: every query says the same, and the reason may pass.
        _log.error("%s", exc)


def _routes(app: FastAPI, vault: Vault) -> None:
    refusals = _problems(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.SERVICE_UNAVAILABLE,
    )
    guards = [Depends(json_body)]

    # Plain functions: the framework runs them in threads, and the loop stays free.
    @app.post(
        "/query",
        summary="Answer a question with citations",
        responses=refusals,
        dependencies=guards,
    )
    def query(body: Annotated[Query, Body(openapi_examples=QUERIES)]) -> Answer:
        return vault.ask(body)

    @app.post(
        "/search",
        summary="List the passages that match",
        responses=refusals,
        dependencies=guards,
    )
    def search(body: Annotated[SearchQuery, Body(openapi_examples=SEARCHES)]) -> SearchResult:
        return vault.search(body)

    @app.get("/health", summary="Say whether the server is up")
    def health() -> Health:
        return Health(
            live=True,
            ready=vault.ready,
            vault=vault.name,
            generation=vault.generation,
            version=app.version,
        )


def _problems(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """What the schema says of refusals: they are problem details."""
    schema = {"application/problem+json": {"schema": Problem.model_json_schema()}}
    return {int(status): {"description": status.phrase, "content": schema} for status in statuses}
