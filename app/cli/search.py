"""``notehop search``: the passages or notes that match, and the connected notes apart.

Touches: index, model, network (a server on this machine), terminal.
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
from notehop.app.cli.query_options import (
    PANEL,
    AfterOption,
    BeforeOption,
    ConnectedOption,
    DirectionOption,
    ExplainOption,
    IntentOption,
    LiteralOption,
    OrderOption,
    PathOption,
    QueryCommand,
    TagOption,
    TopKOption,
    TypeOption,
    asked,
    narrowed_to,
    words,
)

NAME = "search"
COMMAND = QueryCommand


def run(
    ctx: typer.Context,
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='What to look for, quoted or not; filters may stand in it, and "phrases".',
        ),
    ],
    top_k: TopKOption = None,
    notes: Annotated[bool, typer.Option("--notes", help="One hit a note.")] = False,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Show how relevant each hit is, 0 to 1.", rich_help_panel=PANEL
        ),
    ] = False,
    min_score: Annotated[
        float | None,
        typer.Option(
            "--min-score",
            min=0,
            max=1,
            help="Leave out hits of less relevance; 0 shows weak ones, too.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    connected: ConnectedOption = None,
    order: OrderOption = None,
    direction: DirectionOption = None,
    intent: IntentOption = None,
    explain: ExplainOption = False,
    tag: TagOption = None,
    path: PathOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    page_type: TypeOption = None,
    literal: LiteralOption = False,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the passages that match, with the notes they are linked with."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from notehop.app.models import SearchQuery
    from notehop.app.services.index_process import remedy
    from notehop.app.services.queries import check
    from notehop.app.services.running_server import search_server

    filters = narrowed_to(tag, path, after, before, page_type)
    wanted = asked(
        SearchQuery,
        words(query),
        top_k,
        connected,
        order,
        direction,
        intent,
        explain,
        filters,
        literal,
    )
    kind = "notes" if notes else "chunks"
    wanted = wanted.model_copy(update={"results": kind, "min_score": min_score})
    place = options.place()
    check(wanted, place)
    found = search_server(place, wanted)
    if found is None:
        from notehop.app.services.open_vault import open_place

        with open_place(place) as opened:
            found = opened.search(wanted)
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_answer import show_hits

    if options.json:
        print_json(found)
    else:
        show_hits(found, lambda: remedy(place.layout), scores=scores)
