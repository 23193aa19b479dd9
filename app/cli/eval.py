"""``notehop eval``: how well retrieval does on golden sets, setting against setting.

Touches: vault-read, index, model, terminal; writes below the folders it is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import DebugOption, JsonOption, common, given_path
from config.errors import UsageError

NAME = "eval"


def run(
    ctx: typer.Context,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", parser=given_path, help="Folder of golden sets (vault and questions)."
        ),
    ],
    work: Annotated[
        Path,
        typer.Option(
            metavar="PATH", parser=given_path, help="Folder for unpacked vaults and their indexes."
        ),
    ] = Path("build/eval"),
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", parser=given_path, help="File to write the results to, as JSON."
        ),
    ] = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Measure which share of questions has every supporting note in the context."""
    options = common(ctx, None, None, None, as_json, debug)
    if options.vault or options.index_dir or options.config:
        raise UsageError(
            "eval brings its own vaults, indexes and settings: "
            "leave out --vault, --index-dir and --config"
        )
    import json

    from app.cli.output import print_json
    from app.cli.show_evaluation import show_evaluation
    from app.container.evaluating import evaluate
    from indexing.terminal import terminal_progress

    found = []
    for result in evaluate(data, work, terminal_progress()):
        found.append(result.as_json())
        if not options.json:
            show_evaluation(result)
    if options.json:
        print_json(found)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
