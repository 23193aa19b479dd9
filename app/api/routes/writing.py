"""What is given to a vault: texts to keep as notes, and texts to embed as it embeds its own."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Body, Depends, Response

from notehop.app.api.examples import CAPTURES, TEXTS
from notehop.app.api.json_body import json_body
from notehop.app.api.service import BODY_REFUSED, JSON, Service
from notehop.app.models import Captured, CaptureQuery, Embedded, EmbedQuery

LOCATION = {"Location": {"description": "Where it is read.", "schema": {"type": "string"}}}


def routes(service: Service) -> APIRouter:
    """``/capture`` and ``/embed``."""
    router = APIRouter(dependencies=[Depends(json_body)])
    vault, lookups = service.vault, service.desks.lookups

    @router.post(
        "/capture",
        operation_id="capture",
        tags=["writing"],
        summary="Keep a text as a new note, and say which notes it has to do with",
        status_code=HTTPStatus.CREATED,
        response_model=Captured,
        responses={**BODY_REFUSED, 201: {"headers": LOCATION}},
    )
    async def capture(
        body: Annotated[CaptureQuery, Body(openapi_examples=CAPTURES)],
    ) -> Response:
        captured = await lookups.run(lambda: vault.capture(body))
        return Response(
            captured.model_dump_json(),
            HTTPStatus.CREATED,
            {"Location": f"/notes/{quote(captured.filename)}"},
            JSON,
        )

    @router.post(
        "/embed",
        operation_id="embed",
        tags=["queries"],
        summary="Turn texts into vectors with the model of the index",
        response_model=Embedded,
        responses=BODY_REFUSED,
    )
    async def embed(body: Annotated[EmbedQuery, Body(openapi_examples=TEXTS)]) -> Response:
        return await service.reply(lookups, lambda: vault.embed(body))

    return router
