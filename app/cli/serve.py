"""``notehop serve`` and ``notehop mcp``: vaults for others, until Ctrl-C or until its agent goes."""

from __future__ import annotations

import logging
import sys
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import typer

from notehop.app.cli.options import VAULT, Common, PlaceOptions, common_option, option
from notehop.app.cli.output import print_json
from notehop.config.errors import UsageError
from notehop.indexing.display import on_one_line, printable

LogLevel = Literal["debug", "info", "warning", "error"]


_told = "Folder of the vault; repeated, of several; name=FOLDER names one."
VAULTS: Any = common_option(None, "--vault", _told, "PATH", parser=None)
"""Several vaults, in place of the one of every command."""


class OneLine(logging.Formatter):
    """A record as one line with its time; no text in it can pass for another line."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(on_one_line(super().format(record)))


def _log_to_standard_error(level: str) -> None:
    """Log from ``level`` on, also what other packages say."""
    root = logging.getLogger()
    root.setLevel(level.upper())
    for handler in root.handlers:
        handler.setFormatter(OneLine("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    if level == "debug":
        # These tell what they send and receive, texts of notes among it.
        for chatty in ("httpcore", "httpx", "openai", "llama_index", "asyncio", "urllib3"):
            logging.getLogger(chatty).setLevel(logging.INFO)


def _few_arenas() -> None:
    """Have the allocator give back more of what is let go of: it keeps much where each thread has an
    arena of its own."""
    if sys.platform == "linux":
        import ctypes

        with suppress(AttributeError, OSError):  # another C library
            ctypes.CDLL(None).mallopt(-8, 1)  # M_ARENA_MAX


def _without_scipy() -> None:
    """Import bm25s, which would have 9 MB of scipy wherever that is, and nothing here needs it."""
    if "scipy" not in sys.modules:
        sys.modules["scipy.sparse"] = None  # type: ignore[assignment]
        try:
            import bm25s  # noqa: F401
        finally:
            del sys.modules["scipy.sparse"]


def serve(
    options: Common,
    vault: list[str] | None = VAULTS,
    host: str | None = option(None, "--host", "Address to listen on.", "ADDRESS"),
    port: int | None = option(None, "--port", "Port to listen on; 0 takes a free one.", min=0, max=65535),
    watch: bool = option(True, "--watch/--no-watch", "Keep the index up to the vault."),
    read_only: bool = option(
        False, "--read-only", "Write nothing: serve an index that another process makes and keeps up."
    ),
    log_level: LogLevel = option(
        "warning", "--log-level", "What is logged to standard error; info: every request."
    ),
) -> None:
    """Answer over HTTP on this machine."""
    _few_arenas()
    _without_scipy()
    from notehop.app.server import VaultServer
    from notehop.app.services.running_server import Announcement
    from notehop.app.services.vaults import Vaults

    _log_to_standard_error("debug" if options.debug else log_level)
    places = options.places(vault, {"server.host": host, "server.port": port}, read_only=read_only)
    names = ", ".join(printable(on_one_line(name)) for name in places)
    first_place = next(iter(places.values()))
    watch = watch and not read_only

    say = partial(typer.echo, err=True)
    with ExitStack() as held:
        server = held.enter_context(VaultServer(places))
        # What is said lies beside the index.
        announced = {} if read_only else {name: Announcement(one) for name, one in places.items()}
        vaults = Vaults.at(places, "notehop serve", options.config)
        held.callback(vaults.close)
        new = watch and len(vaults) == 1 and vaults.first.is_new
        if new:
            first_place.layout.create(first_place.vault)
        elif len(vaults) == 1:
            vaults.first.open()
        for one in announced.values():
            held.enter_context(one)
        for name, one in announced.items():
            one.tell(server.url_of(name))
        if watch:
            vaults.follow()
        if options.json:
            print_json({"url": server.url, "vault": str(first_place.vault)})
        token = "; clients need the token" if server.asks_for_token else ""
        say(f"notehop answers for {names} at {server.url} (Ctrl-C stops it{token})")
        if new:
            say("there is no index yet: it is made now, and the page says how far it is")
        server.open(vaults, announced)


def mcp(
    options: PlaceOptions,
    folder: Path | None = VAULT,
    vault: list[str] | None = VAULTS,
    watch: bool = option(True, "--watch/--no-watch", "Keep the index up to the vault."),
) -> None:
    """Be the MCP server of a vault for an agent, which starts this command itself."""
    if folder is not None and vault:
        raise UsageError(f"{folder} and --vault are named; name each vault with --vault")
    options = options.with_vault(folder)
    places = options.places(vault)
    _few_arenas()
    from notehop.app.mcp.server import serve_stdio
    from notehop.app.services.vaults import Vaults

    serve_stdio(Vaults.at(places, "notehop mcp", options.config), follow=watch)
