"""``python -m notehop.indexing VAULT``: the index run without the rest of notehop."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial
from pathlib import Path

from notehop.config import load_settings
from notehop.config.errors import NotehopError, UsageError
from notehop.indexing.stores.layout import IndexLayout, layout_for
from notehop.indexing.vault.walk import vault_folder


def main(arguments: list[str] | None = None) -> int:
    """Index a vault; returns the exit code that ``notehop index`` gives: 0, 1, 2 or 130."""
    itself = "python -m notehop.indexing"
    parser = argparse.ArgumentParser(
        prog=itself,
        description="Build the index of a vault, or bring it up to date. "
        "notehop index does the same, and can do more.",
    )
    parser.add_argument("vault", type=Path, metavar="VAULT", help="folder of the vault")
    parser.add_argument("--index-dir", type=Path, metavar="PATH", help="folder of its index")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file")
    parser.add_argument("--device", help="where to embed: auto, cpu, cuda or mps")
    # For a process that runs this one: follow at once, and end when standard input ends.
    parser.add_argument("--supervised", metavar="COMMAND", help=argparse.SUPPRESS)
    # Or do a part of what another command is for, by the name of that, and end so at once.
    parser.add_argument("--part-of", metavar="COMMAND", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A name of the vault may hold what the terminal's encoding cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = {"embedding.device": options.device}
    try:
        vault = vault_folder(options.vault)
        settings = load_settings(vault=vault, config_file=options.config, overrides=given)
        layout = layout_for(vault, settings, options.index_dir)
        if options.supervised is not None:
            _follow(options, vault, layout)
            return 0
        from notehop.indexing.pipeline import Indexer
        from notehop.indexing.process import when_input_ends
        from notehop.indexing.report import TextProgress, report_lines, warning_lines

        if options.part_of is not None:
            when_input_ends(partial(os._exit, 1))
        where = vault, settings, layout, TextProgress()
        # No model is asked for a server that follows: that is left to notehop index.
        report = Indexer(*where, command=options.part_of or itself).run()
        sys.stdout.writelines(f"{line}\n" for line in report_lines(report))
        sys.stderr.writelines(f"warning: {line}\n" for line in warning_lines(report))
    except NotehopError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return 2 if isinstance(exc, UsageError) else 1
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        return 130
    return 0


def _follow(options: argparse.Namespace, vault: Path, layout: IndexLayout) -> None:
    from notehop.indexing.process import when_input_ends
    from notehop.indexing.report import Update, news_line
    from notehop.indexing.watch.service import follow, stop_signal

    def notify(news: Update | str) -> None:
        # Where a server runs, only what is in the way is worth a line.
        if isinstance(news, str):
            sys.stderr.write(f"{news_line(news)}\n")

    stop = stop_signal()
    when_input_ends(stop.set)
    how = {"config_file": options.config, "device": options.device}
    follow(vault, layout, options.supervised, notify, stop, **how, stand_by=True)


if __name__ == "__main__":
    sys.exit(main())
