"""``notehop serve`` and ``notehop mcp``: a vault for others, until Ctrl-C or until its agent goes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated, Literal

import typer

from notehop.app.cli.options import Common, VaultArgument
from notehop.config.errors import UsageError

LogLevel = Literal["debug", "info", "warning", "error"]


def serve(
    options: Common,
    host: Annotated[
        str | None, typer.Option("--host", help="Address to listen on.", metavar="ADDRESS")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch/--no-watch", help="Keep the index up to the vault.")
    ] = True,
    log_level: Annotated[
        LogLevel,
        typer.Option("--log-level", help="What is logged to standard error; info: every request."),
    ] = "warning",
) -> None:
    """Answer over HTTP on this machine."""
    from notehop.app.api.logs import configure
    from notehop.app.cli.output import print_json
    from notehop.app.server import AlreadyServed, VaultServer
    from notehop.app.services.index_process import FirstIndex, FollowerProcess, has_index
    from notehop.app.services.open_vault import open_place
    from notehop.app.services.running_server import Announcement
    from notehop.indexing.shown import on_one_line, printable

    configure("debug" if options.debug else log_level)
    place = options.place({"server.host": host, "server.port": port})
    name = printable(on_one_line(place.name))

    def say(text: str) -> None:
        typer.echo(text, err=True)

    with ExitStack() as held:
        try:
            server = held.enter_context(VaultServer(place))
        except AlreadyServed as told:
            if options.json:
                print_json({"url": told.url, "vault": str(place.vault)})
            say(f"notehop answers for {name} at {told.url} already (process {told.pid})")
            return
        announced = Announcement(place)

        def started() -> None:
            announced.tell(server.url)
            if options.json:
                print_json({"url": server.url, "vault": str(place.vault)})
            token = "; clients need the token" if server.asks_for_token else ""
            say(f"notehop answers for {name} at {server.url} (Ctrl-C stops it{token})")

        if watch and not has_index(place):
            first = FirstIndex(place, "notehop serve", say, options.config)
            server.wait(
                first,
                place.name,
                lambda: say(f"{name} has no index yet; {server.url} says how far it is"),
            )
        opened = held.enter_context(open_place(place))
        held.enter_context(announced)
        if watch:
            held.enter_context(FollowerProcess(place, "notehop serve", say, options.config))
        server.open(opened, announced, started)


def mcp(
    options: Common,
    folder: VaultArgument = None,
    watch: Annotated[
        bool, typer.Option("--watch/--no-watch", help="Keep the index up to the vault.")
    ] = True,
) -> None:
    """Be the MCP server of a vault for an agent, which starts this command itself."""
    options = options.with_vault(folder)
    if options.json:
        raise UsageError("mcp speaks JSON in any case; leave --json out")
    place = options.place()
    from notehop.app.mcp.stdio import serve
    from notehop.app.services.open_vault import LazyVault

    serve(LazyVault(place, "notehop mcp", options.config), follow=watch)
