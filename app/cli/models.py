"""``notehop models``: which models are on this machine, and fetching one from its hub.

Touches: model, terminal; network and the hub's cache, only for ``models pull``.
"""

from __future__ import annotations

from enum import StrEnum
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
)
from notehop.config.errors import UsageError

if TYPE_CHECKING:
    from notehop.config import Settings

NAME = "models"


class Action(StrEnum):
    """What can be done with a model."""

    PULL = "pull"


def run(
    ctx: typer.Context,
    action: Annotated[
        Action | None,
        typer.Argument(metavar="[pull]", help="Fetch a model from its hub.", show_default=False),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Its name there: org/model.", show_default=False),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would be fetched, from where, how large."),
    ] = False,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the models on this machine and which are in use, or fetch one from its hub."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    if action is None:
        if dry_run:
            raise UsageError("--dry-run is for: notehop models pull NAME")
        from notehop.app.cli.output import print_json
        from notehop.app.cli.show_models import show_models
        from notehop.app.services.models import held_models

        held = held_models(_settings(options))
        print_json(held) if options.json else show_models(held)
        return
    if name is None:
        raise UsageError("name the model to fetch, as its hub does: notehop models pull org/model")
    from notehop.app.cli.output import err, print_json
    from notehop.app.cli.show_models import show_pulled
    from notehop.app.services.models import pull_model
    from notehop.indexing.terminal import terminal_progress

    pulled = pull_model(
        name,
        terminal_progress(),
        say=lambda text: err().print(text, soft_wrap=True),
        dry_run=dry_run,
    )
    print_json(pulled) if options.json else show_pulled(pulled, dry_run=dry_run)


def _settings(options: Common) -> Settings:
    """Those of the vault if there is one, else the user's own."""
    from notehop.app.services.place import NoVault
    from notehop.config import load_settings

    try:
        return options.place().settings
    except NoVault:
        return load_settings(config_file=options.config)
