"""The options that commands share: a dataclass a group, a field an option."""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

from notehop.config.errors import UsageError

if TYPE_CHECKING:
    from notehop.app.models import BaseQuery
    from notehop.app.services.open_vault import Place

    QueryT = TypeVar("QueryT", bound=BaseQuery)

T = TypeVar("T")


def given_path(text: str) -> Path:
    """A path from the command line; an empty one would silently mean the current folder.

    :raises typer.BadParameter: if it is empty.
    """
    if not text:
        raise typer.BadParameter("the path is empty (perhaps a shell variable that is not set)")
    return Path(text)


VaultArgument = Annotated[
    Path | None,
    typer.Argument(metavar="[VAULT]", help="Folder of the vault.", parser=given_path),
]


def option(
    names: str, told: str, metavar: str | None = None, *, panel: str | None = None, **more: Any
) -> Any:
    """An option of a command, by its names; what a ``FILE`` or ``PATH`` names may not be empty."""
    parser = given_path if metavar in ("FILE", "PATH") else None
    return typer.Option(
        *names.split(), help=told, metavar=metavar, parser=parser, rich_help_panel=panel, **more
    )


COMMON_PANEL = "Options of every command"

common_option = partial(option, panel=COMMON_PANEL)
query_option = partial(option, panel="How to search")
filter_option = partial(
    option, panel="What to search (or written into the query: tag:fish after:2w -path:Archive)"
)


@dataclass(frozen=True, slots=True)
class Common:
    """The options of every command, before or after its name; None or False where not given."""

    vault: Annotated[Path | None, common_option("--vault", "Folder of the vault.", "PATH")] = None
    index_dir: Annotated[
        Path | None, common_option("--index-dir", "Folder of its index.", "PATH")
    ] = None
    config: Annotated[
        Path | None, common_option("--config", "Settings file, read in place of yours.", "FILE")
    ] = None
    json: Annotated[bool, common_option("--json", "Print one JSON document.")] = False
    debug: Annotated[bool, common_option("--debug", "Show tracebacks of errors.")] = False

    def over(self, outer: Common) -> Common:
        """These options where they were given after the command, else those given before it."""
        given = {f.name: value for f in fields(self) if (value := getattr(self, f.name))}
        return replace(outer, **given)

    def with_vault(self, folder: Path | None) -> Common:
        """These options with the vault that an argument names.

        :raises UsageError: if the option names another one.
        """
        if folder is None:
            return self
        same = self.vault is None or (
            self.vault.expanduser().resolve() == folder.expanduser().resolve()
        )
        if not same:
            raise UsageError(f"two vaults are named, {folder} and --vault {self.vault}; name one")
        return replace(self, vault=folder)

    def print(self, found: T, show: Callable[[T], None]) -> None:
        """Print a result: as one JSON document where that is asked for, else as a person is shown it."""
        from notehop.app.cli.output import print_json

        if self.json:
            print_json(found)
        else:
            show(found)

    def place(self, overrides: Mapping[str, Any] | None = None) -> Place:
        """Find the vault, its settings and its index.

        :param overrides: settings by dotted key; None values are left out.
        """
        from notehop.app.services.open_vault import locate

        return locate(
            self.vault, index_dir=self.index_dir, config_file=self.config, overrides=overrides
        )

    def places(
        self,
        vaults: Sequence[str] | None,
        overrides: Mapping[str, Any] | None = None,
        *,
        read_only: bool = False,
    ) -> dict[str, Place]:
        """Find several vaults, by the names that they go by.

        :param vaults: folders, or ``name=folder``; none: that of these options, else of the settings.
        :param overrides: as for :meth:`place`.
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
class QueryOptions:
    """How a question or a search is to be run."""

    top_k: Annotated[
        int | None,
        query_option(
            "--top-k -k", "Hits of a search; sources an answer has for sure.", min=1, max=100
        ),
    ] = None
    connected: Annotated[
        int | None, query_option("--connected", "Connected notes at most.", min=0, max=20)
    ] = None
    order: Annotated[
        Literal["context", "rank"] | None,
        query_option(
            "--order", "Connected notes by likeness to the query, or by order of the sources."
        ),
    ] = None
    direction: Annotated[
        Literal["forward", "backward", "both"] | None,
        query_option("--direction", "Which links are followed."),
    ] = None
    intent: Annotated[
        Literal["auto", "none", "status", "discovery", "concept", "person", "timeline"] | None,
        query_option(
            "--intent",
            "What you are after, where the query does not say it; auto reads it from the query.",
        ),
    ] = None
    second_look: Annotated[
        bool | None,
        query_option(
            "--second-look/--no-second-look",
            "Ask again with what was found; by itself where a language model answers.",
        ),
    ] = None
    explain: Annotated[
        bool, query_option("--explain", "Show how each signal ranked each source, and why.")
    ] = False

    def query(
        self,
        model: type[QueryT],
        text: str,
        filters: FilterOptions,
        literal: bool,
        **more: Any,
    ) -> QueryT:
        """The query that the options describe.

        :param more: fields that only this model has.
        :raises QueryError: if an option has a wrong value.
        """
        from notehop.app.models import as_query

        options = {
            "top_k": self.top_k,
            "connected": {
                "max": self.connected,
                "order": self.order,
                "direction": self.direction,
            },
            "intent": self.intent,
            "second_look": self.second_look,
            "explain": self.explain,
            "filters": filters.given(),
            "literal": literal,
        }
        return as_query(model, text, {**options, **more})


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """What notes must have."""

    tag: Annotated[
        list[str] | None,
        filter_option("--tag", "Notes with this tag, or one nested in it; may be repeated.", "TAG"),
    ] = None
    path: Annotated[
        list[str] | None,
        filter_option(
            "--path",
            "Notes in this folder, or that a glob takes; repeated: in any of them.",
            "FOLDER",
        ),
    ] = None
    after: Annotated[
        str | None,
        filter_option(
            "--after",
            "Notes from this day on: 2026-10-07, 2026-10, today, 7d, 2w, 3m, 1y.",
            "DATE",
        ),
    ] = None
    before: Annotated[
        str | None, filter_option("--before", "Notes from before this day.", "DATE")
    ] = None
    type: Annotated[
        list[str] | None,
        filter_option("--type", "Notes of this page type; repeated: of any of them.", "TYPE"),
    ] = None

    def given(self) -> dict[str, Any]:
        """Those that were given, as fields of :class:`notehop.app.models.Filters`."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name))}


