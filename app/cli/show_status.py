"""Shows the status of an index, and what went to which host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from notehop.app import models
from notehop.app.cli.output import show, show_first, show_line
from notehop.indexing.report import numbered
from notehop.indexing.shown import ago, counted, on_one_line, printable, shown_size, shown_time
from notehop.indexing.tokens.words import NAMES

LISTED = 10  # notes of each kind; `--json` has all of them

RUN = "run: notehop index"

_TEXTS = {"summary": "summary", "header": "header of a passage"}


def show_egress(told: models.EgressReport) -> None:
    """Print what went to each host; the calls are for ``--json``."""
    if not told.hosts:
        show("No call to a server of language models is on record.")
    elif all(host.local for host in told.hosts):
        show("Nothing left this machine.", style="bold")
    for host in told.hosts:
        failed = f", {host.failed:,} failed" if host.failed else ""
        size = f"{shown_size(host.bytes_out)} out, {shown_size(host.bytes_in)} in"
        name = f"{host.host}{' (this machine)' if host.local else ''}"
        until = f"until {shown_time(host.last)}"
        show_line(f"{name}  {counted(host.calls, 'call')}{failed}, {size}, {until}")
    show(f"each call, with its notes: --json; kept in {told.log}", style="dim")


def show_status(told: models.IndexStatus) -> None:
    """Print what there is to say, the most important first."""
    held = f"{counted(told.notes.get('indexed', 0), 'note')} in {counted(told.chunks, 'chunk')}"
    show_line(f"{told.name}: {held}", style="bold")
    for about, value in _index_rows(told):
        if value:
            show_line(f"  {about:<9}{value}")
    kept = {"Skipped": told.skipped, "Failed": told.failed, "Passed over": told.passed_over}
    lists = {name: [f"{one.path}  {one.reason}" for one in notes] for name, notes in kept.items()}
    failed = told.enrichment.failed if told.enrichment is not None else []
    lists["Not written"] = [f"{one.path}  {_TEXTS[one.kind]}: {one.reason}" for one in failed]
    for name, rows in lists.items():
        show_first(name, rows, LISTED, "--json lists all")


def _index_rows(told: models.IndexStatus) -> Iterator[tuple[str, str | None]]:
    """What is said of an index: what it is about, "" where that was said above, and the text."""

    def copied(own: int | None) -> str:
        then = "" if own == told.generation else f"; {RUN}"
        return f"generation {own or 'none yet'}{then}"

    state = "the vault cannot be looked at"
    if (pending := told.pending) is not None:
        changes = {"to read": pending.read, "to leave out": pending.skip, "to forget": pending.gone}
        followed = told.watcher is not None and told.watcher.state in ("indexing", "following")
        said = _counts(changes)
        state = f"changed since: {said}{'' if followed else f'; {RUN}'}" if said else "up to date"
    yield "state", told.problem or state
    yield "updated", f"{shown_time(told.updated)}, {ago(told.age)}, generation {told.generation}"
    if (watcher := told.watcher) is not None:
        detail = f": {watcher.detail}" if watcher.detail else ""
        who = f"{watcher.command}, process {watcher.pid}, since {shown_time(watcher.since)}"
        yield "followed", f"by {who}: {watcher.state}{detail}"
    if (failure := told.failure) is not None:
        yield "failed", f"the last run: {printable(on_one_line(failure))}"
    if (writer := told.writer) is not None:
        yield "writing", f"{writer.command}, process {writer.pid} on {writer.host}"
    if (server := told.server) is not None:
        yield "server", f"{server.url}, process {server.pid}, since {shown_time(server.started)}"
    if (llm := told.llm) is not None:
        whose = " (this machine)" if llm.local else "" if llm.allowed else ", which is not allowed"
        where = "in this process" if llm.host is None else f"at {llm.host}{whose}"
        yield "answers", f"{llm.model or 'no model'} of {llm.provider} {where}"
        yield "", llm.problem
    if away := [host for host in told.egress if not host.local]:
        sent = ", ".join(f"{shown_size(one.bytes_out)} to {one.host}" for one in away)
        yield "sent", f"{sent}; the calls: notehop status --egress"
    if (enriched := told.enrichment) is not None:
        texts = [f"{numbered(one.have, one.kind)}, {one.lack:,} missing" for one in enriched.texts]
        yield "enriched", "; ".join(texts)
        yield "", enriched.stopped and f"stopped: {enriched.stopped}"
    made = told.made_with
    language = str(made.get("language"))
    model = f"{made.get('model')}, {made.get('dimensions')} dimensions"
    yield "links", _counts(told.links) or "none"
    yield "model", f"{model}, words as in {NAMES.get(language, language)}"
    yield "", told.shared_model and f"for queries in {told.shared_model}, shared by all indexes"
    yield "vault", told.vault
    yield "index", f"{told.index_dir}, {shown_size(told.bytes)}"
    yield "catalog", None if told.catalog.startswith(told.index_dir) else told.catalog
    if (asked := told.vector_server) is not None:
        unknown = asked.generation is None and asked.problem
        yield "vectors", f"at {asked.url}{'' if unknown else f', {copied(asked.generation)}'}"
        if asked.recall is not None:
            share = f"{100 * asked.recall:.1f} %"
            yield "", f"{share} of the nearest passages are among its candidates"
        yield "", asked.problem and f"{asked.problem}; searches compare every vector meanwhile"
    if told.chroma_generation is not None:
        yield "chroma", f"a copy for other programs, {copied(told.chroma_generation)}"
    there = Path(told.settings_file).is_file()
    yield "settings", f"{told.settings_file}{'' if there else ', not there yet'}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count > 0)
