"""The options that a question and a search have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

import typer

if TYPE_CHECKING:
    from app.models import Query

PANEL = "How to search"

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
ExplainOption = Annotated[
    bool,
    typer.Option(
        "--explain", help="Show how each signal ranked each source.", rich_help_panel=PANEL
    ),
]

QueryT = TypeVar("QueryT", bound="Query")


def words(given: Sequence[str]) -> str:
    """A query that was not quoted is a list of words."""
    return " ".join(given)


def asked(
    model: type[QueryT],
    query: str,
    top_k: int | None,
    connected: int | None,
    order: Literal["context", "rank"] | None,
    direction: Literal["forward", "backward", "both"] | None,
    explain: bool,
) -> QueryT:
    """The query that the options describe."""
    from app.models import ConnectedOptions

    chosen = ConnectedOptions(max=connected, order=order, direction=direction)
    return model(query=query, top_k=top_k, connected=chosen, explain=explain)
