"""``notehop ask``, ``chat``, ``search``, ``browse``, ``themes``: what a vault is asked.

A running server answers where there is one; else the vault is opened.

Touches: index, model, vault-read, network (a server on this machine), terminal.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

import typer

from notehop.app.cli.options import (
    Common,
    FilterOptions,
    LiteralOption,
    QueryOptions,
    query_option,
    words,
)
from notehop.indexing.shown import printable

if TYPE_CHECKING:
    from notehop.app.models import Answer, Query, StreamEvent
    from notehop.app.services.open_vault import Place
    from notehop.app.services.vault import VaultHandle

T = TypeVar("T")

AGAIN = "/new"
"""What is typed to begin a new conversation."""

END = ("/quit", "/exit", "/q")

READING = "Reading your notes …"


def ask(
    question: Annotated[
        list[str],
        typer.Argument(
            metavar="QUESTION",
            help='The question, quoted or not; filters may stand in it, and "phrases".',
        ),
    ],
    how: QueryOptions,
    filters: FilterOptions,
    options: Common,
    literal: LiteralOption = False,
) -> None:
    """Answer a question from the vault, with citations and connected notes."""
    from notehop.app.cli.output import out, print_json
    from notehop.app.cli.show_answer import show_answer
    from notehop.app.models import Query
    from notehop.app.retrieval.filters.parse import check

    query = how.query(Query, words(question), filters, literal)
    place = options.place()
    check(query, place.settings.retrieval.max_query_chars)
    # Quotes are there at once; what a model writes is read while it comes.
    live = not options.json and out().is_terminal and place.settings.llm.provider != "none"
    with Answerer(place) as answerer:
        answer, written = answerer.live(query) if live else (answerer.ask(query), False)
    if options.json:
        print_json(answer)
    else:
        show_answer(answer, _remedy(place), written=written)


def chat(
    options: Common,
    top_k: Annotated[
        int | None, typer.Option("--top-k", help="Sources an answer may cite.", metavar="N")
    ] = None,
) -> None:
    """Ask, and ask on: a follow-up is understood after what was said before it.

    /new begins a new conversation, /quit or Ctrl-D ends. Nothing of it is written to disk.
    """
    from notehop.app.cli.output import err, show, styled
    from notehop.app.cli.show_answer import show_answer
    from notehop.app.models import Query
    from notehop.app.models.query import as_query
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
            show_answer(answer, _remedy(place), written=written)
            told = answer.conversation
            if told is not None and told.question and not told.subject:
                show(styled((f"understood as: {told.question}", "dim")))


def search(
    query: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERY",
            help='What to look for, quoted or not; filters may stand in it, and "phrases".',
        ),
    ],
    how: QueryOptions,
    filters: FilterOptions,
    options: Common,
    notes: Annotated[bool, typer.Option("--notes", help="One hit a note.")] = False,
    scores: Annotated[
        bool,
        query_option("--scores", help="Show how relevant each hit is, 0 to 1."),
    ] = False,
    min_score: Annotated[
        float | None,
        query_option(
            "--min-score",
            min=0,
            max=1,
            help="Leave out hits of less relevance; 0 shows weak ones, too.",
        ),
    ] = None,
    literal: LiteralOption = False,
) -> None:
    """List the passages that match, with the notes they are linked with."""
    from notehop.app.models import SearchQuery
    from notehop.app.retrieval.filters.parse import check
    from notehop.app.services.running_server import ask_server

    kind = "notes" if notes else "chunks"
    wanted = how.query(
        SearchQuery, words(query), filters, literal, results=kind, min_score=min_score
    )
    place = options.place()
    check(wanted, place.settings.retrieval.max_query_chars)
    found = ask_server(place, wanted) or _opened(place, lambda vault: vault.search(wanted))
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_answer import show_hits

    if options.json:
        print_json(found)
    else:
        show_hits(found, _remedy(place), scores=scores)


def browse(
    notes: Annotated[
        list[str],
        typer.Argument(metavar="NOTE", help="Notes to start from: paths, titles or aliases."),
    ],
    filters: FilterOptions,
    options: Common,
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
) -> None:
    """List the notes that are linked with a note, best first."""
    from notehop.app.models import BrowseQuery
    from notehop.app.models.query import as_query
    from notehop.app.services.find_note import from_here
    from notehop.app.services.running_server import ask_server

    place = options.place()
    fields = {
        "seeds": [from_here(place.vault, note) for note in notes],
        "depth": depth,
        "direction": direction,
        "rank": rank,
        "results": "chunks" if chunks else "notes",
        "max": most,
        "filters": filters.given(),
    }
    wanted = as_query(BrowseQuery, fields)
    found = ask_server(place, wanted) or _opened(place, lambda vault: vault.browse(wanted))
    from notehop.app.cli.output import print_json
    from notehop.app.cli.show_lists import show_browse

    if options.json:
        print_json(found)
    else:
        show_browse(found, wanted, _remedy(place))


def themes(
    filters: FilterOptions,
    options: Common,
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
    literal: LiteralOption = False,
) -> None:
    """List the themes of the vault, or answer a question from them."""
    from notehop.app.cli.output import print_json
    from notehop.app.models import Query, ThemesQuery
    from notehop.app.models.query import as_query
    from notehop.app.retrieval.filters.parse import check
    from notehop.app.services.running_server import ask_server

    place = options.place()
    text = words(question or [])
    fields: dict[str, Any] = {"filters": filters.given(), "literal": literal}
    if text and not listed:
        query = as_query(Query, text, {"themes": True, **fields})
        check(query, place.settings.retrieval.max_query_chars)
        with Answerer(place) as answerer:
            answer = answerer.ask(query)
        from notehop.app.cli.show_answer import show_answer

        if options.json:
            print_json(answer)
        else:
            show_answer(answer, _remedy(place))
        return
    wanted = as_query(ThemesQuery, {"query": text, "max": most, **fields})
    found = ask_server(place, wanted) or _opened(place, lambda vault: vault.themes(wanted))
    from notehop.app.cli.show_lists import show_themes

    if options.json:
        print_json(found)
    else:
        show_themes(found, _remedy(place))


class Answerer(AbstractContextManager["Answerer"]):
    """Answers the questions of one command; the vault is opened when no server answers."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._opened: VaultHandle | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            self._opened.close()

    def ask(self, query: Query) -> Answer:
        """Answer a question.

        :raises NotehopError: why there is no answer.
        """
        from notehop.app.cli.output import waiting
        from notehop.app.services.running_server import ask_server

        with waiting(READING):
            answer = None if self._opened else ask_server(self._place, query)
            return answer or self._own().ask(query)

    def live(self, query: Query) -> tuple[Answer, bool]:
        """Answer a question and write the text to the terminal as it comes.

        :returns: the answer, and whether what was written is its text.
        :raises NotehopError: why there is no answer.
        """
        from notehop.app.cli.output import waiting
        from notehop.app.services.running_server import stream_server

        with waiting(READING) as done:
            events = None if self._opened else stream_server(self._place, query)
            with closing(events or self._own().stream(query)) as coming:  # type: ignore[type-var]
                return _written(coming, done)

    def _own(self) -> VaultHandle:
        if self._opened is None:
            from notehop.app.services.open_vault import open_place

            self._opened = open_place(self._place)
        return self._opened


