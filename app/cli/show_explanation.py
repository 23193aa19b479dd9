"""Shows how a reply came about: the intent, the votes of each signal, and why notes are connected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from notehop.app.cli.output import headline, out, show, show_table, styled
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
    reranked = any(source.rerank for source in sources)
    if sources:
        _show_votes(told, sources, reranked=reranked)
    if reranked:
        _show_table(
            ("", "rerank", "rank before"),
            (
                (source.marker, _number(record.get("score")), _rank(record.get("rank_before")))
                for source in sources
                for record in [source.rerank or {}]
            ),
        )
    # Hits of the recall expansion: the link that brought each.
    if links := {one.marker: one.expanded_from for one in sources if one.expanded_from}:
        keys = ("path", "line", "way", "depth", "edges")
        _show_table(
            ("", "by a link in", "line", "way", "links away", "links"),
            ((marker, *(_text(link.get(key)) for key in keys)) for marker, link in links.items()),
        )
    for source in sources:
        if source.held_back:
            reason, share = on_one_line(source.held_back), told.template_share
            kept = "" if share is None else f"; it keeps {share:g} of its score"
            show(styled((f"{source.marker} held back: {reason}{kept}", "dim")))
    if reply.connected_notes:
        _show_connected(reply.connected_notes)
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


def _show_votes(told: Explanation, sources: Sequence[Source], *, reranked: bool) -> None:
    """A row a source, a column a signal: rank, and score where the signal has one."""
    there = dict.fromkeys(name for source in sources for name in source.signals or ())
    names = [*(name for name in told.weights if name in there)]
    names += [name for name in there if name not in names]
    rows: list[list[str]] = []
    for source in sources:
        votes = source.signals or {}
        # The score that the fusion gave: the rerank puts its own in its place, and keeps that.
        fused = (source.rerank or {}).get("score_before") if reranked else source.score
        place = f"{source.path} > {source.heading}" if source.heading else source.path
        row = [source.marker, on_one_line(place), NONE if fused is None else f"{fused:.4f}"]
        rows.append([*row, *(_vote(votes.get(name) or {}) for name in names)])
    _show_table(("", "note", "score" if told.rrf_k is None else "fused", *names), rows)


def _vote(vote: dict[str, float | None]) -> str:
    score = vote.get("score")
    return _rank(vote.get("rank")) + ("" if score is None else f" ({score:.2f})")


def _show_connected(notes: Sequence[ConnectedNote]) -> None:
    rows: list[list[str]] = []
    for note in notes:
        evidence = note.evidence or {}
        keys = ("sentence_similarity", "target_similarity", "bar", "score")
        row = [
            note.label,
            f"{on_one_line(note.linked_from.path)}:{note.linked_from.line}",
            str(evidence.get("direction", NONE)),
            f"[{evidence.get('hit_rank', NONE)}]",
        ]
        rows.append([*row, *(_number(evidence.get(key)) for key in keys)])
    head = ("", "connected by", "way", "from source", "sentence", "note", "to reach", "score")
    _show_table(head, rows)


def _rank(value: float | None) -> str:
    return NONE if value is None else f"{value:.0f}."


def _number(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | int) else NONE


def _text(value: object) -> str:
    return NONE if value is None else on_one_line(str(value))


def _show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    width = out().width if out().is_terminal else WIDEST
    show_table(head, rows, read=(0, 1), width=width, folded=1)
