"""``notehop links``: every link of a vault or a note and where it leads, straight from the files.

Touches: vault-read, terminal.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

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
    from notehop.app.services.place import Place

NAME = "links"

_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#6553[45];")
"""Characters that may stand in a note and in no XML, as they come out of networkx."""


def run(
    ctx: typer.Context,
    where: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VAULT] [NOTE]", help="A vault, a note of it, or both."),
    ] = None,
    graph: Annotated[
        Literal["graphml", "json"] | None,
        typer.Option(
            "--format",
            help="Print the graph of the vault's notes and links instead, for graph tools.",
        ),
    ] = None,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List every link with its line, kind and target; needs neither index nor model."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from notehop.app.cli.output import print_json, warn
    from notehop.app.services.links import list_links

    place, note = _told_apart(options, where or [])
    if graph is not None:
        if note is not None:
            raise UsageError(f"{note}: --format is for a whole vault; leave the note out")
        if options.json and graph != "json":
            raise UsageError(f"--json and --format {graph} are two outputs; leave one out")
        _print_graph(place, graph)
        return
    found = list_links(place, note)
    from notehop.app.cli.show_links import as_values, show_links

    if options.json:
        print_json([as_values(link) for link in found.links])
    else:
        show_links(found.links)
    warn([f"{path}: {reason}" for path, reason in found.problems])


def _print_graph(place: Place, form: str) -> None:
    import networkx as nx

    from notehop.app.cli.output import print_json, warn
    from notehop.app.services.links import link_graph

    graph, problems = link_graph(place)
    if form == "json":
        print_json(nx.node_link_data(graph, edges="edges"))
    else:
        sys.stdout.writelines(
            f"{_NOT_XML.sub('&#65533;', line)}\n"
            for line in nx.generate_graphml(graph, named_key_ids=True)
        )
    warn([f"{path}: {reason}" for path, reason in problems])


def _told_apart(options: Common, where: list[str]) -> tuple[Place, str | None]:
    """Two arguments are a vault and its note; one is a vault if it is a folder, else a note."""
    if len(where) > 2:
        raise UsageError(f"links takes a vault and a note, and got {len(where)} arguments")
    if len(where) == 2:
        return options.with_vault(given_path(where[0])).place(), where[1]
    if not where:
        return options.place(), None
    from notehop.app.services.place import NoVault

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
