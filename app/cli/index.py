"""``notehop index``: brings the index of a vault up to it, and reports what became of every note.

Touches: vault-read, index, model, terminal.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import (
    ConfigOption,
    DebugOption,
    IndexDirOption,
    JsonOption,
    VaultOption,
    common,
    given_path,
)

NAME = "index"


def run(
    ctx: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[VAULT]", help="Folder of the vault.", parser=given_path),
    ] = None,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Forget the index and start afresh.")
    ] = False,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Build the index of a vault, or bring it up to date."""
    options = common(ctx, vault, index_dir, config, as_json, debug).with_vault(folder)
    from app.container.update import update_index
    from indexing.terminal import terminal_progress

    place = options.place()
    report = update_index(place, progress=terminal_progress(), rebuild=rebuild)
    from app.cli.output import print_json
    from app.cli.show_report import show_report

    if options.json:
        print_json(report.as_json())
    else:
        show_report(report)
