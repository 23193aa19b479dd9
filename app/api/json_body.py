"""A body must say that it is JSON, as those of forms elsewhere do not, and hold whole signs."""

from __future__ import annotations

import json
import re
from http import HTTPStatus

from fastapi import Request
from starlette.exceptions import HTTPException

JSON = "application/json"
"""The one media type that is read."""

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""An escape of half a sign: in pairs they are one, alone nothing that can be written."""


async def json_body(request: Request) -> None:
    """Refuse a body of another media type, or with half a sign in it.

    :raises HTTPException: 415 or 422.
    """
    said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    kind, _, name = said.partition("/")
    if kind != "application" or not (name == "json" or name.endswith("+json")):
        raise HTTPException(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send Content-Type: {JSON}", {"Accept-Post": JSON}
        )
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
