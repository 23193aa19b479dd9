"""``notehop links``: every link of a vault or a note and where it leads, straight from the files.

Touches: vault-read, terminal.
"""

from __future__ import annotations

import os
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
from notehop.config.errors import UsageError
from notehop.config.small_files import is_folder

if TYPE_CHECKING:
    from notehop.app.container.place import Place

NAME = "links"


def run(
    ctx: typer.Context,
    where: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VAULT] [NOTE]", help="A vault, a note of it, or both."),
    ] = None,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List every link with its line, kind and target; needs neither index nor model."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from notehop.app.container.links import list_links

    place, note = _told_apart(options, where or [])
    found = list_links(place, note)
    from notehop.app.cli.output import print_json, warn
    from notehop.app.cli.show_links import as_values, show_links

    if options.json:
        print_json([as_values(link) for link in found.links])
    else:
        show_links(found.links)
    warn([f"{path}: {reason}" for path, reason in found.problems])


def _told_apart(options: Common, where: list[str]) -> tuple[Place, str | None]:
    """Two arguments are a vault and its note; one is a vault if it is a folder, else a note."""
    if len(where) > 2:
        raise UsageError(f"links takes a vault and a note, and got {len(where)} arguments")
    if len(where) == 2:
        return options.with_vault(given_path(where[0])).place(), where[1]
    if not where:
        return options.place(), None
    from notehop.app.container.place import NoVault

    given = str(given_path(where[0]))
    as_vault = options.with_vault(Path(where[0])) if options.vault is None else None
    if as_vault is not None and is_folder(given):
        return as_vault.place(), None
    try:
        return options.place(), where[0]
    except NoVault:
        if os.path.isfile(os.path.expanduser(given)):  # noqa: PTH111, PTH113 - never raise
            raise UsageError(
                f"{where[0]}: a file, and no vault is named; run: notehop links VAULT NOTE"
            ) from None
        # Then it can only have been meant as the vault, and the message should say what is wrong.
        return options.with_vault(Path(where[0])).place(), None
