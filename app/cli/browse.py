"""``notehop browse``: what lies around notes in the graph of links.

Touches: index, vault-read (names, sizes, times), network (a server on this machine), terminal.
"""

from __future__ import annotations

from typing import Annotated, Literal

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
    AfterOption,
    BeforeOption,
    PathOption,
    TagOption,
    TypeOption,
    narrowed_to,
)

NAME = "browse"


def run(
    ctx: typer.Context,
    notes: Annotated[
        list[str],
        typer.Argument(metavar="NOTE", help="Notes to start from: paths, titles or aliases."),
    ],
    depth: Annotated[int, typer.Option("--depth", min=1, max=2, help="Links away.")] = 1,
    direction: Annotated[
        Literal["forward", "backward", "both"],
        typer.Option("--direction", help="Links that notes hold, links to them, or both."),
    ] = "both",
    rank: Annotated[
        Literal["pagerank", "recency", "edges"],
        typer.Option("--rank", help="By PageRank, by last change, or by number of links."),
    ] = "pagerank",
    chunks: Annotated[
        bool, typer.Option("--chunks", help="The passages that the links lead to or stand in.")
    ] = False,
    most: Annotated[int, typer.Option("--max", min=1, max=100, help="Notes at most.")] = 20,
    tag: TagOption = None,
    path: PathOption = None,
    after: AfterOption = None,
    before: BeforeOption = None,
    page_type: TypeOption = None,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """List the notes that are linked with a note, best first."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from notehop.app.models import BrowseQuery
    from notehop.app.services.find_note import from_here
    from notehop.app.services.index_process import remedy
    from notehop.app.services.queries import request
    from notehop.app.services.running_server import browse_server

    place = options.place()
    wanted = request(
        BrowseQuery,
        {
            "seeds": [from_here(place.vault, note) for note in notes],
            "depth": depth,
            "direction": direction,
            "rank": rank,
            "results": "chunks" if chunks else "notes",
            "max": most,
            "filters": narrowed_to(tag, path, after, before, page_type),
        },
    )
    found = browse_server(place, wanted)
    if found is None:
        from notehop.app.services.open_vault import open_place

        with open_place(place) as opened:
            found = opened.browse(wanted)
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_browse import show_browse

    if options.json:
        print_json(found)
    else:
        show_browse(found, wanted, lambda: remedy(place.layout))
