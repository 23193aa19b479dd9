"""How the server and its index are: status, health, metrics."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from notehop.app.api.metrics import MEDIA_TYPE
from notehop.app.api.middleware.hosts import from_here
from notehop.app.api.middleware.tokens import TRUSTED
from notehop.app.api.seen import seen
from notehop.app.api.service import Service, problems
from notehop.app.models import Health, IndexStatus

CHALLENGE = Query(
    pattern="^[0-9a-f]{32}$", description="What a program of the same user has proved."
)


def routes(service: Service) -> APIRouter:
    """``/status``, ``/health`` with its two halves and, where it is wanted, ``/metrics``."""
    router = APIRouter(tags=["state"])
    vault = service.vault
    unavailable = problems(HTTPStatus.SERVICE_UNAVAILABLE)

    @router.get(
        "/status",
        operation_id="status",
        summary="Say what the index holds, how fresh it is, and who works on it",
        description="Paths and settings are told to this machine only.",
        response_model=IndexStatus,
        responses=unavailable,
    )
    async def status(request: Request) -> Response:
        here = from_here(request.scope)
        return await service.reply(
            service.desks.lookups, lambda: seen(vault.status(), from_here=here)
        )

    # Without a thread: they wait for nothing, and answer while all threads answer questions.
    @router.get(
        "/health",
        operation_id="health",
        summary="Say whether the server is up",
        responses=problems(HTTPStatus.UNPROCESSABLE_ENTITY),
        response_model_exclude_none=True,
    )
    async def health(
        request: Request, challenge: Annotated[str | None, CHALLENGE] = None
    ) -> Health:
        proof = None
        if service.prove is not None and challenge is not None:
            proof = service.prove(challenge)
        if not request.scope.get(TRUSTED, True):
            return Health(live=True, ready=vault.ready, proof=proof)
        return Health(
            live=True,
            ready=vault.ready,
            vault=vault.name,
            generation=vault.generation,
            version=service.version,
            proof=proof,
        )

    @router.get(
        "/health/live",
        operation_id="health_live",
        summary="Answer at all",
        response_model_exclude_none=True,
    )
    async def live() -> Health:
        return Health(live=True, ready=vault.ready)

    @router.get(
        "/health/ready",
        operation_id="health_ready",
        summary="Answer 200 once all that queries need is loaded, 503 before",
        response_model_exclude_none=True,
        responses={503: {"description": "Not ready yet", "model": Health}},
    )
    async def ready(response: Response) -> Health:
        if not vault.ready:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
            response.headers["Retry-After"] = "1"
        return Health(live=True, ready=vault.ready)

    # Probes ask for the head alone; the server leaves the body out.
    for path, answer in (("/health", health), ("/health/live", live), ("/health/ready", ready)):
        router.add_api_route(
            path,
            answer,
            methods=["HEAD"],
            include_in_schema=False,
            response_model_exclude_none=True,
        )

    if (metrics := service.metrics) is not None:

        @router.get(
            "/metrics",
            operation_id="metrics",
            summary="Numbers in the text format of Prometheus",
            response_class=Response,
            responses={200: {"content": {"text/plain": {}}}},
        )
        async def numbers() -> Response:
            return Response(metrics.text(), media_type=MEDIA_TYPE)

    return router
