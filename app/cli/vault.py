"""``notehop index``, ``links``, ``capture``, ``status``, ``doctor``, ``models``, ``plugin``: a vault and
its index.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

import typer

from notehop.app.cli.options import VAULT, Common, argument, option
from notehop.app.cli.output import print_json, say, show, warn
from notehop.config.errors import UsageError
from notehop.indexing import index_vault
from notehop.indexing.display import printable

if TYPE_CHECKING:
    from notehop.app.services.open_vault import Place

DoctorKind = Literal["index", "unresolved", "fragments", "ambiguous", "warnings", "orphans"]


def index(
    options: Common,
    folder: Path | None = VAULT,
    rebuild: bool = option(False, "--rebuild", "Forget the index and start afresh."),
    allow_mass_delete: bool = option(
        False, "--allow-mass-delete", "Forget notes even if most of them are gone."
    ),
    yes: bool = option(False, "--yes", "Agree beforehand to what enrichment costs, up to its budget."),
    watch: bool = option(False, "--watch", "Then follow the vault as it changes, until Ctrl-C."),
    device: str | None = option(None, "--device", "Embed on: auto, cpu, cuda or mps.", "DEVICE"),
    ray: str | None = option(
        None, "--ray", "Embed on a Ray cluster: HOST:PORT, ray://HOST:PORT or auto.", "ADDRESS"
    ),
) -> None:
    """Build the index of a vault, or bring it up to date."""
    options = options.with_vault(folder)
    if ray is not None and watch:
        raise UsageError("--ray is for one run: leave --watch out, and follow the vault after it")
    from notehop.indexing.enrich.enricher import agreement
    from notehop.indexing.report import TextProgress

    place = options.place({"embedding.device": device})
    report = index_vault(
        place.vault,
        index_dir=place.layout.root,
        settings=place.settings,
        progress=TextProgress(),
        rebuild=rebuild,
        allow_mass_delete=allow_mass_delete,
        ray=ray,
        agree=agreement(yes=yes),
        command="notehop index",
    )
    from notehop.app.cli.show import show_report
    from notehop.indexing.report import Update, news_line

    if options.json:
        print_json(report.as_json())
    else:
        show_report(report)
    if watch:
        from notehop.indexing.watch.service import follow, stop_signal

        def tell(news: Update | str) -> None:
            typer.echo(news_line(news), err=True)

        sys.stdout.flush()
        typer.echo(f"following {place.vault} (Ctrl-C stops it)", err=True)
        where = place.vault, place.layout, "notehop index --watch", tell, stop_signal()
        follow(*where, config_file=options.config, device=device)
    elif report.generation == 1 and report.added and not options.json:
        # What a first index is for.
        first_steps = printable(
            f'next: notehop ask "…" {place.options}  asks your notes a question\n'
            f"next: notehop serve {place.options}  opens them in your browser and keeps the index up to date"
        )
        typer.echo(first_steps, err=True)


_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]|&#6553[45];")
"""Characters that may stand in a note and in no XML, as they come out of networkx."""


def links(
    options: Common,
    note: str | None = argument(None, "[NOTE]", "A note of the vault; none: all of them."),
    graph: Literal["graphml", "json"] | None = option(
        None, "--format", "Print the graph of the index's notes and links instead, for graph tools."
    ),
) -> None:
    """List every link with its line, kind and target, of a note also those to it; needs no index."""
    place = options.place()
    if graph is not None:
        if note is not None:
            raise UsageError(f"{note}: --format is for a whole vault; leave the note out")
        if options.json and graph != "json":
            raise UsageError(f"--json and --format {graph} are two outputs; leave one out")
        _print_graph(place, graph)
        return
    from notehop.app.cli.show import as_values, show_links
    from notehop.app.services.links import list_links

    found, leading, problems = list_links(place, note)
    if options.json:
        print_json([as_values(link) for link in (*found, *leading)])
    else:
        show_links(found, None if note is None else leading)
    warn([f"{path}: {reason}" for path, reason in problems])


def _print_graph(place: Place, how: Literal["graphml", "json"]) -> None:
    import networkx as nx

    from notehop.app.services.open_vault import open_place

    with open_place(place) as vault:
        graph = vault.graph()
    for *_, told in graph.edges(data=True):
        del told["source_chunk"], told["target_chunk"]  # ids mean nothing outside of the index
    if how == "json":
        print_json(nx.node_link_data(graph, edges="edges"))
        return
    for told in (data for *_, data in (*graph.nodes(data=True), *graph.edges(data=True))):
        # GraphML has plain values only.
        if "tags" in told:
            told["tags"] = ", ".join(told["tags"])
        for key in [key for key, value in told.items() if value is None]:
            del told[key]
    sys.stdout.writelines(
        f"{_NOT_XML.sub('&#65533;', line)}\n" for line in nx.generate_graphml(graph, named_key_ids=True)
    )


def capture(
    options: Common,
    text: list[str] | None = argument(
        None, "TEXT", "What to keep, quoted or not; without it, standard input is read."
    ),
    title: str | None = option(None, "--title -t", "Its title; else its first line."),
    tag: list[str] | None = option(None, "--tag", "A tag; may be repeated.", "TAG"),
) -> None:
    """Keep a text as a new note in the inbox, and name the notes it has to do with."""
    place = options.place()
    said = " ".join(text or [])
    if not text or text == ["-"]:
        if not text and sys.stdin.isatty():
            raise UsageError("there is nothing to keep; write it after the command, or pipe it in")
        from notehop.indexing.vault.parse import decode

        said, _ = decode("standard input", sys.stdin.buffer.read())
    if not said.strip():
        raise UsageError("there is nothing to keep: the text is empty")
    from notehop.app.models import CaptureQuery, make_query
    from notehop.app.services.capture import capture_cold

    query = make_query(CaptureQuery, {"text": said, "title": title, "tags": tag or []})
    found = capture_cold(place, query)
    from notehop.app.models.reply_text import captured_text

    options.print(found, lambda captured: show(captured_text(captured)))


def status(
    options: Common, egress: bool = option(False, "--egress", "What went to which host for language models.")
) -> None:
    """Say what the index holds and whether it is up to date."""
    from notehop.app.cli.show import show_egress, show_status
    from notehop.app.services.status import egress_report, index_status

    place = options.place()
    if egress:
        options.print(egress_report(place), show_egress)
    else:
        options.print(index_status(place), show_status)


def doctor(
    options: Common, kind: DoctorKind | None = argument(None, "[KIND]", "List all of one kind.")
) -> None:
    """Say which links, names and notes need mending, and whether the index is sound."""
    from notehop.app.services.doctor import examine

    report = examine(options.place(), kind)
    from notehop.app.cli.show import show_doctor
    from notehop.app.problems import FAILED

    named = {"vault": options.vault, "index-dir": options.index_dir}
    at = "".join(f" --{one} {quote(str(path))}" for one, path in named.items() if path)
    options.print(report, partial(show_doctor, everything=kind is not None, at=at))
    if report.broken:
        raise typer.Exit(FAILED)


def models(
    options: Common,
    action: Literal["pull"] = argument(..., "pull", "Fetch a model."),  # noqa: ARG001
    name: str = argument(..., "NAME", "Its name there: org/model."),
) -> None:
    """Fetch an embedding model or a cross-encoder from its hub."""
    from notehop.indexing.embed import models as embed_models

    if name in (*embed_models.BUNDLED_NAMES, embed_models.MULTILINGUAL_NAME):
        raise UsageError(f"{name} comes with notehop or an extra of it: there is nothing to fetch")
    remote = embed_models.ask_hub(name)
    size = f"{remote.bytes / 1e6:,.1f} MB in {len(remote.files)} files"
    licence = f", licence {remote.licence}" if remote.licence else ""
    what = f"{remote.name} of {remote.hub}, commit {remote.commit[:12]}: {size}{licence}"
    say(f"{what}; to {embed_models.hub_cache()}")
    folder = embed_models.fetch_model(remote)

    next_step = "name it in rerank.model; or in embedding.model, then run: notehop index --rebuild"
    told = f"{remote.name} fetched: {folder}\nTo use it, {next_step}"
    options.print({**remote._asdict(), "folder": str(folder)}, lambda _: show(told))


def plugin(
    options: Common,
    action: Literal["install", "remove"] = argument(..., "install|remove", "Put it there, or take it away."),
    folder: Path | None = VAULT,
    yes: bool = option(False, "--yes", "Do not ask before."),
) -> None:
    """Put the side pane for Obsidian into a vault, below .obsidian/plugins/notehop, or take it away."""
    from notehop.app.services import plugin as plugins

    vault = options.with_vault(folder).place().vault
    before = plugins.plugin_state(vault)
    where = printable(str(before.folder))
    files = plugins.FILES if action == "install" else before.files
    if files and not yes:
        # Nothing is done where nobody can agree.
        done = "written to" if action == "install" else "deleted from"
        typer.echo(f"{', '.join(files)} will be {done} {where}.", err=True)
        if not sys.stdin.isatty():
            raise UsageError("nobody is here to agree; to go on without being asked, add --yes")
        typer.confirm("Go on?", abort=True, err=True)
    (plugins.install_plugin if action == "install" else plugins.remove_plugin)(vault)
    state = plugins.plugin_state(vault)
    told = f"{'removed from' if before.files else 'no plugin of notehop is in'} {where}"
    if state.version:
        told = (
            f"installed version {state.version} in {where}\n"
            "next, in Obsidian: Settings > Community plugins > enable notehop (restart the app if it is "
            f"not listed); and keep running: notehop serve --vault {quote(printable(str(vault)))}"
        )
    shown = {"folder": str(state.folder), "version": state.version}
    options.print(shown, lambda _: typer.echo(told))
