"""``notehop chat``: questions and follow-ups, one after the other.

Touches: index, model, network (a server on this machine), terminal.
"""

from __future__ import annotations

import secrets
import sys
from contextlib import suppress
from typing import Annotated

import typer

from notehop.app.cli.options import ConfigOption, DebugOption, IndexDirOption, VaultOption, common

NAME = "chat"

AGAIN = "/new"
"""What is typed to begin a new conversation."""

END = ("/quit", "/exit", "/q")


def run(
    ctx: typer.Context,
    top_k: Annotated[
        int | None, typer.Option("--top-k", help="Sources an answer may cite.", metavar="N")
    ] = None,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    debug: DebugOption = False,
) -> None:
    """Ask, and ask on: a follow-up is understood after what was said before it.

    /new begins a new conversation, /quit or Ctrl-D ends. Nothing of it is written to disk.
    """
    options = common(ctx, vault, index_dir, config, False, debug)
    from notehop.app.cli.answering import Answerer
    from notehop.app.cli.output import err, show, styled
    from notehop.app.cli.show_answer import show_answer
    from notehop.app.models import Query
    from notehop.app.services.index_process import remedy
    from notehop.app.services.queries import as_query
    from notehop.config.errors import NotehopError

    place = options.place()
    asks = sys.stdin.isatty()
    if asks:
        # The arrow keys work in what is typed; Windows has that of itself, and no such module.
        with suppress(ImportError):
            import readline  # noqa: F401

        err().print(styled((f"{place.name}: ask; {AGAIN} begins anew, {END[0]} ends", "dim")))
    talk = secrets.token_hex(8)
    with Answerer(place) as answerer:
        while (typed := _typed(asks)) is not None:
            if typed in END:
                break
            if typed == AGAIN:
                talk = secrets.token_hex(8)
                continue
            if not typed:
                continue
            try:
                query = as_query(Query, typed, {"top_k": top_k, "conversation_id": talk})
                answer, written = answerer.live(query)
            except NotehopError as exc:
                # What is wrong with one question does not end the conversation.
                err().print(styled(("error: ", "red"), str(exc)), soft_wrap=True)
                continue
            show_answer(answer, lambda: remedy(place.layout), written=written)
            told = answer.conversation
            if told is not None and told.question and not told.subject:
                show(styled((f"understood as: {told.question}", "dim")))


def _typed(asks: bool) -> str | None:
    """The next line; None at the end of what is typed."""
    try:
        return input("\n> " if asks else "").strip()
    except EOFError:
        return None
