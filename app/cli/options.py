"""The options that commands share: a dataclass a group, a field an option."""

# ruff: noqa: RUF009 (the defaults of fields are read by typer)

from __future__ import annotations

import inspect
import logging
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, get_type_hints

import typer

from notehop.app.cli.output import print_json
from notehop.config.errors import UsageError

if TYPE_CHECKING:
    from notehop.app.models import BaseQuery
    from notehop.app.services.open_vault import Place

    QueryT = TypeVar("QueryT", bound=BaseQuery)

T = TypeVar("T")


def given_path(text: str) -> Path:
    """A path from the command line; an empty one, which would mean the current folder, is refused."""
    if not text:
        raise typer.BadParameter("the path is empty (perhaps a shell variable that is not set)")
    return Path(text)


def option(
    default: Any, names: str, told: str, metavar: str | None = None, *, panel: str | None = None, **more: Any
) -> Any:
    """An option of a command, by its names; what a ``FILE`` or ``PATH`` names may not be empty."""
    if metavar in ("FILE", "PATH"):
        more = {"parser": given_path, **more}
    return typer.Option(default, *names.split(), help=told, metavar=metavar, rich_help_panel=panel, **more)


def argument(default: Any, metavar: str, told: str, **more: Any) -> Any:
    return typer.Argument(default, metavar=metavar, help=told, **more)


VAULT: Any = argument(None, "[VAULT]", "Folder of the vault.", parser=given_path)

common_option = partial(option, panel="Options of every command")
query_option = partial(option, panel="How to search")
filter_option = partial(
    option, panel="What to search (or written into the query: tag:fish after:2w -path:Archive)"
)

Direction = Literal["forward", "backward", "both"]


@dataclass(frozen=True, slots=True)
class PlaceOptions:
    """The options of every command; None or False where not given."""

    vault: Path | None = common_option(None, "--vault", "Folder of the vault.", "PATH")
    index_dir: Path | None = common_option(None, "--index-dir", "Folder of its index.", "PATH")
    config: Path | None = common_option(None, "--config", "Settings file, read in place of yours.", "FILE")
    debug: bool = common_option(False, "--debug", "Show tracebacks of errors.")

    def with_vault(self, folder: Path | None) -> Self:
        """These options with the vault that an argument names; the option may not name another."""
        if folder is None:
            return self
        named = self.vault or folder
        if named.expanduser().resolve() != folder.expanduser().resolve():
            raise UsageError(f"two vaults are named, {folder} and --vault {self.vault}; name one")
        return replace(self, vault=folder)

    def place(self, overrides: Mapping[str, Any] | None = None) -> Place:
        """Find the vault, its settings and its index; overrides are by dotted key, None is left out."""
        from notehop.app.services.open_vault import locate

        return locate(self.vault, index_dir=self.index_dir, config_file=self.config, overrides=overrides)

    def places(
        self,
        vaults: Sequence[str] | None,
        overrides: Mapping[str, Any] | None = None,
        *,
        read_only: bool = False,
    ) -> dict[str, Place]:
        """Find several vaults, by the names that they go by.

        :param vaults: folders, or ``name=folder``; none: that of these options, else of the settings.
        """
        from notehop.app.services.vaults import locate_all

        for one in vaults or ():
            given_path(one)
        return locate_all(
            vaults or ([str(self.vault)] if self.vault is not None else ()),
            index_dir=self.index_dir,
            config_file=self.config,
            overrides=overrides,
            read_only=read_only,
        )


