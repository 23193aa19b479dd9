"""The routes of the page: its files, a note to read, and the texts of replies as HTML that is safe to
show.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path as File
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi import Query as Parameter
from fastapi.responses import FileResponse, JSONResponse
from pydantic import Field, StringConstraints
from starlette.staticfiles import StaticFiles

from notehop.app.models.query import Parameters, limit_items
from notehop.app.services.vaults import ASKED, LazyVault
from notehop.app.web.render import answer_html, note_html, snippets_html

STATIC = File(str(files("notehop.app.web") / "static"))

MOST_TEXTS = 120  # texts of one request: all that a reply can hold

Text = Annotated[str, StringConstraints(max_length=60_000)]
"""Many times a chunk, or an answer."""


class RenderQuery(Parameters):
    """Texts of a reply to show: ``snippets`` of chunks with words of ``query`` marked, and an
    ``answer`` with its markers."""

    answer: Text = ""
    snippets: Annotated[list[Text], limit_items(MOST_TEXTS)] = Field([], max_length=MOST_TEXTS)
    query: Annotated[str, StringConstraints(max_length=10_000)] = ""


def routes(run: Callable[[Callable[[], Response]], Awaitable[Response]]) -> APIRouter:
    """The routes of the page of a vault. ``/``, ``/pane`` and ``/static`` hold nothing of it.

    :param run: has a thread do what blocks, in its turn and not for ever.
    """
    router = APIRouter(tags=["page"], include_in_schema=False)

    # The threads write the replies as well, and the loop stays free.
    @router.get("/web/notes/{path:path}")
    async def note(
        request: Request,
        path: Annotated[str, Path(max_length=1_000)],
        section: Annotated[str | None, Parameter(max_length=1_000)] = None,
    ) -> Response:
        asked: LazyVault = request.scope[ASKED]

        def work() -> Response:
            vault = asked.open()
            view = vault.note(path, section=section)
            html, cut = note_html(view, vault.name)
            note = view.model_dump(mode="json")
            return JSONResponse({"vault": vault.name, "note": note, "html": html, "cut": cut})

        return await run(work)

    @router.post("/web/render")
    async def render(body: RenderQuery) -> Response:
        def work() -> Response:
            answer = answer_html(body.answer) if body.answer else ""
            snippets = snippets_html(body.snippets, body.query)
            return JSONResponse({"answer": answer, "snippets": snippets})

        return await run(work)

    @router.api_route("/", methods=["GET", "HEAD"])
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @router.api_route("/pane", methods=["GET", "HEAD"])
    async def pane() -> FileResponse:
        return FileResponse(STATIC / "pane.html")

    router.mount("/static", StaticFiles(directory=STATIC))
    return router
