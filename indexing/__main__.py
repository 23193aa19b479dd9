"""``python -m notehop.indexing VAULT``: the index run without the rest of notehop."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from notehop.config import Settings, load_settings
from notehop.config.errors import NotehopError, UsageError
from notehop.indexing.stores.layout import IndexLayout, layout_for
from notehop.indexing.vault.walk import vault_folder


def main(arguments: list[str] | None = None) -> int:
    """Index a vault; returns the exit code that ``notehop index`` gives: 0, 1, 2 or 130."""
    parser = argparse.ArgumentParser(
        prog="python -m notehop.indexing",
        description="Build the index of a vault, or bring it up to date.",
    )
    parser.add_argument("vault", type=Path, metavar="VAULT", help="folder of the vault")
    parser.add_argument("--index-dir", type=Path, metavar="PATH", help="folder of its index")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings file")
    parser.add_argument("--device", help="where to embed: auto, cpu, cuda or mps")
    # For a process that runs this one: follow at once, and end when standard input ends.
    parser.add_argument("--supervised", metavar="COMMAND", help=argparse.SUPPRESS)
    # And one that does a part of what another command is for goes by the name of that.
    parser.add_argument("--part-of", metavar="COMMAND", help=argparse.SUPPRESS)
    for switch, told in (
        ("--rebuild", "forget the index and start afresh"),
        ("--allow-mass-delete", "forget notes even if most are gone"),
        ("--yes", "agree beforehand to what enrichment costs, as far as its budget"),
        ("--watch", "then follow the vault as it changes"),
        ("--json", "print one JSON document; with --watch one on each line, for each change"),
    ):
        parser.add_argument(switch, action="store_true", help=told)
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        # A name of the vault may hold what the terminal's encoding cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    given = {} if options.device is None else {"embedding.device": options.device}
    try:
        vault = vault_folder(options.vault)
        settings = load_settings(vault=vault, config_file=options.config, overrides=given)
        layout = layout_for(vault, settings, options.index_dir)
        if options.supervised is None:
            _index(options, vault, settings, layout)
        if options.watch or options.supervised is not None:
            _follow(options, vault, layout)
    except NotehopError as exc:
        sys.stderr.write(f"error: {exc}\n")
        return 2 if isinstance(exc, UsageError) else 1
    except KeyboardInterrupt:
        sys.stderr.write("\nstopped\n")
        return 130
    return 0


def _index(
    options: argparse.Namespace, vault: Path, settings: Settings, layout: IndexLayout
) -> None:
    from notehop.indexing.enrich.enricher import agreement
    from notehop.indexing.pipeline import Indexer, index
    from notehop.indexing.report import news_writer, report_lines, terminal_progress, warning_lines

    where = vault, settings, layout, terminal_progress()
    how = {"rebuild": options.rebuild, "allow_mass_delete": options.allow_mass_delete}
    if options.part_of is None:
        agree = agreement(yes=options.yes)
        report = index(*where, command="python -m notehop.indexing", agree=agree, **how)
    else:
        # The process that this one does a part for has written about the notes what is missing.
        report = Indexer(*where, command=options.part_of).run(**how)
    if options.json and options.watch:
        news_writer(as_json=True)(report)
    elif options.json:
        sys.stdout.write(json.dumps(report.as_json(), ensure_ascii=False, indent=2) + "\n")
        return
    sys.stdout.writelines(f"{line}\n" for line in report_lines(report))
    sys.stderr.writelines(f"warning: {line}\n" for line in warning_lines(report))


def _follow(options: argparse.Namespace, vault: Path, layout: IndexLayout) -> None:
    from notehop.indexing.report import Update, news_writer
    from notehop.indexing.watch import service

    write = news_writer(as_json=options.json)

    def notify(news: Update | str) -> None:
        # Where a server runs, only what is in the way is worth a line.
        if options.json or options.supervised is None or isinstance(news, str):
            write(news)

    command = options.supervised or "python -m notehop.indexing --watch"
    what = service.Following(vault, layout, command, notify, options.config, options.device)
    with service.stopped_by_signals() as stop:
        if options.supervised is not None:
            service.when_input_ends(stop)
        service.follow(what, stop, stand_by=options.supervised is not None)


if __name__ == "__main__":
    sys.exit(main())
