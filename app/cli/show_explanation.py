"""Shows how a reply came about: the intent, the votes of each signal, and why notes are connected."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from notehop.app.cli.output import headline, out, show, styled
from notehop.app.models import ConnectedNote, Explanation, Reply, SearchResult, Source
from notehop.indexing.shown import on_one_line

WIDEST = 160
"""Columns that a table may take where another program reads."""

NONE = "-"


def show_explanation(reply: Reply, sources: Sequence[Source]) -> None:
    """Print tables of how the sources were ranked; nothing unless the query asked to explain."""
    told = reply.explanation
    if told is None:
        return
    headline("How this was found")
    for name, value in _facts(told, searched=isinstance(reply, SearchResult)):
        show(styled((f"{name}: ", "dim"), on_one_line(value)))
    if sources:
        _print(_votes(told, sources))
    if any(source.rerank for source in sources):
        _print(_reranked(sources))
    if any(source.expanded_from for source in sources):
        _print(_expanded(sources))
    for source in sources:
        if source.held_back:
            reason, share = on_one_line(source.held_back), told.template_share
            kept = "" if share is None else f"; it keeps {share:g} of its score"
            show(styled((f"{source.marker} held back: {reason}{kept}", "dim")))
    if reply.connected_notes:
        _print(_connected(reply.connected_notes))
    for stage, counts in told.counts.items():
        if stage not in ("index", "fusion"):
            said = ", ".join(f"{name} {value}" for name, value in counts.items())
            show(styled((f"{stage}: {on_one_line(said)}", "dim")))
    times = ", ".join(f"{stage} {taken:.1f}" for stage, taken in reply.timings_ms.items())
    show(styled((f"milliseconds: {times}", "dim")))


def _facts(told: Explanation, *, searched: bool) -> list[tuple[str, str]]:
    facts = [("intent", told.intent + (f" (rule: {told.rule})" if told.rule else ""))]
    if told.intent != "none":
        facts.append(("about", told.about))
    if told.subject:
        facts.append(("subject", ", ".join(told.subject)))
    weights = ", ".join(f"{name} {weight:g}" for name, weight in told.weights.items() if weight)
    if weights:
        facts.append(("weights", weights))
    if told.rrf_k is not None:
        by_relevance = searched and told.intent == "none"
        added = "; of the first ten with their relevance" if by_relevance else ""
        facts.append(("fused", f"the sum of weight / ({told.rrf_k} + rank){added}"))
    return [*facts, *(("because", reason) for reason in told.reasons)]


def _votes(told: Explanation, sources: Sequence[Source]) -> Table:
    """A row a source, a column a signal: rank, and score where the signal has one."""
    there = dict.fromkeys(name for source in sources for name in source.signals or ())
    names = [*(name for name in told.weights if name in there)]
    names += [name for name in there if name not in names]
    table = _table("", "note", "score" if told.rrf_k is None else "fused", *names)
    reranked = any(source.rerank for source in sources)
    for source in sources:
        votes = source.signals or {}
        # The score that the fusion gave: the rerank puts its own in its place, and keeps that.
        fused = (source.rerank or {}).get("score_before") if reranked else source.score
        table.add_row(
            source.marker,
            on_one_line(f"{source.path} > {source.heading}" if source.heading else source.path),
            NONE if fused is None else f"{fused:.4f}",
            *(_vote(votes.get(name)) for name in names),
        )
    return table


def _vote(vote: dict[str, float | None] | None) -> str:
    if vote is None:
        return NONE
    rank, score = vote.get("rank"), vote.get("score")
    placed = NONE if rank is None else f"{rank:.0f}."
    return placed if score is None else f"{placed} ({score:.2f})"


def _reranked(sources: Sequence[Source]) -> Table:
    table = _table("", "rerank", "rank before")
    for source in sources:
        record = source.rerank or {}
        before = record.get("rank_before")
        table.add_row(
            source.marker,
            _number(record.get("score")),
            NONE if before is None else f"{before:.0f}.",
        )
    return table


def _expanded(sources: Sequence[Source]) -> Table:
    """Hits of the recall expansion: the link that brought each."""
    table = _table("", "by a link in", "line", "way", "links away", "links")
    for source in sources:
        record = source.expanded_from
        if record is not None:
            values = (record.get(name) for name in ("path", "line", "way", "depth", "edges"))
            table.add_row(
                source.marker, *(NONE if one is None else on_one_line(str(one)) for one in values)
            )
    return table


def _connected(notes: Sequence[ConnectedNote]) -> Table:
    table = _table(
        "", "connected by", "way", "from source", "sentence", "note", "to reach", "score"
    )
    for note in notes:
        evidence = note.evidence or {}
        table.add_row(
            note.label,
            f"{on_one_line(note.linked_from.path)}:{note.linked_from.line}",
            str(evidence.get("direction", NONE)),
            f"[{evidence.get('hit_rank', NONE)}]",
            *(
                _number(evidence.get(name))
                for name in ("sentence_similarity", "target_similarity", "bar", "score")
            ),
        )
    return table


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else NONE


def _table(*names: str) -> Table:
    """A table whose first two columns are read and whose others are compared."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for at, name in enumerate(names):
        table.add_column(
            name, justify="left" if at < 2 else "right", no_wrap=at != 1, overflow="fold"
        )
    return table


def _print(table: Table) -> None:
    width = out().width if out().is_terminal else WIDEST
    Console(width=width, highlight=False, markup=False, emoji=False).print(table)
