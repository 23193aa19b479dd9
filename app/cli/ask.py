"""``notehop ask``: a question, its answer with citations, and the connected notes apart.

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

NAME = "ask"
COMMAND = QueryCommand


def run(
    ctx: typer.Context,
    question: Annotated[
        list[str],
        typer.Argument(
            metavar="QUESTION",
            help='The question, quoted or not; filters may stand in it, and "phrases".',
        ),
    ],
    top_k: TopKOption = None,
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
    """Answer a question from the vault, with citations and connected notes."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    from notehop.app.cli.answering import Answerer
    from notehop.app.cli.output import out, print_json
    from notehop.app.cli.show_answer import show_answer
    from notehop.app.models import Query
    from notehop.app.services.index_process import remedy
    from notehop.app.services.queries import check

    filters = narrowed_to(tag, path, after, before, page_type)
    query = asked(
        Query,
        words(question),
        top_k,
        connected,
        order,
        direction,
        intent,
        explain,
        filters,
        literal,
    )
    place = options.place()
    check(query, place)
    # Quotes are there at once; what a model writes is read while it comes.
    live = not options.json and out().is_terminal and place.settings.llm.provider != "none"
    with Answerer(place) as answerer:
        answer, written = answerer.live(query) if live else (answerer.ask(query), False)
    if options.json:
        print_json(answer)
    else:
        show_answer(answer, lambda: remedy(place.layout), written=written)
