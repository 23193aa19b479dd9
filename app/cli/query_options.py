"""The options that a question and a search have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from notehop.app.models import BaseQuery

PANEL = "How to search"
FILTER_PANEL = "What to search (or written into the query: tag:fish after:2w -path:Archive)"

TopKOption = Annotated[
    int | None,
    typer.Option(
        "--top-k",
        "-k",
        min=1,
        max=100,
        help="Hits of a search; sources an answer has for sure.",
        rich_help_panel=PANEL,
    ),
]
ConnectedOption = Annotated[
    int | None,
    typer.Option(
        "--connected", min=0, max=20, help="Connected notes at most.", rich_help_panel=PANEL
    ),
]
OrderOption = Annotated[
    Literal["context", "rank"] | None,
    typer.Option(
        "--order",
        help="Connected notes by likeness to the query, or by order of the sources.",
        rich_help_panel=PANEL,
    ),
]
DirectionOption = Annotated[
    Literal["forward", "backward", "both"] | None,
    typer.Option("--direction", help="Which links are followed.", rich_help_panel=PANEL),
]
IntentOption = Annotated[
    Literal["auto", "none", "status", "discovery", "concept", "person", "timeline"] | None,
    typer.Option(
        "--intent",
        help="What you are after, where the query does not say it; auto reads it from the query.",
        rich_help_panel=PANEL,
    ),
]
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Show how each signal ranked each source, and why.",
        rich_help_panel=PANEL,
    ),
]

TagOption = Annotated[
    list[str] | None,
    typer.Option(
        "--tag",
        metavar="TAG",
        help="Notes with this tag, or one nested in it; may be repeated.",
        rich_help_panel=FILTER_PANEL,
    ),
]
PathOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        metavar="FOLDER",
        help="Notes in this folder, or that a glob takes; repeated: in any of them.",
        rich_help_panel=FILTER_PANEL,
    ),
]
AfterOption = Annotated[
    str | None,
    typer.Option(
        "--after",
        metavar="DATE",
        help="Notes from this day on: 2026-10-07, 2026-10, today, 7d, 2w, 3m, 1y.",
        rich_help_panel=FILTER_PANEL,
    ),
]
BeforeOption = Annotated[
    str | None,
    typer.Option(
        "--before",
        metavar="DATE",
        help="Notes from before this day.",
        rich_help_panel=FILTER_PANEL,
    ),
]
TypeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--type",
        metavar="TYPE",
        help="Notes of this page type; repeated: of any of them.",
        rich_help_panel=FILTER_PANEL,
    ),
]
LiteralOption = Annotated[
    bool,
    typer.Option(
        "--literal",
        help="Take the query as it stands: no filters and no phrases in it.",
        rich_help_panel=FILTER_PANEL,
    ),
]

_NEGATED = re.compile(r"-(?:[\"“]|[^\W\d_][\w.-]+:.)")
_UNQUOTED = re.compile(r"(-?[^\W\d_][\w.-]+:)([^\s\"“][^\"“]*\s[^\"“]*)")


class QueryCommand(TyperCommand):
    """A command whose words may begin with a hyphen, if they are filters: ``-path:Archive``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a blank keeps a negated filter from being taken for an option."""
        return super().parse_args(ctx, [f" {a}" if _NEGATED.match(a) else a for a in args])


QueryT = TypeVar("QueryT", bound="BaseQuery")


def words(given: Sequence[str]) -> str:
    """A query that was not quoted is a list of words.

    Of ``path:"Hollin Reach" budget`` a shell leaves the blank but not the quotes: they are put back
    where there are several words.
    """
    if len(given) > 1:
        given = [_UNQUOTED.sub(r'\1"\2"', word) if ":" in word else word for word in given]
    return " ".join(given).strip()


def narrowed_to(
    tag: list[str] | None,
    path: list[str] | None,
    after: str | None,
    before: str | None,
    page_type: list[str] | None,
) -> dict[str, Any]:
    """The filters that the options describe, as fields of :class:`notehop.app.models.Filters`."""
    given = {"tag": tag, "path": path, "after": after, "before": before, "type": page_type}
    return {name: value for name, value in given.items() if value}


def asked(
    model: type[QueryT],
    query: str,
    top_k: int | None,
    connected: int | None,
    order: Literal["context", "rank"] | None,
    direction: Literal["forward", "backward", "both"] | None,
    intent: str | None,
    explain: bool,
    filters: Mapping[str, Any],
    literal: bool,
) -> QueryT:
    """The query that the options describe.

    :raises QueryError: if an option has a wrong value.
    """
    from notehop.app.services.queries import as_query

    options = {
        "top_k": top_k,
        "connected": {"max": connected, "order": order, "direction": direction},
        "intent": intent,
        "explain": explain,
        "filters": filters,
        "literal": literal,
    }
    return as_query(model, query, options)
