"""What the routes share: the vault, the desks that its work waits at, and how replies are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import Response
from pydantic import BaseModel

from notehop.app.api.desk import Desk, Desks
from notehop.app.api.metrics import Metrics
from notehop.app.api.openapi import PROBLEM

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle

JSON = "application/json"

Prove = Callable[[str], str]
"""Answers the challenge of a program that has to know which server this is."""


@dataclass(frozen=True, slots=True)
class Service:
    """One vault behind HTTP.

    :ivar prove: None answers no challenge.
    :ivar metrics: None counts nothing.
    """

    vault: VaultHandle
    desks: Desks
    version: str
    prove: Prove | None = None
    metrics: Metrics | None = None

    async def reply(self, desk: Desk, work: Callable[[], BaseModel]) -> Response:
        """Have a thread do the work and write its result as JSON, so that the loop does neither.

        :raises Refusal: if there is no place at the desk, or it takes too long.
        """
        return Response(await desk.run(lambda: self._written(work())), media_type=JSON)

    def _written(self, result: BaseModel) -> str:
        if self.metrics is not None:
            self.metrics.stages(getattr(result, "timings_ms", {}))
        return result.model_dump_json()


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
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
"""What every route may answer."""
