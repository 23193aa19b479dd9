"""Shows to a person what a command found; of an answer evidence first, context apart from it, then how it
came about.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from notehop.app import models
from notehop.app.cli.output import headline, show, show_first, show_line, warn
from notehop.app.models.reply_text import uncited_sources
from notehop.indexing.display import ago, counted, location, on_one_line, printable, shown_size, shown_time
from notehop.indexing.report import Report, numbered, report_lines, warning_lines
from notehop.indexing.vault.plain import flat

if TYPE_CHECKING:
    from notehop.app.services.doctor import BrokenLinks, DoctorReport, IndexCheck
    from notehop.indexing.graph.resolve import ResolvedLink

SUPPORT = {"high": "supported", "partial": "supported in part", "none": "not supported"}

QUOTED, SNIPPET = 200, 280
"""Characters of a quote and of a hit that are shown; `--json` has all of them. Words of a query are looked
for in the first of these, so that something follows them."""


def show_answer(answer: models.Answer, *, written: bool = False) -> None:
    """Print an answer, unless it was written already, what it cites and how far that supports it, and the
    connected notes.
    """
    _searched(answer)
    if not written:
        show(answer.answer)
    if answer.model is not None:
        show_line(f"— written by {answer.model}", style="dim")
    doubts = [claim for claim in answer.claims if claim.doubt]
    if doubts:
        headline("Check these sentences", "the notes do not bear them out")
    for claim in doubts:
        show(f"[?] {_cut(claim.text, QUOTED)}", style="yellow")
        show_line(claim.doubt, indent=4, style="dim")
    if answer.citations:
        headline("Citations")
    for citation in answer.citations:
        quoted = citation.quote_lines or citation.lines
        _show_source(citation.model_copy(update={"lines": quoted}))
        # Where an answer is made of quotes, they stand there already.
        if citation.support is not None and answer.mode != "extractive":
            said = f": “{_cut(citation.quote, QUOTED)}”" if citation.quote else ""
            show(SUPPORT[citation.support] + said, indent=4)
    if others := uncited_sources(answer):
        headline("Also found" if answer.citations else "Found", "not cited")
    for source in others:
        _show_source(source)
    if answer.left_out:
        headline("Left out", "the language model had no room for it")
    for one in answer.left_out:
        _show_place(f"[{one.marker.strip('[]')}]", one, f"{one.tokens:,} tokens")
    _close(answer, answer.sources)


def show_hits(result: models.SearchResult, query: str = "", *, scores: bool = False) -> None:
    """Print the hits of a search, with what of each has most words of the query, and connected notes."""
    _searched(result)
    query = " ".join((query, *result.searched_for.values()))
    if not result.hits:
        show("Nothing in the vault matches.")
    for number, hit in enumerate(result.hits):
        if number:
            show("")
        _show_source(hit, scores=scores)
        show(_snippet(hit.text, query), indent=4, style="dim")
    _close(result, result.hits)


_BEGINS = re.compile(r"\A|\n|(?<=[.!?…])\s")  # a line, or a sentence of one


def _snippet(text: str, query: str) -> str:
    """What has most words of a query, from a line or sentence on; the first where several do."""
    from notehop.indexing.tokens.tokenizer import Tokenizer
    from notehop.indexing.tokens.words import detect_language

    tokens = Tokenizer(detect_language([query, text]))
    wanted = frozenset(tokens.query(query))
    shown = (_cut(flat(text[one.end() :]), SNIPPET) for one in _BEGINS.finditer(text))
    return max(shown, key=lambda one: len(wanted.intersection(tokens(one[:QUOTED]))))


def _cut(text: str, most: int) -> str:
    """The beginning of a text on one line, cut between words."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[:most].rsplit(" ", 1)[0] + " …"


def _searched(reply: models.Reply) -> None:
    """Say what was searched for, where that is not what was typed."""
    if reply.searched_for:
        told = ", ".join(f"{new} (for {old})" for old, new in reply.searched_for.items())
        show_line(f"searched for {told}", style="yellow")


def _show_source(source: models.Source, *, scores: bool = False) -> None:
    told = [f"relevance {source.relevance:.2f}"] if scores and source.relevance is not None else []
    told += ["weak match"] if source.weak else []
    if source.second_look:
        told.append(f"found by way of {source.second_look.title}")
    _show_place(source.marker, source, ", ".join(told))


