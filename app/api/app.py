"""The HTTP API: what it serves and what each reply looks like.

Touches: index and models, through the vault handle it is given.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.metadata import version
from typing import Annotated, Any, Protocol

from fastapi import Body, Depends, FastAPI
from fastapi import Query as Parameter

from app.api.examples import QUERIES, SEARCHES
from app.api.guards import LOOPBACK, BodyLimit, HostGuard, allowed_hosts, json_body
from app.api.problem_response import install
from app.models import Answer, Health, IndexStatus, Problem, Query, SearchQuery, SearchResult
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

    def status(self) -> IndexStatus:
        """Describe the index."""

    def close(self) -> None:
        """Let go of the index."""


Prove = Callable[[str], str]
"""Answers the challenge of a program that has to know which server this is."""


def create_app(vault: Vault, *, host: str = "127.0.0.1", prove: Prove | None = None) -> FastAPI:
    """Make the API of one vault; it warms the vault up when it starts and closes it at its end.

    :param host: the address that the server listens on: requests must name it or a loopback name.
    :param prove: None answers no challenge.
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
    _health(app, vault, prove)
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

    @app.get(
        "/status",
        summary="Say what the index holds, how fresh it is, and who works on it",
        responses=_problems(HTTPStatus.SERVICE_UNAVAILABLE),
    )
    def status() -> IndexStatus:
        return vault.status()


def _health(app: FastAPI, vault: Vault, prove: Prove | None) -> None:
    # Without a thread: it waits for nothing, and answers while all threads answer questions.
    @app.get(
        "/health",
        summary="Say whether the server is up",
        responses=_problems(HTTPStatus.UNPROCESSABLE_ENTITY),
        response_model_exclude_none=True,
    )
    async def health(
        challenge: Annotated[str | None, Parameter(pattern="^[0-9a-f]{32}$")] = None,
    ) -> Health:
        return Health(
            live=True,
            ready=vault.ready,
            vault=vault.name,
            generation=vault.generation,
            version=app.version,
            proof=prove(challenge) if prove is not None and challenge is not None else None,
        )


def _problems(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """What the schema says of refusals: they are problem details."""
    schema = {"application/problem+json": {"schema": Problem.model_json_schema()}}
    return {int(status): {"description": status.phrase, "content": schema} for status in statuses}
