"""The HTTP API of some vaults, put together: routes, what every request passes, start and end."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI

from notehop.app.api import openapi
from notehop.app.api.errors import HANDLERS
from notehop.app.api.middleware import BodyLimit, Guard, Outermost
from notehop.app.api.openapi import REFUSED
from notehop.app.api.routes import Prove, routes
from notehop.app.api.workers import Workers
from notehop.app.services.vaults import LOOK, LazyVault, Vaults
from notehop.config.errors import BeingIndexed, IndexMissing, NotehopError
from notehop.config.settings import ServerSettings

_log = logging.getLogger(__name__)

_WARMING = threading.Lock()  # vaults are warmed in turn: all at once takes what queries need


def create_app(
    vaults: Vaults,
    settings: ServerSettings,
    workers: Workers,
    *,
    tokens: Sequence[str] = (),
    vault_tokens: Mapping[str, str] | None = None,
    prove: Mapping[str, Prove] | None = None,
    routers: Sequence[APIRouter] = (),
) -> FastAPI:
    """Make the API of some vaults; it warms them up when it starts and closes them at its end. One that
    cannot be opened says why, and the others are served.

    :param workers: where requests wait, also those of the routers; closed at its end.
    :param tokens: clients must send one of them; none: nothing is asked for.
    :param vault_tokens: by name of a vault, what opens that vault alone; only where there are tokens.
    :param prove: by name of a vault; where there is none, no challenge is answered.
    :param routers: served beside it, behind the same guards.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        # Requests are taken meanwhile: the first one waits for what it needs, and no longer.
        for one in vaults.items():
            threading.Thread(target=warm, args=one, name="notehop-warm", daemon=True).start()
            one[1].rest_when_idle(settings.idle_minutes)
        try:
            yield
        finally:
            workers.close()
            vaults.close()

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
        responses=REFUSED,
        # A path with a slash too many is none of ours, and not worth a second request.
        redirect_slashes=False,
        exception_handlers=HANDLERS,
    )
    app.state.workers = workers
    guard = Guard(settings, tokens, vault_tokens, vaults.default)
    app.add_middleware(BodyLimit)
    app.add_middleware(Outermost, guard=guard, vaults=vaults)
    openapi.install(app, needs_token=bool(tokens))
    for router in (routes(vaults, workers, app.version, prove or {}), *routers):
        app.include_router(router)
    return app


def warm(name: str, vault: LazyVault) -> None:
    """Load all that queries need, of a first index once it is made; what cannot be is logged once."""
    logged = ""
    while not vault.closed.is_set():
        try:
            with _WARMING:
                vault.open().warm()
                # What is loaded by now stays: a look through it, once in a hundred queries, took 0.15 s.
                gc.collect()
                gc.freeze()
            return
        except NotehopError as exc:
            # The server stays up: every query says the same, and the reason may pass.
            if not isinstance(exc, BeingIndexed) and str(exc) != logged:
                logged = str(exc)
                _log.error("%s: %s", name, exc)
            # The follower may wait for its turn, or fail and go on later.
            if not isinstance(exc, IndexMissing):
                return
            vault.closed.wait(LOOK)