def _show_place(
    marker: str, place: models.Source | models.ConnectedNote | models.LeftOut, more: str = ""
) -> None:
    where = location(place.path, place.lines, place.heading)
    title = " > ".join(filter(None, (place.title, place.heading)))
    show_line(f"{marker} {title}  {where}{f'  {more}' if more else ''}", style="bold")


def _close(reply: models.Reply, sources: Sequence[models.Source]) -> None:
    if reply.connected_notes:
        headline("Connected notes", "context, not evidence")
    for note in reply.connected_notes:
        _show_place(f"[{note.label}]", note)
        show(_cut(note.reason, SNIPPET), indent=5, style="dim")
    if (told := reply.explanation) is not None:
        # As JSON: intent, votes of each signal, why notes are connected.
        headline("How this was found")
        kept = {"score", "signals", "rerank", "expanded_from", "held_back"}
        each = {one.marker: one.model_dump(include=kept, exclude_none=True) for one in sources}
        each |= {note.label: note.evidence or {} for note in reply.connected_notes}
        facts = {**told.model_dump(exclude_none=True), **each, "timings_ms": reply.timings_ms}
        show(json.dumps(facts, ensure_ascii=False, indent=1))
    if reply.filters:
        show_line(f"filters: {' '.join(reply.filters)}", style="dim")


ReplyT = TypeVar("ReplyT", bound=BaseModel)

WHOLE = 1_000_000  # tokens: all of it


def as_text(write: Callable[[ReplyT, int], str]) -> Callable[[ReplyT], None]:
    """Shows a reply as agents read it; what it warns of is said beside it."""
    return lambda found: show(write(found.model_copy(update={"warnings": [], "pending": None}), WHOLE))


def show_themes(found: models.ThemesResult) -> None:
    """Print each theme with its summary and its first notes; then what is in none."""
    if not found.themes:
        show("No theme is left." if found.filters else "The links make no themes.")
    for theme in found.themes:
        headline(theme.name, counted(theme.count, "note"))
        if theme.summary:
            show(theme.summary, indent=4)
        show_line("; ".join(note.title for note in theme.notes), indent=4, style="dim")
    rest = (
        (found.total - len(found.themes), f"more, shown with --max {found.total}"),
        (found.small, "in groups too small to be themes"),
        (found.unlinked, "that no link connects with another"),
    )
    for count, what in rest:
        if count:
            show(f"\n{count:,} {what}", style="dim")


def as_values(found: ResolvedLink) -> dict[str, Any]:
    """A link as plain values; ``lines`` is the span that its fragment names."""
    link, resolution, span = found.link, found.resolution, found.span
    return {
        "source": found.source,
        "line": link.line,
        "raw": link.raw,
        "kind": link.kind,
        "status": resolution.status.value,
        "target": resolution.path,
        "fragment": link.fragment,
        "via": resolution.via,
        "display": link.display,
        "candidates": list(resolution.candidates),
        "fragment_found": found.fragment_found,
        "lines": [span.first_line, span.last_line] if span else None,
    }


def show_links(found: Sequence[ResolvedLink], leading: Sequence[ResolvedLink] | None) -> None:
    """Print a line a link, and a count by status; of one note also the links that are ``leading`` to it,
    each with its sentence."""
    for one in found:
        link, resolution = one.link, one.resolution
        target = " or ".join(resolution.candidates) or resolution.path or "?"
        target += f"#{link.fragment}" if resolution.path and link.fragment else ""
        missing = ", not found there" if one.fragment_found is False else ""
        about = f"{link.kind}, {resolution.status.value}{missing}"
        show_line(f"{one.source}:{link.line}  {' '.join(link.raw.split())} -> {target}  ({about})")
    counts = Counter(one.resolution.status.value for one in found)
    told = ", ".join(f"{count:,} {status}" for status, count in counts.most_common())
    show(f"\n{counted(len(found), 'link')}{f': {told}' if told else ''}")
    if leading is not None:
        headline(f"{counted(len(leading), 'link')} from other notes")
    for one in leading or ():
        said = one.link.sentence or f'property "{one.link.property}"'
        show_line(f"{one.source}:{one.link.line}  {said}")


def show_report(report: Report) -> None:
    """Print what the run did, what the index holds now, and why each note left out was left out."""
    for at, line in enumerate(report_lines(report)):
        show(line, style="" if at else "bold")
    warn(warning_lines(report))


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
    from notehop.indexing.tokens.words import NAMES

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
