"""What a reply tells of how it came about: the intent, and the rest when the query asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from notehop.app.models import BaseQuery, Explanation
from notehop.app.retrieval.trace import Trace

THEMES = "themes"
"""The stage of a question about the whole vault, and what it is said to be after."""

OF_A_SOURCE = ("signals", "rerank", "expanded_from", "held_back")
"""The fields of a source that explain it."""


def explained(sources: Sequence[Mapping[str, Any]], asked: BaseQuery) -> list[Any]:
    """Sources with the record of their ranking only where the query asks for it."""
    if asked.explain:
        return list(sources)
    hidden = dict.fromkeys(OF_A_SOURCE)
    return [{**source, **hidden} for source in sources]


def told(trace: Trace, asked: BaseQuery) -> dict[str, Any]:
    """The fields of a reply that tell how the query was weighed."""
    plan = trace.plan
    if plan is None:
        return {"intent": THEMES} if THEMES in trace.counts else {}
    return {
        "intent": THEMES if THEMES in trace.counts else plan.reading.intent,
        "explanation": _explanation(trace) if asked.explain else None,
    }


def _explanation(trace: Trace) -> Explanation | None:
    plan = trace.plan
    if plan is None:
        return None
    rule = plan.reading.rule
    return Explanation(
        intent=plan.reading.intent,
        rule=None if rule is None else rule.phrase,
        about=plan.reading.about,
        subject=list(plan.subject),
        weights=dict(plan.weights.by_signal),
        reasons=list(plan.weights.reasons),
        rrf_k=plan.rrf_k,
        template_share=plan.template_share,
        counts={stage: dict(counts) for stage, counts in trace.counts.items()},
    )
