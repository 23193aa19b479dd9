"""Shows the status of an index or of a note, and what went to which host."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from notehop.app.cli.output import headline, show, styled, warn
from notehop.app.models import (
    EgressCall,
    EgressHost,
    EgressReport,
    EnrichmentNow,
    IndexStatus,
    Kept,
    LanguageModelNow,
    LastRun,
    NextRun,
    NoteStatusReport,
    StatusLink,
    VectorServerNow,
)
from notehop.indexing.enrich.report import numbered
from notehop.indexing.shown import ago, counted, on_one_line, shown_size, shown_time

NAMED = 3
"""Notes that are named of each call; `--json` has all of them."""


SHOWN = 20
"""Calls that a person is shown."""


def show_egress(told: EgressReport) -> None:
    """Print the hosts, then the newest calls."""
    if not told.hosts:
        show(styled("No call to a server of language models is on record."))
        show(styled((f"  {told.log}", "dim")))
        return
    away = [host for host in told.hosts if not host.local]
    if not away:
        show(styled(("Nothing left this machine.", "bold")))
    headline("Hosts")
    for host in told.hosts:
        _host(host)
    headline("Calls", f"newest first, {min(SHOWN, len(told.calls)):,} of {len(told.calls):,}")
    for call in told.calls[:SHOWN]:
        _call(call)
    show(styled((f"  all of them, with every note: --json; kept in {told.log}", "dim")))


def _host(host: EgressHost) -> None:
    name = f"{on_one_line(host.host)}{' (this machine)' if host.local else ''}"
    failed = f", {host.failed:,} failed" if host.failed else ""
    show(
        styled(
            (name, "bold"),
            f"  {counted(host.calls, 'call')}{failed}, {shown_size(host.bytes_out)} out, "
            f"{shown_size(host.bytes_in)} in",
            (f"  {shown_time(host.first)} to {shown_time(host.last)}", "dim"),
        ),
        indent=2,
    )


def _call(call: EgressCall) -> None:
    ended = "not over" if not call.over else call.error or "ok"
    took = f", {call.ms / 1000:.1f} s" if call.ms is not None else ""
    tried = f", try {call.attempt}" if call.attempt > 1 else ""
    show(
        styled(
            (f"{shown_time(call.time)}  ", "dim"),
            f"{on_one_line(call.host)}  {call.purpose}: {ended}{tried}{took}, "
            f"{shown_size(call.bytes_out)} out, {shown_size(call.bytes_in)} in",
        ),
        indent=2,
    )
    named = [on_one_line(path) for path in call.notes[:NAMED]]
    if more := len(call.notes) + call.more_notes - len(named):
        named.append(f"and {more:,} more")
    if named:
        show(styled((", ".join(named), "dim")), indent=4)


LISTED = 10
"""Notes or links that are shown of each kind; `--json` has all of them."""

RUN = "run: notehop index"

_DOES: Mapping[str, str] = {
    "read": "the next run indexes it as it is now",
    "leave_out": "the next run leaves it out",
    "fail": "the next run would fail on it",
    "forget": "its file is gone, and the next run forgets it",
}


def show_status(told: IndexStatus | NoteStatusReport) -> None:
    """Print what there is to say, the most important first."""
    if isinstance(told, IndexStatus):
        _index(told)
    else:
        _note(told)


def _index(told: IndexStatus) -> None:
    indexed = told.notes.get("indexed", 0)
    held = f"{counted(indexed, 'note')} in {counted(told.chunks, 'chunk')}"
    show(styled((on_one_line(told.name), "bold"), f": {held}"))
    _row("state", _state(told))
    _row("updated", f"{shown_time(told.updated)}, {ago(told.age)}, generation {told.generation}")
    if told.last_run is not None:
        _row("last run", _run(told.last_run))
        if told.last_run.error is not None:
            _row("", f"failed: {told.last_run.error}")
    if (watcher := told.watcher) is not None:
        detail = f": {watcher.detail}" if watcher.detail else ""
        who = f"{watcher.command}, process {watcher.pid}, since {shown_time(watcher.since)}"
        _row("followed", f"by {who}: {watcher.state}{detail}")
    if (writer := told.writer) is not None:
        _row("writing", f"{writer.command}, process {writer.pid} on {writer.host}")
    if (server := told.server) is not None:
        _row("server", f"{server.url}, process {server.pid}, since {shown_time(server.started)}")
    if told.llm is not None:
        _row("answers", _language_model(told.llm))
        if told.llm.problem is not None:
            _row("", told.llm.problem)
    if away := [host for host in told.egress if not host.local]:
        sent = ", ".join(f"{shown_size(one.bytes_out)} to {one.host}" for one in away)
        _row("sent", f"{sent}; the calls: notehop status --egress")
    if told.enrichment is not None:
        _row("enriched", _enrichment(told.enrichment))
        if told.enrichment.stopped is not None:
            _row("", f"stopped: {told.enrichment.stopped}")
    _row("links", _counts(told.links) or "none")
    _row("model", f"{told.made_with.get('model')}, {told.made_with.get('dimensions')} dimensions")
    if told.shared_model is not None:
        _row("", f"for queries in {told.shared_model}, shared by all indexes")
    _row("words", f"language {told.made_with.get('language')}")
    _row("vault", told.vault)
    _row("index", told.index_dir)
    if not told.catalog.startswith(told.index_dir):
        _row("catalog", told.catalog)
    largest = sorted(told.sizes.items(), key=lambda item: (-item[1], item[0]))
    sizes = ", ".join(f"{name} {shown_size(count)}" for name, count in largest if count)
    _row("size", f"{shown_size(told.bytes)}: {sizes}")
    if (asked := told.vector_server) is not None:
        _row("vectors", _vector_server(asked, told.generation))
        if asked.problem is not None:
            _row("", f"{asked.problem}; searches compare every vector meanwhile")
    if told.chroma_generation is not None:
        newest = told.chroma_generation == told.generation
        more = "" if newest else f" of {told.generation}; `notehop index` brings it up"
        _row("chroma", f"a copy for other programs, of generation {told.chroma_generation}{more}")
    _row("settings", told.settings_file)
    _kept("Skipped", told.skipped)
    _kept("Failed", told.failed)
    _kept("Passed over", told.passed_over)
    if told.enrichment is not None:
        what = {"summary": "summary", "header": "header of a passage", "extract": "extract"}
        failed = [
            Kept(path=one.path, reason=f"{what[one.kind]}: {one.reason}")
            for one in told.enrichment.failed
        ]
        _kept("Not written", failed)


def _vector_server(now: VectorServerNow, generation: int) -> str:
    told = [f"at {now.url}, collection {now.collection}"]
    if now.problem is None and now.generation is None:
        told.append("not filled yet; `notehop index` does so")
    elif now.generation is not None:
        behind = now.generation != generation
        more = f" of {generation}; `notehop index` brings it up" if behind else ""
        told.append(f"generation {now.generation}{more}")
    if now.recall is not None:
        told.append(f"{100 * now.recall:.1f} % of the nearest passages are among its candidates")
    return ", ".join(told)


def _enrichment(now: EnrichmentNow) -> str:
    told = [
        f"{one.have:,} of {numbered(one.have + one.lack, one.kind)}"
        if one.lack
        else numbered(one.have, one.kind)
        for one in now.texts
    ]
    waiting = sum(one.lack for one in now.texts) - len(now.failed)
    if left := _counts({"waiting": waiting, "failed": len(now.failed)}):
        told.append(left)
    return ", ".join(told) or f"nothing yet; {RUN}"


def _language_model(llm: LanguageModelNow) -> str:
    where = "in this process" if llm.host is None else f"at {llm.host}"
    whose = "" if llm.host is None else (" (this machine)" if llm.local else "")
    if not llm.allowed:
        whose = ", which is not allowed"
    return f"{llm.model or 'no model'} of {llm.provider} {where}{whose}"


def _state(told: IndexStatus) -> str:
    if told.problem is not None:
        return told.problem
    if told.pending is None:
        return "the vault cannot be looked at"
    pending = told.pending
    said = _counts(
        {"to read": pending.read, "to leave out": pending.skip, "to forget": pending.gone}
    )
    if not said:
        return "up to date"
    followed = told.watcher is not None and told.watcher.state in ("indexing", "following")
    return f"changed since: {said}" + ("" if followed else f"; {RUN}")


def _run(run: LastRun) -> str:
    did = ("added", "changed", "moved", "deleted")
    said = _counts({name: getattr(run, name) for name in did})
    slowest = sorted(run.seconds.items(), key=lambda item: (-item[1], item[0]))
    stages = ", ".join(
        f"{name} {seconds:.1f} s" for name, seconds in slowest if name != "total" and seconds >= 0.1
    )
    took = f"{run.ended - run.started:.1f} s" + (f" ({stages})" if stages else "")
    return f"{shown_time(run.ended)}, {run.command}, {said or 'nothing changed'}, {took}"


def _note(told: NoteStatusReport) -> None:
    show(styled((on_one_line(told.title), "bold"), f"  {on_one_line(told.path)}"))
    status = "not in the index" if told.status == "absent" else told.status
    _row("state", status + (f": {told.reason}" if told.reason else ""))
    if told.next_run is not None:
        _row("file", _coming(told.next_run, told.reason))
    if told.modified is not None:
        _row("modified", shown_time(told.modified))
    for name, values in (("aliases", told.aliases), ("tags", told.tags)):
        if values:
            _row(name, ", ".join(values))
    if told.chunks:
        headline("Chunks")
    for chunk in told.chunks:
        show(
            styled(
                (f"{chunk.lines[0]}-{chunk.lines[1]}", "dim"), f"  {on_one_line(chunk.heading)}"
            ),
            indent=2,
        )
    _links("Links", told.links, lambda link: f"{link.raw} -> {link.target or link.status}")
    _links("Linked from", told.backlinks, lambda link: f"{link.source}: {link.raw}")
    warn(told.warnings)


def _coming(run: NextRun, known: str | None) -> str:
    reason = f": {run.reason}" if run.reason and run.reason != known else ""
    return f"{_DOES[run.does]}{reason}" + ("" if run.does == "fail" else f"; {RUN}")


def _links(name: str, links: list[StatusLink], line: Callable[[StatusLink], str]) -> None:
    if not links:
        return
    headline(name, f"{len(links):,}")
    for link in links[:LISTED]:
        show(styled((f"{link.line:>5}  ", "dim"), on_one_line(line(link))))
    _more(len(links))


def _kept(name: str, notes: list[Kept]) -> None:
    if not notes:
        return
    headline(name, f"{len(notes):,}")
    for note in notes[:LISTED]:
        path, reason = on_one_line(note.path), on_one_line(note.reason)
        show(styled(path, (f"  {reason}", "dim")), indent=2)
    _more(len(notes))


def _more(count: int) -> None:
    if count > LISTED:
        show(styled((f"and {count - LISTED:,} more; --json lists all", "dim")), indent=2)


def _row(name: str, value: str) -> None:
    show(styled((f"  {name:<9}", "dim"), on_one_line(value)))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count > 0)
