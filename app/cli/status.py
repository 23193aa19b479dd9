"""``notehop status``: what the index holds, how old it is, and what became of a note.

Touches: vault-read, index, terminal.
"""

from __future__ import annotations

from typing import Annotated

import typer

from notehop.app.cli.options import (
    Common,
    ConfigOption,
    DebugOption,
    IndexDirOption,
    JsonOption,
    VaultOption,
    common,
)
from notehop.config.errors import UsageError

NAME = "status"


def run(
    ctx: typer.Context,
    note: Annotated[
        str | None, typer.Argument(metavar="[NOTE]", help="A note of the vault.")
    ] = None,
    egress: Annotated[
        bool,
        typer.Option("--egress", help="What went to which host for language models."),
    ] = False,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Say what the index holds and whether it is up to date, or what it knows of a note."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    if egress:
        if note is not None:
            raise UsageError("--egress is of the whole index: leave the note out")
        _egress(options)
        return
    from notehop.app.services.note_status import note_status
    from notehop.app.services.status import index_status

    place = options.place()
    told = index_status(place) if note is None else note_status(place, note)
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_status import show_status

    if options.json:
        print_json(told)
    else:
        show_status(told)


def _egress(options: Common) -> None:
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_egress import show_egress
    from notehop.app.services.status import SHOWN, egress_report

    told = egress_report(options.place())
    if options.json:
        print_json(told)
    else:
        show_egress(told, SHOWN)
