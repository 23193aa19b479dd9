"""Single notes and the links around them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Path, Query, Response

from notehop.app.api.examples import BROWSES
from notehop.app.api.json_body import json_body
from notehop.app.api.service import BODY_REFUSED, Service, problems
from notehop.app.models import BrowseQuery, BrowseResult, GraphView, NoteView

MOST = 300
"""Notes of a picture at most: with more nothing can be told apart."""

LONGEST = 1_000
"""Characters of a path or a name."""

Name = Annotated[str, Query(min_length=1, max_length=LONGEST)]


def routes(service: Service) -> APIRouter:
    """``/notes/{path}``, ``/graph`` and ``/graph/browse``."""
    router = APIRouter(tags=["notes"])
    vault, lookups = service.vault, service.desks.lookups
    refusals = problems(
        HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.SERVICE_UNAVAILABLE
    )

    @router.get(
        "/notes/{path:path}",
        operation_id="read_note",
        summary="Read a note: its text, outline, links both ways and unlinked mentions",
        response_model=NoteView,
        responses=refusals,
    )
    async def note(
        path: Annotated[
            str,
            Path(
                max_length=LONGEST,
                description="Path in the vault, title or alias.",
                examples=["Projects/Hollin Reach/Hollin Reach.md"],
            ),
        ],
        section: Annotated[
            Name | None, Query(description="A heading: only its section is read.")
        ] = None,
        mentions: Annotated[
            bool, Query(description="Whether to look for mentions without a link.")
        ] = True,
    ) -> Response:
        return await service.reply(
            lookups, lambda: vault.note(path, section=section, mentions=mentions)
        )

    @router.get(
        "/graph",
        operation_id="graph",
        summary="Lay out the notes around some, or the best linked ones, to be drawn",
        response_model=GraphView,
        responses=refusals,
    )
    async def graph(
        around: Annotated[
            list[Name],
            Query(
                max_length=20,
                description="Paths, titles or aliases; none: the best linked notes.",
                examples=[["Hollin Reach"]],
            ),
        ] = [],  # noqa: B006 (never changed; the framework copies it)
        depth: Annotated[int, Query(ge=1, le=2, description="Links to follow.")] = 1,
        most: Annotated[int, Query(ge=1, le=MOST, description="Notes at most.")] = 60,
    ) -> Response:
        return await service.reply(lookups, lambda: vault.picture(around, depth=depth, most=most))

    @router.post(
        "/graph/browse",
        operation_id="graph_browse",
        summary="List the notes a link or two away from some",
        response_model=BrowseResult,
        responses={**refusals, **BODY_REFUSED},
        dependencies=[Depends(json_body)],
    )
    async def browse(
        body: Annotated[BrowseQuery, Body(openapi_examples=BROWSES)],
    ) -> Response:
        return await service.reply(lookups, lambda: vault.browse(body))

    return router
