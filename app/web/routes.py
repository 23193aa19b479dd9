"""The routes of the page: its files, a note to read, and the texts of replies as HTML that is safe to
show. Touches: index and vault, through the handle of the request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path as File
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi import Query as Parameter
from fastapi.responses import FileResponse
from pydantic import Field, StringConstraints
from starlette.staticfiles import StaticFiles

from notehop.app.models.notes import NoteView
from notehop.app.models.query import Parameters, Strict, at_most
from notehop.app.services.vaults import ASKED, LazyVault
from notehop.app.web.render import answer_html, note_html, snippets_html

JSON = "application/json"

STATIC = File(str(files("notehop.app.web") / "static"))

MOST_TEXTS = 120  # texts of one request: all that a reply can hold
LONGEST = 60_000  # characters of one text: many times a chunk, or an answer


class RenderQuery(Parameters):
    """Texts of a reply to show: ``snippets`` of chunks with words of ``query`` marked, and an
    ``answer`` with its markers."""

    answer: Annotated[str, StringConstraints(max_length=LONGEST)] = ""
    snippets: Annotated[
        list[Annotated[str, StringConstraints(max_length=LONGEST)]], at_most(MOST_TEXTS)
    ] = Field(default_factory=list, max_length=MOST_TEXTS)
    query: Annotated[str, StringConstraints(max_length=10_000)] = ""


class Rendered(Strict):
    """The same as HTML, in the same order."""

    answer: str
    snippets: list[str]


class NotePage(Strict):
    """A note to read. ``cut`` tells that it is too long, and its end was left out."""

    vault: str
    note: NoteView
    html: str
    cut: bool


Run = Callable[[Callable[[], str]], Awaitable[str]]
"""Has a thread do what blocks, in its turn and not for ever."""


def routes(run: Run) -> APIRouter:
    """The routes of the page of a vault. ``/``, ``/pane`` and ``/static`` hold nothing of it."""
    router = APIRouter(tags=["page"], include_in_schema=False)

    # The threads write the replies as well, and the loop stays free.
    @router.get("/web/notes/{path:path}")
    async def note(
        request: Request,
        path: Annotated[str, Path(max_length=1_000)],
        section: Annotated[str | None, Parameter(max_length=1_000)] = None,
    ) -> Response:
        asked: LazyVault = request.scope[ASKED]

        def work() -> str:
            vault = asked.open()
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
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @router.get("/pane")
    async def pane() -> FileResponse:
        return FileResponse(STATIC / "pane.html")

    router.mount("/static", StaticFiles(directory=STATIC))
    return router
