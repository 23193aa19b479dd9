"""``python -m indexing VAULT``: the index run without the rest of notehop.

Touches: vault-read, index, model, terminal.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from config import load_settings
from config.errors import NotehopError, UsageError


def main(arguments: list[str] | None = None) -> int:
    """Index a vault; returns the exit code that ``notehop index`` gives: 0, 1, 2 or 130."""
    parser = argparse.ArgumentParser(
        prog="python -m indexing", description="Build the index of a vault, or bring it up to date."
    )
    parser.add_argument("vault", type=Path, metavar="VAULT", help="folder of the vault")
    parser.add_argument("--index-dir", type=Path, metavar="PATH", help="folder of its index")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file")
    parser.add_argument("--rebuild", action="store_true", help="forget the index and start afresh")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A name of the vault may hold what the terminal's encoding cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        _index(options)
    except NotehopError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return 2 if isinstance(exc, UsageError) else 1
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        return 130
    return 0


def _index(options: argparse.Namespace) -> None:
    from indexing.pipeline import Indexer
    from indexing.report_lines import report_lines, warning_lines
    from indexing.stores.layout import IndexLayout, index_dir_for
    from indexing.terminal import terminal_progress
    from indexing.vault.walk import vault_folder

    vault = vault_folder(options.vault)
    settings = load_settings(vault=vault, config_file=options.config)
    layout = IndexLayout(index_dir_for(vault, options.index_dir or settings.index.dir))
    report = Indexer(vault, settings, layout, terminal_progress()).run(rebuild=options.rebuild)
    if options.json:
        sys.stdout.write(json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n")
        return
    sys.stdout.writelines(f"{line}\n" for line in report_lines(report))
    sys.stderr.writelines(f"warning: {line}\n" for line in warning_lines(report))


if __name__ == "__main__":
    sys.exit(main())
