"""``notehop ask``: a question, its answer with citations, and the connected notes apart.

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

NAME = "ask"


def run(
    ctx: typer.Context,
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="The question, quoted or not.")
    ],
    top_k: TopKOption = None,
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
    """Answer a question from the vault, with citations and connected notes."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from app.container.opening import open_place
    from app.container.queries import check
    from app.models import Query

    query = asked(Query, words(question), top_k, connected, order, direction, explain)
    place = options.place()
    check(query, place)
    with open_place(place) as opened:
        answer = opened.ask(query)
    from app.cli.output import print_json
    from app.cli.show_answer import show_answer

    if options.json:
        print_json(answer)
    else:
        show_answer(answer)
