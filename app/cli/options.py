"""The options that every command takes, before or after its name."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from notehop.config.errors import UsageError

if TYPE_CHECKING:
    from notehop.app.services.place import Place

PANEL = "Options of every command"


def given_path(text: str) -> Path:
    """A path from the command line; an empty one would silently mean the current folder.

    :raises typer.BadParameter: if it is empty.
    """
    if not text:
        raise typer.BadParameter("the path is empty (perhaps a shell variable that is not set)")
    return Path(text)


VaultOption = Annotated[
    Path | None,
    typer.Option(
        "--vault",
        help="Folder of the vault.",
        metavar="PATH",
        parser=given_path,
        rich_help_panel=PANEL,
    ),
]
IndexDirOption = Annotated[
    Path | None,
    typer.Option(
        "--index-dir",
        help="Folder of its index.",
        metavar="PATH",
        parser=given_path,
        rich_help_panel=PANEL,
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Settings file, read in place of yours.",
        metavar="FILE",
        parser=given_path,
        rich_help_panel=PANEL,
    ),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON document.", rich_help_panel=PANEL),
]
DebugOption = Annotated[
    bool,
    typer.Option("--debug", help="Show tracebacks of errors.", rich_help_panel=PANEL),
]


@dataclass(frozen=True, slots=True)
class Common:
    """The options of every command; None or False where they were not given."""

    vault: Path | None = None
    index_dir: Path | None = None
    config: Path | None = None
    json: bool = False
    debug: bool = False

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
        if self.vault is not None and not _same(self.vault, folder):
            raise UsageError(f"two vaults are named, {folder} and --vault {self.vault}; name one")
        return replace(self, vault=folder)

    def place(self, **overrides: Any) -> Place:
        """Find the vault, its settings and its index.

        :param overrides: settings by key with ``__`` for the dot (``retrieval__top_k=8``); None
            values are left out.
        """
        from notehop.app.services.place import locate

        return locate(
            self.vault,
            index_dir=self.index_dir,
            config_file=self.config,
            overrides=_dotted(overrides),
        )


def common(
    ctx: typer.Context,
    vault: Path | None,
    index_dir: Path | None,
    config: Path | None,
    as_json: bool,
    debug: bool,
) -> Common:
    """The options of this call, from both sides of the command's name."""
    outer = ctx.obj if isinstance(ctx.obj, Common) else Common()
    merged = Common(vault, index_dir, config, as_json, debug).over(outer)
    ctx.obj = merged
    root = ctx.find_root()
    root.obj = merged
    if merged.debug:
        # Asked for behind the name of the command, after the log was set up.
        logging.getLogger().setLevel(logging.DEBUG)
    return merged


def _same(one: Path, other: Path) -> bool:
    return one.expanduser().resolve() == other.expanduser().resolve()


def _dotted(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("__", "."): value for key, value in values.items() if value is not None}
