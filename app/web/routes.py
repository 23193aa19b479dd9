"""The routes of the page: its files, a note to read, and the texts of replies as HTML.

Touches: index and vault, through the handle it is given.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Annotated, Protocol

from fastapi import APIRouter, Path, Request, Response
from fastapi import Query as Parameter
from starlette.exceptions import HTTPException

from notehop.app.models import NoteView
from notehop.app.web.assets import assets
from notehop.app.web.models import NotePage, Rendered, RenderQuery
from notehop.app.web.render import answer_html, note_html, snippets_html

JSON = "application/json"


class Notes(Protocol):
    """What the page asks of a vault; :class:`notehop.app.services.VaultHandle` is one."""

    @property
    def name(self) -> str:
        """Name of the vault."""

    def note(
        self, path_or_name: str, *, section: str | None = None, mentions: bool = True
    ) -> NoteView:
        """Read a note."""


Run = Callable[[Callable[[], str]], Awaitable[str]]
"""Has a thread do what blocks, in its turn and not for ever."""


def routes(vault: Notes, run: Run) -> APIRouter:
    """The routes of the page of one vault. ``/`` and ``/static`` hold nothing of the vault."""
    router = APIRouter(tags=["page"], include_in_schema=False)

    # The threads write the replies as well, and the loop stays free.
    @router.get("/web/notes/{path:path}")
    async def note(
        path: Annotated[str, Path(max_length=1_000)],
        section: Annotated[str | None, Parameter(max_length=1_000)] = None,
    ) -> Response:
        def work() -> str:
            view = vault.note(path, section=section)
            html, cut = note_html(view, vault.name)
            return NotePage(vault=vault.name, note=view, html=html, cut=cut).model_dump_json()

        return Response(await run(work), media_type=JSON)

    @router.post("/web/render")
    async def render(body: RenderQuery) -> Response:
        def work() -> str:
            return Rendered(
                answer=answer_html(body.answer) if body.answer else "",
                snippets=snippets_html(body.snippets, body.query),
            ).model_dump_json()

        return Response(await run(work), media_type=JSON)

    @router.get("/")
    async def page(request: Request) -> Response:
        return _file(request, "index.html")

    @router.get("/static/{name}")
    async def static(request: Request, name: str) -> Response:
        return _file(request, name)

    return router


def _file(request: Request, name: str) -> Response:
    asset = assets().get(name)
    if asset is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    # Kept, and asked for each time: a new version shows at once.
    headers = {"Cache-Control": "no-cache", "ETag": asset.etag}
    if request.headers.get("if-none-match") == asset.etag:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)
