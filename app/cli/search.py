"""``notehop search``: the passages or notes that match, and the connected notes apart.

Touches: index, model, terminal.
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
from app.cli.query_options import (
    ConnectedOption,
    DirectionOption,
    ExplainOption,
    OrderOption,
    TopKOption,
    asked,
    words,
)

NAME = "search"


def run(
    ctx: typer.Context,
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="What to look for, quoted or not.")
    ],
    top_k: TopKOption = None,
    notes: Annotated[bool, typer.Option("--notes", help="One hit a note.")] = False,
    connected: ConnectedOption = None,
    order: OrderOption = None,
    direction: DirectionOption = None,
    explain: ExplainOption = False,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the passages that match, with the notes they are linked with."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from app.container.opening import open_place
    from app.container.queries import check
    from app.models import SearchQuery

    wanted = asked(SearchQuery, words(query), top_k, connected, order, direction, explain)
    if notes:
        wanted = wanted.model_copy(update={"results": "notes"})
    place = options.place()
    check(wanted, place)
    with open_place(place) as opened:
        found = opened.search(wanted)
    from app.cli.output import print_json
    from app.cli.show_answer import show_hits

    if options.json:
        print_json(found)
    else:
        show_hits(found)
