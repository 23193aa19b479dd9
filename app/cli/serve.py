"""``notehop serve``: the HTTP API of a vault, until Ctrl-C.

Touches: index, model, network (listens), terminal.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Annotated

import typer

from app.cli.options import (
    ConfigOption,
    DebugOption,
    IndexDirOption,
    JsonOption,
    VaultOption,
    common,
)

NAME = "serve"


def run(
    ctx: typer.Context,
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
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Answer over HTTP on this machine."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from app.api.serve import serve
    from app.cli.output import print_json
    from app.container.following import FollowerProcess, first_index
    from app.container.opening import open_place
    from app.container.running import Announcement
    from indexing.shown import on_one_line, printable
    from indexing.terminal import terminal_progress

    place = options.place(server__host=host, server__port=port)
    server = place.settings.server
    announced = Announcement(place)

    def say(text: str) -> None:
        typer.echo(text, err=True)

    def started(url: str) -> None:
        announced.tell(url)
        if options.json:
            print_json({"url": url, "vault": str(place.vault)})
        name = printable(on_one_line(place.name))
        typer.echo(f"notehop answers for {name} at {url} (Ctrl-C stops it)", err=True)

    with ExitStack() as held:
        if watch:
            first_index(place, terminal_progress())
        opened = held.enter_context(open_place(place))
        held.enter_context(announced)
        if watch:
            held.enter_context(
                FollowerProcess(place, "notehop serve", say, config_file=options.config)
            )
        serve(opened, server.host, server.port, started, announced.prove)