LiteralOption = Annotated[
    bool,
    filter_option("--literal", "Take the query as it stands: no filters and no phrases in it."),
]

_NEGATED = re.compile(r"-(?:[\"“]|[^\W\d_][\w.-]+:.)")
_UNQUOTED = re.compile(r"(-?[^\W\d_][\w.-]+:)([^\s\"“][^\"“]*\s[^\"“]*)")


class QueryCommand(TyperCommand):
    """A command whose words may begin with a hyphen, if they are filters: ``-path:Archive``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; a blank keeps a negated filter from being taken for an option."""
        return super().parse_args(ctx, [f" {a}" if _NEGATED.match(a) else a for a in args])


def words(given: Sequence[str]) -> str:
    """A query that was not quoted is a list of words.

    Of ``path:"Hollin Reach" budget`` a shell leaves the blank but not the quotes: they are put back
    where there are several words.
    """
    if len(given) > 1:
        given = [_UNQUOTED.sub(r'\1"\2"', word) if ":" in word else word for word in given]
    return " ".join(given).strip()


def with_options(
    run: Callable[..., None], *, leave_out: Collection[str] = ()
) -> Callable[..., None]:
    """A command for typer, in which each parameter that is a dataclass is an option a field.

    What is given of :class:`Common` on both sides of the command's name is one.

    :param leave_out: fields that are no options of this command.
    """
    keyword = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    spread = [keyword("ctx", annotation=typer.Context)]
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    for name, one in inspect.signature(run, eval_str=True).parameters.items():
        kind = one.annotation
        if not is_dataclass(kind):
            spread.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        assert isinstance(kind, type)
        hints = get_type_hints(kind, include_extras=True)
        members = [field for field in fields(kind) if field.name not in leave_out]
        groups[name] = kind, [field.name for field in members]
        spread += [
            keyword(field.name, default=field.default, annotation=hints[field.name])
            for field in members
        ]

    @wraps(run)
    def command(ctx: typer.Context, **given: Any) -> None:
        for name, (kind, members) in groups.items():
            group = kind(**{member: given.pop(member) for member in members})
            given[name] = _merged(ctx, group) if isinstance(group, Common) else group
        run(**given)

    del command.__wrapped__
    command.__signature__ = inspect.Signature(spread)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in spread}
    return command


def _merged(ctx: typer.Context, given: Common) -> Common:
    """The options of this call, from both sides of the command's name."""
    outer = ctx.obj if isinstance(ctx.obj, Common) else Common()
    merged = given.over(outer)
    ctx.obj = ctx.find_root().obj = merged
    if merged.debug:
        # Parameters for behind the name of the command, after the log was set up.
        logging.getLogger().setLevel(logging.DEBUG)
    return merged
