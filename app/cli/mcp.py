"""``notehop mcp``: the vault for one agent, over standard input and output, until it goes.

Touches: index, model, processes (the follower), terminal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from notehop.app.cli.options import (
    ConfigOption,
    DebugOption,
    IndexDirOption,
    VaultOption,
    common,
    given_path,
)
from notehop.config.errors import UsageError

NAME = "mcp"


def run(
    ctx: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[VAULT]", help="Folder of the vault.", parser=given_path),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch/--no-watch", help="Keep the index up to the vault.")
    ] = True,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    debug: DebugOption = False,
) -> None:
    """Be the MCP server of a vault for an agent, which starts this command itself."""
    options = common(ctx, vault, index_dir, config, False, debug).with_vault(folder)
    if options.json:
        raise UsageError("mcp speaks JSON in any case; leave --json out")
    place = options.place()
    from notehop.app.mcp import take_over

    # Before anything that might print is imported.
    wire = take_over()
    from notehop.app.mcp.stdio import serve
    from notehop.app.services.open_vault import LazyVault

    serve(LazyVault(place, "notehop mcp", config_file=options.config), wire, follow=watch)
