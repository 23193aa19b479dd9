"""``notehop index``: brings the index of a vault up to it, and reports what became of every note.

Touches: vault-read, index, model, terminal.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from notehop.app.cli.options import (
    Common,
    ConfigOption,
    DebugOption,
    IndexDirOption,
    JsonOption,
    VaultOption,
    common,
    given_path,
)

if TYPE_CHECKING:
    from notehop.app.services.place import Place

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
    allow_mass_delete: Annotated[
        bool,
        typer.Option("--allow-mass-delete", help="Forget notes even if most of them are gone."),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option("--yes", help="Agree beforehand to what enrichment costs, up to its budget."),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Then follow the vault as it changes, until Ctrl-C.")
    ] = False,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="DEVICE", help="Embed on: auto, cpu, cuda or mps."),
    ] = None,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Build the index of a vault, or bring it up to date."""
    options = common(ctx, vault, index_dir, config, as_json, debug).with_vault(folder)
    from notehop.app.services.index_process import update_index
    from notehop.indexing.enrich.report import agreement
    from notehop.indexing.terminal import terminal_progress

    place = options.place(embedding__device=device)
    report = update_index(
        place,
        progress=terminal_progress(),
        rebuild=rebuild,
        allow_mass_delete=allow_mass_delete,
        agree=agreement(yes=yes),
    )
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_report import show_report
    from notehop.indexing.watch.telling import report_line

    if options.json and watch:
        # A line, as whatever follows is.
        report_line(sys.stdout, report)
    elif options.json:
        print_json(report.as_json())
    else:
        show_report(report)
    if watch:
        _watch(place, options, device)


def _watch(place: Place, options: Common, device: str | None) -> None:
    from notehop.app.services.index_process import follow_vault
    from notehop.indexing.watch.stopping import stopped_by_signals
    from notehop.indexing.watch.telling import json_teller, line_teller

    told = json_teller(sys.stdout) if options.json else line_teller(sys.stderr)
    typer.echo(f"following {place.vault} (Ctrl-C stops it)", err=True)
    with stopped_by_signals() as stop:
        follow_vault(place, told, stop, config_file=options.config, device=device)
