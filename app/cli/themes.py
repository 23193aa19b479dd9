"""``notehop themes``: what the vault is about, as its links group the notes.

Touches: index, model, vault-read, network (a server on this machine), terminal.
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
    AfterOption,
    BeforeOption,
    LiteralOption,
    PathOption,
    QueryCommand,
    TagOption,
    TypeOption,
    narrowed_to,
    words,
)

NAME = "themes"
COMMAND = QueryCommand


def run(
    ctx: typer.Context,
    question: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION",
            help="A question about the whole vault, or what to find the themes of.",
        ),
    ] = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the themes of QUESTION, and answer nothing.")
    ] = False,
    most: Annotated[
        int | None, typer.Option("--max", min=1, max=50, help="Themes that are listed at most.")
    ] = None,
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
    """List the themes of the vault, or answer a question from them."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from notehop.app.cli.output import print_json
    from notehop.app.models import Query, ThemesQuery
    from notehop.app.services.index_process import remedy
    from notehop.app.services.queries import as_query, check, request
    from notehop.app.services.running_server import ask_server, themes_server

    place = options.place()
    text = words(question or [])
    filters = narrowed_to(tag, path, after, before, page_type)
    if text and not listed:
        query = as_query(Query, text, {"themes": True, "filters": filters, "literal": literal})
        check(query, place)
        answer = ask_server(place, query)
        if answer is None:
            from notehop.app.services.open_vault import open_place

            with open_place(place) as opened:
                answer = opened.ask(query)
        from notehop.app.cli.show_answer import show_answer

        if options.json:
            print_json(answer)
        else:
            show_answer(answer, lambda: remedy(place.layout))
        return
    fields = {"query": text, "filters": filters, "literal": literal, "max": most}
    wanted = request(ThemesQuery, fields)
    found = themes_server(place, wanted)
    if found is None:
        from notehop.app.services.open_vault import open_place

        with open_place(place) as opened:
            found = opened.themes(wanted)
    from notehop.app.cli.show_themes import show_themes

    if options.json:
        print_json(found)
    else:
        show_themes(found, lambda: remedy(place.layout))
