"""``notehop ask``, ``chat``, ``search``, ``browse``, ``suggest``, ``themes``: what a vault is asked.

A running server answers where there is one; else the vault is opened, as it is for what a language model
writes to a terminal, and for a conversation.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

import typer

from notehop.app.cli.options import (
    LITERAL,
    Common,
    Direction,
    FilterOptions,
    PlaceOptions,
    QueryOptions,
    argument,
    option,
    query_option,
    words,
)
from notehop.app.cli.output import console, say, show, waiting, warn
from notehop.config.errors import NotehopError, UsageError
from notehop.indexing.display import counted, printable

if TYPE_CHECKING:
    from notehop.app import models
    from notehop.app.services.open_vault import Place
    from notehop.app.services.vault import VaultHandle

ReplyT = TypeVar(
    "ReplyT", bound="models.Reply | models.BrowseResult | models.Suggestions | models.ThemesResult"
)

AGAIN, END = "/new", ("/quit", "/exit", "/q", "quit", "exit", ":q")
"""What is typed to begin a new conversation, and to end; alone, none of it is a question."""

COMMANDS = f"{AGAIN} begins anew, {END[0]} ends"

READING = "Reading your notes …"


def ask(
    how: QueryOptions,
    filters: FilterOptions,
    options: Common,
    question: list[str] = argument(
        ..., "QUESTION", 'The question, quoted or not; filters may stand in it, and "phrases".'
    ),
    literal: bool = LITERAL,
) -> None:
    """Answer a question from the vault, with citations and connected notes."""
    from notehop.app.cli.show import show_answer
    from notehop.app.models import Query

    query = how.query(Query, words(question), filters, literal)
    place = options.place()
    # Quotes are there at once; what a model writes is read while it comes.
    live = not options.json and console().is_terminal and place.settings.llm.provider != "none"
    if not live:
        _reply(options, place, query, lambda vault: vault.ask(query), show_answer)
        return
    with _open(place) as vault:
        answer, written = _streamed(vault, query)
    _print(options, place, answer, partial(show_answer, written=written))


def chat(options: PlaceOptions) -> None:
    """Ask, and ask on: a follow-up is understood after what was said before it.

    /new begins a new conversation, /quit or Ctrl-D ends. Nothing of it is written to disk.
    """
    from secrets import token_hex

    from notehop.app.cli.show import show_answer
    from notehop.app.models import Query, make_query

    place = options.place()
    asks = sys.stdin.isatty()
    if asks:
        # The arrow keys work in what is typed; Windows has that of itself, and no such module.
        with suppress(ImportError):
            import readline  # noqa: F401

        say(f"{place.name}: ask; {COMMANDS}", "dim")
    name = token_hex(8)
    with _open(place) as vault:
        while True:
            try:
                typed = input("\n> " if asks else "").strip()
            except EOFError:
                break
            if typed.lower() in END:
                break
            if typed == AGAIN:
                name = token_hex(8)
            if typed in ("", AGAIN):
                continue
            try:
                if re.fullmatch(r"/[a-z]+", typed):
                    raise UsageError(f"{typed}: there is no such command; {COMMANDS}")
                query = make_query(Query, typed, {"conversation_id": name})
                answer, written = _streamed(vault, query)
            except NotehopError as exc:
                # What is wrong with one question does not end the conversation.
                typer.secho(printable(f"error: {exc}"), fg="red", err=True)
                continue
            show_answer(answer, written=written)
            _warn(place, answer)
            told = answer.conversation
            if told is not None and told.question and not told.subject:
                show(f"understood as: {told.question}", style="dim")


def search(
    how: QueryOptions,
    filters: FilterOptions,
    options: Common,
    query: list[str] = argument(
        ..., "QUERY", 'What to look for, quoted or not; filters may stand in it, and "phrases".'
    ),
    notes: bool = option(False, "--notes", "One hit a note."),
    scores: bool = query_option(False, "--scores", "Show how relevant each hit is, 0 to 1."),
    min_score: float | None = query_option(
        None, "--min-score", "Leave out hits of less relevance; 0 shows weak ones, too.", min=0, max=1
    ),
    literal: bool = LITERAL,
) -> None:
    """List the passages that match, with the notes they are linked with."""
    from notehop.app.cli.show import show_hits
    from notehop.app.models import SearchQuery

    kind = "notes" if notes else "chunks"
    wanted = how.query(SearchQuery, words(query), filters, literal, results=kind, min_score=min_score)
    shown = partial(show_hits, query=wanted.query, scores=scores)
    _reply(options, options.place(), wanted, lambda vault: vault.search(wanted), shown)


def browse(
    filters: FilterOptions,
    options: Common,
    notes: list[str] = argument(..., "NOTE", "Notes to start from: paths, titles or aliases."),
    depth: int = option(1, "--depth", "Links away.", min=1, max=2),
    direction: Direction = option("both", "--direction", "Links that notes hold, links to them, or both."),
    rank: Literal["pagerank", "recency", "edges"] = option(
        "pagerank", "--rank", "By PageRank, by last change, or by number of links."
    ),
    most: int = option(20, "--max", "Notes at most.", min=1, max=100),
) -> None:
    """List the notes that are linked with a note, best first."""
    from notehop.app.cli.show import as_text
    from notehop.app.models import BrowseQuery, make_query
    from notehop.app.models.reply_text import browse_text
    from notehop.app.services.notes.find_note import from_here

    place = options.place()
    fields = {
        "seeds": [from_here(place.vault, note) for note in notes],
        "depth": depth,
        "direction": direction,
        "rank": rank,
        "max": most,
        "filters": filters.given(),
    }
    wanted = make_query(BrowseQuery, fields)
    _reply(options, place, wanted, lambda vault: vault.browse(wanted), as_text(browse_text))


def suggest(
    options: Common,
    note: str | None = argument(None, "[NOTE]", "A path, title or alias; none: the whole vault."),
    limit: int = option(10, "--limit", "Links at most.", min=1, max=100),
) -> None:
    """Suggest links that a note or the vault lacks, with the sentence that shows each; nothing is written."""
    from notehop.app.cli.show import as_text
    from notehop.app.models import SuggestQuery, make_query
    from notehop.app.models.reply_text import suggestions_text
    from notehop.app.services.notes.find_note import from_here

    place = options.place()
    meant = None if note is None else from_here(place.vault, note)
    wanted = make_query(SuggestQuery, {"note": meant, "limit": limit})
    shown = as_text(suggestions_text)
    _reply(options, place, wanted, lambda vault: vault.suggest(wanted.note, wanted.limit), shown)


def themes(
    filters: FilterOptions,
    options: Common,
    most: int | None = option(None, "--max", "Themes that are listed at most.", min=1, max=50),
) -> None:
    """List the themes of the vault."""
    from notehop.app.cli.show import show_themes
    from notehop.app.models import ThemesQuery, make_query

    wanted = make_query(ThemesQuery, {"max": most, "filters": filters.given()})
    _reply(options, options.place(), wanted, lambda vault: vault.themes(wanted), show_themes)


def _streamed(vault: VaultHandle, query: models.Query) -> tuple[models.Answer, bool]:
    """Answer a question and write the text to the terminal as it comes.

    :returns: the answer, and whether what was written is its text.
    :raises NotehopError: why there is no answer.
    """
    from notehop.app.models import DoneEvent, ErrorEvent, TokenEvent
    from notehop.app.problems import failure_of

    said = ""
    with waiting(READING) as done, ExitStack() as over:
        events = over.enter_context(closing(vault.stream(query)))
        over.callback(lambda: sys.stdout.write("\n" if said else ""))
        for event in events:
            if isinstance(event, TokenEvent):
                done()
                said += event.text
                sys.stdout.write(printable(event.text))
                sys.stdout.flush()
            elif isinstance(event, ErrorEvent):
                raise failure_of(event.problem)
            elif isinstance(event, DoneEvent):
                return event.answer, said.strip() == event.answer.answer.strip()
    raise NotehopError("the answer was broken off; ask again")


def _open(place: Place) -> VaultHandle:
    """The vault, opened here while the terminal says so."""
    from notehop.app.services.open_vault import open_place

    with waiting(READING):
        return open_place(place)


def _reply(
    options: Common,
    place: Place,
    query: models.Parameters,
    work: Callable[[VaultHandle], ReplyT],
    show: Callable[[ReplyT], None],
) -> None:
    """Print what a running server replies, else the vault, opened for it."""
    from notehop.app.services.running_server import ask_server

    with waiting(READING):
        found: ReplyT | None = ask_server(place, query)
    if found is None:
        with _open(place) as vault, waiting(READING):
            found = work(vault)
    _print(options, place, found, show)


def _print(options: Common, place: Place, reply: ReplyT, show: Callable[[ReplyT], None]) -> None:
    """Print a reply: as JSON, or for a person with what it warns of."""
    options.print(reply, show)
    if not options.json:
        _warn(place, reply)


def _warn(place: Place, reply: ReplyT) -> None:
    warn([one.replace("min_score 0", "--min-score 0") for one in reply.warnings])
    if reply.pending:
        from notehop.app.services.open_vault import remedy

        notes = counted(reply.pending, "note")
        warn([f"{notes} may have changed since the index was made; {remedy(place.layout)}"])
