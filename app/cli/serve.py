"""``notehop serve``: the HTTP API of a vault, until Ctrl-C.

Touches: index, model, network (listens), terminal.
"""

from __future__ import annotations

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
    from app.container.opening import open_place
    from indexing.shown import on_one_line, printable

    place = options.place(server__host=host, server__port=port)
    server = place.settings.server

    def started(url: str) -> None:
        if options.json:
            print_json({"url": url, "vault": str(place.vault)})
        name = printable(on_one_line(place.name))
        typer.echo(f"notehop answers for {name} at {url} (Ctrl-C stops it)", err=True)

    with open_place(place) as opened:
        serve(opened, server.host, server.port, started)
