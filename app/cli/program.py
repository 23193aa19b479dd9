"""The command line as a whole: its commands, and how any of them ends."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from notehop.app.cli import queries, serve, vault
from notehop.app.cli.eval import evaluate
from notehop.app.cli.options import with_options
from notehop.app.problems import INTERRUPTED, exit_code, reason_of
from notehop.config.errors import NotehopError
from notehop.indexing.display import printable

NAME = "notehop"

_NEGATED = re.compile(r"-(?:[\"“]|[^\W\d_][\w.-]+:.)")  # a filter in a query: -path:Archive


class NotehopGroup(TyperGroup):
    """Ends every command in the same way: a message for a person, an exit code for a program."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command by its name; tasks, which have none, are asked for."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as exc:
            if args[:1] == ["tasks"]:
                exc.message = "No such command 'tasks'; write: notehop ask \"open tasks\""
            raise

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        asks = args[:1] in (["ask"], ["search"])
        # A blank keeps a negated filter from being taken for an option.
        given = [f" {one}" if asks and _NEGATED.match(one) else one for one in args]
        try:
            return super().parse_args(ctx, given)
        except typer.TyperException as exc:
            if args:
                exc.message += ": the options of a command stand behind its name"
            raise

    def invoke(self, ctx: Any) -> Any:
        """Run a command; errors become one message on standard error and an exit code."""
        given = [*ctx.args]
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except (typer.Exit, typer.Abort):
            raise
        except typer.TyperException as exc:
            if any(one in exc.message and Path(one).is_dir() for one in given):
                exc.message = f"{exc.message.rstrip('.')}; a vault is named with --vault PATH"
            raise
        except KeyboardInterrupt as exc:
            typer.echo("\nstopped", err=True)
            raise typer.Exit(INTERRUPTED) from exc
        except BrokenPipeError as exc:
            # Who read the output has seen enough. What is still buffered must not raise again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from exc
        except Exception as exc:
            _tell(exc, ctx)
            raise typer.Exit(exit_code(exc)) from exc
        return result


app = typer.Typer(
    name=NAME,
    cls=NotehopGroup,
    help="Ask an Obsidian vault: cited answers that follow the links between your notes.",
    epilog="To begin: notehop index PATH-OF-YOUR-VAULT; then, in that folder: notehop ask "
    '"What did I decide about the garden?"',
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"{NAME} {version(NAME)}")
        raise typer.Exit


@app.callback()
def _start(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """The command without its name has one option: to say which version it is."""


for name, command in (
    ("index", vault.index),
    ("ask", queries.ask),
    ("chat", queries.chat),
    ("search", queries.search),
    ("browse", queries.browse),
    ("suggest", queries.suggest),
    ("themes", queries.themes),
    ("links", vault.links),
    ("capture", vault.capture),
    ("status", vault.status),
    ("doctor", vault.doctor),
    ("models", vault.models),
    ("plugin", vault.plugin),
    ("serve", serve.serve),
    ("mcp", serve.mcp),
    ("eval", evaluate),
):
    app.command(name=name)(with_options(command))


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code; tests and :func:`notehop.app.cli.main` call it."""
    for stream in (sys.stdout, sys.stderr):
        # A name of the vault may hold what the terminal's encoding cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    command = typer.main.get_command(app)
    try:
        command.main(args=list(arguments), prog_name=NAME)
    except SystemExit as exc:
        return exc.code if isinstance(exc.code, int) else int(exc.code is not None)
    return 0


def _tell(error: Exception, ctx: Any) -> None:
    debug = bool(ctx.find_root().obj)
    if debug:
        typer.echo("".join(traceback.format_exception(error)).rstrip(), err=True)
    told = str(error)
    if not isinstance(error, NotehopError):
        told = f"unexpected {reason_of(error)}" + ("" if debug else "; --debug shows the traceback")
    typer.echo(f"error: {printable(told)}", err=True)
