"""The HTTP API of a vault, put together: routes, what every request passes, start and end.

Touches: index and models, through the vault handle it is given.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import FastAPI

from notehop.app.api import middleware, openapi, problem_response
from notehop.app.api.desk import Desks
from notehop.app.api.metrics import Metrics
from notehop.app.api.parts import Part
from notehop.app.api.routes import notes, queries, state, writing
from notehop.app.api.service import EVERYWHERE, Prove, Service
from notehop.config import load_settings
from notehop.config.errors import NotehopError
from notehop.config.settings import ServerSettings

if TYPE_CHECKING:
    from notehop.app.services.vault import VaultHandle

_log = logging.getLogger(__name__)


def create_app(
    vault: VaultHandle,
    settings: ServerSettings | None = None,
    *,
    tokens: Sequence[str] = (),
    prove: Prove | None = None,
    parts: Sequence[Part] = (),
    desks: Desks | None = None,
) -> FastAPI:
    """Make the API of one vault; it warms the vault up when it starts and closes it at its end.

    :param settings: the defaults if None.
    :param tokens: clients must send one of them; none: nothing is asked for.
    :param prove: None answers no challenge.
    :param parts: served beside it, behind the same guards.
    :param desks: where requests wait, if the parts wait there too; closed at its end.
    """
    settings = settings or load_settings().server
    desks = desks or Desks(settings)
    metrics = Metrics(vault, desks) if settings.metrics else None

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Requests are taken meanwhile: the first one waits for what it needs, and no longer.
        threading.Thread(target=_warm, args=(vault,), name="notehop-warm", daemon=True).start()
        try:
            async with AsyncExitStack() as held:
                if metrics is not None:
                    await held.enter_async_context(_running(metrics))
                for part in parts:
                    if part.lifespan is not None:
                        await held.enter_async_context(part.lifespan())
                yield
        finally:
            desks.close()
            vault.close()

    app = FastAPI(
        title="notehop",
        version=version("notehop"),
        summary="Ask an Obsidian vault: cited answers that follow the links between your notes.",
        lifespan=lifespan,
        # Whoever has a tracer in the process would get the names of notes: they stand in paths.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        # Their pages load scripts from the network; ours shows the same without any.
        docs_url=None,
        redoc_url=None,
        responses=EVERYWHERE,
        # A path with a slash too many is none of ours, and not worth a second request.
        redirect_slashes=False,
    )
    app.state.desks = desks
    middleware.install(app, settings, tokens, metrics)
    problem_response.install(app)
    openapi.install(app, needs_token=bool(tokens))
    service = Service(vault, desks, app.version, prove, metrics)
    for topic in (queries, notes, writing, state):
        app.include_router(topic.routes(service))
    for part in parts:
        app.router.routes.extend(part.routes)
    return app


def _warm(vault: VaultHandle) -> None:
    try:
        vault.warm()
    except NotehopError as exc:
        # The server stays up: every query says the same, and the reason may pass.
        _log.error("%s", exc)
    # What is loaded by now stays: a look through it, once in a hundred queries, took 0.15 s.
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def _running(metrics: Metrics) -> AsyncIterator[None]:
    task = asyncio.create_task(metrics.watch_loop())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
