"""How the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

from notehop.indexing.shown import on_one_line, printable

WIDEST = 100  # columns that prose takes at most: longer lines are hard to read


def print_json(value: Any) -> None:
    """Print one JSON document: a model, or plain values; it is JSON in any encoding of the stream."""
    plain = value.model_dump() if isinstance(value, BaseModel) else value
    narrow = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    sys.stdout.write(json.dumps(plain, ensure_ascii=narrow, indent=2) + "\n")


@cache
def out() -> Console:
    """Standard output, for results."""
    return Console(highlight=False, markup=False, emoji=False)


@cache
def err() -> Console:
    """Standard error, for progress, warnings and errors."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def show(text: str, *, indent: int = 0, style: str = "") -> None:
    """Print a paragraph: wrapped on a terminal, as it is where another program reads."""
    said, console = printable(text), out()
    if not console.is_terminal:
        sys.stdout.writelines(
            f"{' ' * indent}{line}\n" if line else "\n" for line in said.split("\n")
        )
        return
    # Not with Padding: it fills every line up, and what is copied would end in spaces.
    for line in Text(said, style).wrap(console, min(console.width, WIDEST) - indent):
        line.rstrip()
        console.print(Text(" " * indent) + line, soft_wrap=True)


def show_line(text: str, *, indent: int = 0, style: str = "") -> None:
    """Print a paragraph in which nothing can pass for a line of ours."""
    show(on_one_line(text), indent=indent, style=style)


def headline(text: str, note: str = "") -> None:
    """Print the heading of a part, with an empty line before it."""
    show(f"\n{on_one_line(text)}{f'  {on_one_line(note)}' if note else ''}", style="bold")


def say(text: str, style: str = "") -> None:
    """Print a line to standard error."""
    err().print(Text(printable(on_one_line(text)), style), soft_wrap=True)


@contextmanager
def waiting(what: str) -> Iterator[Callable[[], None]]:
    """Say on a terminal that something is under way, until it is done or what is given is called."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with err().status(Text(what, "dim")) as shown:
        yield shown.stop


def warn(messages: list[str]) -> None:
    """Say what the reader should know about a result, beside it."""
    for message in messages:
        say(f"warning: {message}", "yellow")
