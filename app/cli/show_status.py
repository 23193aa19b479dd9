"""Shows the status of an index, what went to which host, and what the doctor found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from notehop.app import models
from notehop.app.cli.output import headline, show, show_first, show_line
from notehop.indexing.report import numbered
from notehop.indexing.shown import ago, counted, on_one_line, printable, shown_size, shown_time
from notehop.indexing.tokens.words import NAMES

if TYPE_CHECKING:
    from notehop.app.services.doctor import BrokenLinks, DoctorReport, IndexCheck

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


FINDINGS = 5  # findings of each kind that are shown; `notehop doctor KIND` lists all of one
NAMED = 3  # files that a finding names

_TITLES = {
    "unresolved": "Links that lead nowhere, and what they may mean",
    "fragments": "Links to headings or blocks that their note does not have",
    "ambiguous": "Links to a name that several files have",
    "warnings": "Notes that say something that cannot be read as meant",
    "orphans": "Notes that no link joins with another",
}


def show_doctor(report: DoctorReport, *, everything: bool, at: str) -> None:
    """Print all findings of a report, or the first of each kind only; ``at`` are the options by which the
    vault was named."""
    counts = ""
    if report.notes is not None and report.links is not None:
        counts = f": {counted(report.notes, 'note')}, {counted(report.links, 'link')}"
    show_line(report.name + counts, style="bold")
    if report.index is not None:
        _show_index(report.index)

    def shown(one: BrokenLinks | str) -> str:
        if isinstance(one, str):
            return one
        meant = f" -> {', '.join(_few(one.meant, NAMED))}" if one.meant else ""
        # The first place and how many there are, or all of them.
        where = one.places if everything else _few(one.places, 1)
        return f"{one.target}{meant}  {', '.join(where)}"

    parts = {kind: [shown(one) for one in getattr(report, kind) or ()] for kind in _TITLES}
    for kind, rows in parts.items():
        most = None if everything else FINDINGS
        show_first(_TITLES[kind], rows, most, f"all of them: notehop doctor {kind}{at}")
    if counts and not any(parts.values()):
        headline("Links, names and notes", "nothing to mend")
    # A rebuild repairs what a run does too.
    if report.index is not None and report.index.findings:
        command = max((one.command for one in report.index.findings), key=len)
        show(f"\nTo repair the index, run: {command}{'' if 'NEW_FOLDER' in command else at}")


def _show_index(check: IndexCheck) -> None:
    wrong = sum(one.broken for one in check.findings)
    state = f"{counted(wrong, 'part')} broken" if wrong else "sound"
    state += "" if check.generation is None else f", generation {check.generation}"
    state += f", {counted(check.pending, 'note')} changed since" if check.pending else ""
    headline("Index", state if check.exists else "none yet; run: notehop index")
    for one in check.findings:
        show_line(f"{one.part}: {one.problem}", indent=2, style="red" if one.broken else "yellow")
    for said in check.not_done:
        show_line(f"not checked  {said}", indent=2, style="yellow")


def _few(names: Sequence[str], most: int) -> list[str]:
    left = len(names) - most
    return [*names[:most], *([f"{left:,} more"] if left > 0 else [])]
