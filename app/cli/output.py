"""How the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from notehop.indexing.shown import location, on_one_line, printable

WIDEST = 100
"""Columns that prose takes at most: longer lines are hard to read."""


def print_json(value: Any) -> None:
    """Print one JSON document: a model, or plain values; it is JSON in any encoding of the stream."""
    plain = value.model_dump() if isinstance(value, BaseModel) else value
    narrow = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    sys.stdout.write(json.dumps(plain, ensure_ascii=narrow, indent=2) + "\n")


@cache
def out() -> Console:
    """Standard output, for results."""
    return _console(stderr=False)


@cache
def err() -> Console:
    """Standard error, for progress, warnings and errors."""
    return _console(stderr=True)


def styled(*parts: str | tuple[str, str]) -> Text:
    """One line or paragraph out of plain and (text, style) parts; markup in the text is text."""
    clean = [
        printable(part) if isinstance(part, str) else (printable(part[0]), part[1])
        for part in parts
    ]
    return Text.assemble(*clean)


def title_of(title: str, heading: str) -> str:
    """A note, and the heading in it where there is one."""
    return on_one_line(f"{title} > {heading}" if heading and title else title or heading)


def place_of(path: str, lines: tuple[int, int], heading: str = "") -> str:
    """Where something stands: a file and its first line, or its first and last."""
    return on_one_line(location(path, lines, heading))


def written_by(model: str | None) -> str:
    """What is said behind a text that a model wrote; nothing for the words of a note."""
    return "" if model is None else f" (written by {on_one_line(model)})"


def show(text: Text, indent: int = 0) -> None:
    """Print a paragraph: wrapped on a terminal, as it is where another program reads."""
    console = out()
    if not console.is_terminal:
        sys.stdout.writelines(
            f"{' ' * indent}{line}\n" if line else "\n" for line in text.plain.split("\n")
        )
        return
    # Not with Padding: it fills every line up, and what is copied would end in spaces.
    for line in text.wrap(console, min(console.width, WIDEST) - indent):
        line.rstrip()
        console.print(Text(" " * indent) + line, soft_wrap=True)


def headline(text: str, note: str = "") -> None:
    """Print the heading of a part, with an empty line before it."""
    show(styled("\n", (on_one_line(text), "bold"), (f"  {note}", "dim") if note else ""))


def show_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    read: Collection[int],
    width: int,
    folded: int | None = None,
) -> None:
    """Print a table.

    :param read: columns that are read, on the left; all others are compared.
    :param width: characters that it may take.
    :param folded: the column whose lines are broken where there is no room.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for at, name in enumerate(head):
        table.add_column(
            name,
            justify="left" if at in read else "right",
            no_wrap=at != folded,
            overflow="ellipsis" if folded is None else "fold",
        )
    for row in rows:
        table.add_row(*row)
    Console(width=width, highlight=False, markup=False, emoji=False).print(table)


@contextmanager
def waiting(what: str) -> Iterator[Callable[[], None]]:
    """Say on a terminal that something is under way, until it is done or what is given is called."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with err().status(styled((what, "dim"))) as shown:
        yield shown.stop


def warn(messages: list[str]) -> None:
    """Say what the reader should know about a result, beside it."""
    for message in messages:
        err().print(styled(("warning: ", "yellow"), on_one_line(message)), soft_wrap=True)


def _console(*, stderr: bool) -> Console:
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)
