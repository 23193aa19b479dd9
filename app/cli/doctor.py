"""``notehop doctor``: what is to be mended in the vault, and whether its index is sound.

Touches: vault-read, index, terminal.
"""

from __future__ import annotations

from typing import Annotated

import typer

from notehop.app.cli.options import (
    ConfigOption,
    DebugOption,
    IndexDirOption,
    JsonOption,
    VaultOption,
    common,
)
from notehop.app.services.doctor import Kind

NAME = "doctor"


def run(
    ctx: typer.Context,
    kind: Annotated[
        Kind | None, typer.Argument(metavar="[KIND]", help="List all of one kind.")
    ] = None,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Say which links, names and notes need mending, and whether the index is sound."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from notehop.app.services.doctor.vault import examine

    report = examine(options.place(), tuple(Kind) if kind is None else (kind,))
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_doctor import show_doctor
    from notehop.app.problems import FAILED

    if options.json:
        print_json(report)
    else:
        show_doctor(report, everything=kind is not None)
    if report.broken:
        raise typer.Exit(FAILED)
