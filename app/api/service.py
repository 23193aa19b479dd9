"""What the routes share: the vaults, the threads that its work runs in, what a body must be, how replies
are made and how much of a status they tell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from notehop.app.api.metrics import Metrics
from notehop.app.api.openapi import PROBLEM
from notehop.app.api.workers import ThreadPool, Workers
from notehop.app.models import IndexStatus
from notehop.app.services.vaults import ASKED, NAMED, LazyVault, Vaults

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle


JSON = "application/json"
"""The one media type that is read."""

METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
"""What a route takes that answers to everything."""

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape of half a sign: in pairs they are one, alone nothing that can be written."""


async def whole_signs(request: Request) -> None:
    """Refuse a body with half a sign in it.

    :raises HTTPException: 422.
    """
    body = await request.body()
    if not _HALF.search(body):
        return
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError as exc:
        raise HTTPException(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "a text of the body holds half a sign (\\ud800 to \\udfff alone)",
        ) from exc
    except ValueError:
        return  # said where it is read


def seen(status: IndexStatus, *, from_here: bool) -> IndexStatus:
    """A status as a client may see it; the counts stay.

    :param from_here: whether the client is on this machine.
    """
    told: dict[str, Any] = {"skipped": []}
    if not from_here:
        told |= {
            "vault": status.name,
            "index_dir": "",
            "catalog": "",
            "settings_file": "",
            "shared_model": None,
            "settings": {},
            "problem": status.problem and "the settings in force cannot use the index",
            # Nobody has read them: they may be private.
            "failed": [
                one.model_copy(update={"path": "", "reason": "it failed"}) for one in status.failed
            ],
            "passed_over": [],
            "writer": None,
            "server": None,
            "llm": None,
            "egress": [],
        }
        if status.watcher is not None:
            blank: dict[str, Any] = {"pid": 0, "host": "", "command": "", "detail": None}
            told["watcher"] = status.watcher.model_copy(update=blank)
        if status.last_run is not None and status.last_run.error is not None:
            told["last_run"] = status.last_run.model_copy(update={"error": "it failed"})
        if (enriched := status.enrichment) is not None:
            # The reasons name hosts and files.
            why = "it was stopped" if enriched.stopped is not None else None
            failed = [one.model_copy(update={"reason": "it failed"}) for one in enriched.failed]
            told["enrichment"] = enriched.model_copy(update={"stopped": why, "failed": failed})
    return status.model_copy(update=told)


Prove = Callable[[str], str]
"""Answers the challenge of a program that has to know which server this is."""


@dataclass(frozen=True, slots=True)
class Service:
    """The vaults behind HTTP.

    :ivar prove: by name of a vault; where there is none, no challenge is answered.
    :ivar metrics: None counts nothing.
    """

    vaults: Vaults
    workers: Workers
    version: str
    prove: Mapping[str, Prove]
    metrics: Metrics | None = None

    async def asked(self, request: Request) -> VaultRequest:
        """The vault that a request is for; in the loop, where the framework needs no thread for it."""
        scope = request.scope
        return VaultRequest(self, scope.get(NAMED), scope[ASKED], scope.get("root_path", ""))


@dataclass(frozen=True, slots=True)
class VaultRequest:
    """The vault that a request is for.

    :ivar name: None where the request names none.
    :ivar below: the path below which its routes are.
    """

    service: Service
    name: str | None
    vault: LazyVault
    below: str

    async def reply(self, pool: ThreadPool, work: Callable[[VaultHandle], BaseModel]) -> Response:
        """Have a thread do the work and write its result as JSON, so that the loop does neither.

        :raises Refusal: if there is no place in the pool, or it takes too long.
        """
        return Response(
            await pool.run(lambda: self._written(work(self.vault.open()))), media_type=JSON
        )

    def _written(self, result: BaseModel) -> str:
        if self.service.metrics is not None:
            self.service.metrics.stages(self.name, getattr(result, "timings_ms", {}))
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
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
"""What every route may answer."""
