"""How the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

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


def console_of(width: int | None = None, *, stderr: bool = False) -> Console:
    """A console that takes nothing in a text for more than text."""
    return Console(width=width, stderr=stderr, highlight=False, markup=False, emoji=False)


@cache
def out() -> Console:
    """Standard output, for results."""
    return console_of()


@cache
def err() -> Console:
    """Standard error, for progress, warnings and errors."""
    return console_of(stderr=True)


Part: TypeAlias = str | tuple[str, str] | Text
"""A piece of text, or one with its style; markup in it is text."""


def styled(*parts: Part, one_line: bool = False) -> Text:
    """One paragraph out of parts; of one line, whatever line breaks are in them, if that is asked for."""
    text = Text()
    for part in parts:
        if isinstance(part, Text):
            text.append_text(part)
            continue
        said, style = (part, "") if isinstance(part, str) else part
        text.append(printable(on_one_line(said) if one_line else said), style)
    return text


def title_of(title: str, heading: str) -> str:
    """A note, and the heading in it where there is one."""
    return f"{title} > {heading}" if heading and title else title or heading


def show(*parts: Part, indent: int = 0) -> None:
    """Print a paragraph: wrapped on a terminal, as it is where another program reads."""
    text, console = styled(*parts), out()
    if not console.is_terminal:
        sys.stdout.writelines(
            f"{' ' * indent}{line}\n" if line else "\n" for line in text.plain.split("\n")
        )
        return
    # Not with Padding: it fills every line up, and what is copied would end in spaces.
    for line in text.wrap(console, min(console.width, WIDEST) - indent):
        line.rstrip()
        console.print(Text(" " * indent) + line, soft_wrap=True)


def show_line(*parts: str | tuple[str, str], indent: int = 0) -> None:
    """Print a paragraph in which nothing can pass for a line of ours."""
    show(styled(*parts, one_line=True), indent=indent)


def headline(text: str, note: str = "") -> None:
    """Print the heading of a part, with an empty line before it."""
    show("\n", styled((text, "bold"), (f"  {note}" if note else "", "dim"), one_line=True))


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