@dataclass(frozen=True, slots=True)
class Common(PlaceOptions):
    """Those of a command that has a result."""

    json: bool = common_option(False, "--json", "Print one JSON document.")

    def print(self, found: T, show: Callable[[T], None]) -> None:
        """Print a result: as one JSON document where that is asked for, else as a person is shown it."""
        if self.json:
            print_json(found)
        else:
            show(found)


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a question or a search is to be run."""

    top_k: int | None = query_option(
        None, "--top-k -k", "Hits of a search; sources an answer has for sure.", min=1, max=100
    )
    connected: int | None = query_option(None, "--connected", "Connected notes at most.", min=0, max=20)
    order: Literal["context", "rank"] | None = query_option(
        None, "--order", "Connected notes by likeness to the query, or by order of the sources."
    )
    direction: Direction | None = query_option(None, "--direction", "Which links are followed.")
    intent: Literal["auto", "none", "status", "discovery", "concept", "person", "timeline"] | None = (
        query_option(
            None,
            "--intent",
            "What you are after, where the query does not say it; auto reads it from the query.",
        )
    )
    second_look: bool | None = query_option(
        None, "--second-look/--no-second-look", "Ask again with what was found; an answer does so by itself."
    )
    explain: bool = query_option(False, "--explain", "Show how each signal ranked each source, and why.")

    def query(
        self, model: type[QueryT], text: str, filters: FilterOptions, literal: bool, **more: Any
    ) -> QueryT:
        """The query that the options describe, with ``more`` fields that only this model has.

        :raises QueryError: if an option has a wrong value.
        """
        from notehop.app.models import make_query

        options = asdict(self)
        connected = {name: options.pop(name) for name in ("order", "direction")}
        options["connected"] = {"max": options["connected"], **connected}
        return make_query(model, text, {**options, "filters": filters.given(), "literal": literal, **more})


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What notes must have."""

    tag: list[str] | None = filter_option(
        None, "--tag", "Notes with this tag, or one nested in it; may be repeated.", "TAG"
    )
    path: list[str] | None = filter_option(
        None, "--path", "Notes in this folder, or that a glob takes; repeated: in any of them.", "FOLDER"
    )
    after: str | None = filter_option(
        None, "--after", "Notes from this day on: 2026-10-07, 2026-10, today, 7d, 2w, 3m, 1y.", "DATE"
    )
    before: str | None = filter_option(None, "--before", "Notes from before this day.", "DATE")
    type: list[str] | None = filter_option(
        None, "--type", "Notes of this page type; repeated: of any of them.", "TYPE"
    )

    def given(self) -> dict[str, Any]:
        """Those that were given, as fields of :class:`notehop.app.models.Filters`."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


_told = "Take the query as it stands: no filters and no phrases in it."
LITERAL: Any = filter_option(False, "--literal", _told)

_UNQUOTED = re.compile(r"(-?[^\W\d_][\w.-]+:)([^\s\"“][^\"“]*\s[^\"“]*)")


def words(given: Sequence[str]) -> str:
    """A query that was not quoted is a list of words. Of ``path:"Hollin Reach" budget`` a shell leaves the
    blank but not the quotes: they are put back where there are several words.
    """
    if len(given) > 1:
        given = [_UNQUOTED.sub(r'\1"\2"', word) if ":" in word else word for word in given]
    return " ".join(given).strip()


def with_options(run: Callable[..., None]) -> Callable[..., None]:
    """A command for typer, in which each parameter that is a dataclass is an option a field, but for
    those that the command has as parameters of its own.
    """
    parameters = inspect.signature(run, eval_str=True).parameters
    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    spread = [keyword("ctx", annotation=typer.Context)]
    groups: dict[str, Any] = {}
    for name, one in parameters.items():
        if not is_dataclass(one.annotation):
            spread.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        groups[name], hints = one.annotation, get_type_hints(one.annotation)
        spread += [
            keyword(field.name, default=field.default, annotation=hints[field.name])
            for field in fields(one.annotation)
            if field.name not in parameters
        ]

    @wraps(run)
    def command(ctx: typer.Context, **given: Any) -> None:
        for name, kind in groups.items():
            own: dict[str, Any] = dict.fromkeys(field.name for field in fields(kind))
            own |= {one: given.pop(one) for one in own if one not in parameters}
            given[name] = kind(**own)
        ctx.find_root().obj = debug = given["options"].debug
        _log_to_standard_error(debug)
        run(**given)

    del command.__wrapped__
    command.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in spread}
    return command


def _log_to_standard_error(debug: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.DEBUG if debug else logging.ERROR,
        format="%(levelname)s %(name)s: %(message)s",
    )
    # Which host gets text of the notes is said before it gets any; and which variables are
    # passed over.
    for name in ("notehop.indexing.llm.transport", "notehop.config.layers"):
        logging.getLogger(name).setLevel(logging.DEBUG if debug else logging.WARNING)
