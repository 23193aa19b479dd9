"""``notehop capture``: keeps a text as a new note, and names the notes it has to do with.

Touches: vault-write (one new file), index (reads), model, network (a server on this machine),
terminal (standard input where it is piped).
"""

from __future__ import annotations

import sys
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
from notehop.config.errors import UsageError

NAME = "capture"


def run(
    ctx: typer.Context,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT", help="What to keep, quoted or not; without it, standard input is read."
        ),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", "-t", help="Its title; else its first line.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="A tag; may be repeated.")
    ] = None,
    vault: VaultOption = None,
    index_dir: IndexDirOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Keep a text as a new note in the inbox, and name the notes it has to do with."""
    options = common(ctx, vault, index_dir, config, as_json, debug)
    place = options.place()
    said = _text(text or [])
    from notehop.app.models import CaptureQuery
    from notehop.app.services.queries import request
    from notehop.app.services.running_server import capture_server

    query = request(CaptureQuery, {"text": said, "title": title, "tags": tag or []})
    found = capture_server(place, query)
    if found is None:
        from notehop.app.services.capture import capture_cold

        found = capture_cold(place, query)
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_capture import show_captured

    if options.json:
        print_json(found)
    else:
        show_captured(found)


def _text(given: list[str]) -> str:
    """What is to be kept: the words of the command, else what is piped in."""
    if given and given != ["-"]:
        return " ".join(given)
    if not given and sys.stdin.isatty():
        raise UsageError("there is nothing to keep; write it after the command, or pipe it in")
    from notehop.indexing.vault.parse import decode

    said, _ = decode("standard input", sys.stdin.buffer.read())
    if not said.strip():
        raise UsageError("there is nothing to keep: standard input is empty")
    return said