def _opened(place: Place, work: Callable[[VaultHandle], T]) -> T:
    """Have a vault do something that no server does."""
    from notehop.app.cli.output import waiting

    with waiting(READING):
        from notehop.app.services.open_vault import open_place

        with open_place(place) as vault:
            return work(vault)


def _remedy(place: Place) -> Callable[[], str]:
    """What becomes of notes that are not indexed yet, looked up where there are any."""

    def command() -> str:
        from notehop.app.services.index_process import remedy

        return remedy(place.layout)

    return command


def _typed(asks: bool) -> str | None:
    """The next line; None at the end of what is typed."""
    try:
        return input("\n> " if asks else "").strip()
    except EOFError:
        return None


def _written(events: Iterator[StreamEvent], begins: Callable[[], None]) -> tuple[Answer, bool]:
    """Write what comes; ``begins`` is called before the first of it."""
    from notehop.app.models import DoneEvent, ErrorEvent, TokenEvent
    from notehop.app.problems import error_of
    from notehop.config.errors import NotehopError

    said: list[str] = []
    try:
        for event in events:
            if isinstance(event, TokenEvent):
                begins()
                said.append(event.text)
                sys.stdout.write(printable(event.text))
                sys.stdout.flush()
            elif isinstance(event, ErrorEvent):
                problem = event.problem
                raise error_of(problem.model_dump()) or NotehopError(problem.detail)
            elif isinstance(event, DoneEvent):
                return event.answer, "".join(said).strip() == event.answer.answer.strip()
    finally:
        if said:
            sys.stdout.write("\n")
    raise NotehopError("the answer was broken off; ask again")
