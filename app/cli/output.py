"""How the command line writes: results to standard output, everything else to standard error. Rich, which
takes long to load, is loaded with the first that needs it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from notehop.indexing.display import on_one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

WIDEST = 100  # columns that prose takes at most: longer lines are hard to read


def print_json(value: Any) -> None:
    """Print one JSON document: a model, or plain values; it is JSON in any encoding of the stream."""
    plain = value.model_dump() if hasattr(value, "model_dump") else value
    narrow = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    sys.stdout.write(json.dumps(plain, ensure_ascii=narrow, indent=2) + "\n")


@cache
def console(*, stderr: bool = False) -> Console:
    """Standard output, for results; or standard error, for progress, warnings and errors."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def show(text: str, *, indent: int = 0, style: str = "") -> None:
    """Print a paragraph: wrapped on a terminal, as it is where another program reads."""
    said, out = printable(text), console()
    if not out.is_terminal:
        sys.stdout.writelines(f"{' ' * indent}{line}\n" if line else "\n" for line in said.split("\n"))
        return
    from rich.text import Text

    # Not with Padding: it fills every line up, and what is copied would end in spaces.
    for line in Text(said, style).wrap(out, min(out.width, WIDEST) - indent):
        line.rstrip()
        out.print(Text(" " * indent) + line, soft_wrap=True)


def show_line(text: str, *, indent: int = 0, style: str = "") -> None:
    """Print a paragraph in which nothing can pass for a line of ours."""
    show(on_one_line(text), indent=indent, style=style)


def headline(text: str, note: str = "") -> None:
    """Print the heading of a part, with an empty line before it."""
    show(f"\n{on_one_line(text)}{f'  {on_one_line(note)}' if note else ''}", style="bold")


def show_first(title: str, rows: Sequence[str], most: int | None, rest: str) -> None:
    """Print rows below a heading with their number, the first alone and how many more there are where
    there is a ``most``; nothing if there are none. ``rest`` says what lists all of them."""
    if rows:
        headline(title, f"{len(rows):,}")
    for row in rows[:most]:
        show_line(row, indent=2)
    if most is not None and len(rows) > most:
        show(f"and {len(rows) - most:,} more; {rest}", indent=2, style="dim")


def say(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    console(stderr=True).print(printable(on_one_line(text)), style=style, soft_wrap=True)


@contextmanager
def waiting(what: str) -> Iterator[Callable[[], None]]:
    """Say on a terminal that something is under way, until it is done or what is given is called."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with console(stderr=True).status(f"[dim]{what}[/]") as shown:
        yield shown.stop


def warn(messages: list[str]) -> None:
    """Say what the reader should know about a result, beside it."""
    for message in messages:
        say(f"warning: {message}", "yellow")
