"""Owns what a connected note says about itself: where its link stands and why it was chosen."""

from __future__ import annotations

import re
from typing import Any

from notehop.app.retrieval.connected_order import Candidate, Order, Taken
from notehop.indexing.shown import on_one_line, without_marks
from notehop.indexing.vault.model import LinkKind

_SOURCE = re.compile(r"\A(links to|embedded in|linked from) source \d+, ")


def connection(
    taken: Taken, *, label: str, order: Order, near_id: str, near_title: str, far_title: str
) -> dict[str, Any]:
    """Return the metadata that makes a chunk a connected note.

    :param label: ``C1`` ...
    :param order: the order that chose it.
    :param near_id: id of the source's node.
    :param near_title: title of the source's note.
    :param far_title: title of the connected note.
    """
    candidate = taken.ranked.candidate
    link = candidate.link
    return {
        "role": "connected",
        "label": label,
        "linked_from": {
            "path": link.path,
            "title": near_title if candidate.forward else far_title,
            "line": link.line,
            "sentence": without_marks(link.sentence),
        },
        "reason": reason(candidate, near_title),
        "source_id": near_id,
        "evidence": {
            "order": order,
            "direction": "forward" if candidate.forward else "backward",
            "kind": link.kind,
            "hit_rank": candidate.hit_rank,
            "sentence_similarity": _rounded(candidate.sentence_similarity),
            "target_similarity": _rounded(candidate.target_similarity),
            "repeats": candidate.repeats,
            "score": _rounded(taken.ranked.score),
            "bar": _rounded(taken.bar),
        },
    }


def reason(candidate: Candidate, near_title: str) -> str:
    """Return in words which source the note hangs on, by which link, and how near it is.

    :param near_title: title of the source's note.
    """
    link = candidate.link
    source = f'source {candidate.hit_rank}, "{on_one_line(near_title)}"'
    if link.kind == LinkKind.PROPERTY:
        where = f'property "{on_one_line(link.property or "")}"'
    else:
        where = f"line {link.line}"
    if not candidate.forward:
        words = f"links to {source} ({where})"
    elif link.kind == LinkKind.EMBED:
        words = f"embedded in {source} ({where})"
    else:
        words = f"linked from {source} ({where})"
    if candidate.forward and link.fragment and link.fragment_found:
        words += f", at #{on_one_line(link.fragment)}"
    if link.sentence:
        words += f': "{without_marks(link.sentence)}"'
    near = [
        f"{name} {similarity:.2f}"
        for name, similarity in (
            ("sentence", candidate.sentence_similarity),
            ("note", candidate.target_similarity),
        )
        if similarity is not None
    ]
    return f"{words}; similarity to the query: {', '.join(near)}" if near else words


def renumbered(reason: str, number: int | None) -> str:
    """A reason with the number that its source has in a reply; None: the source is not in it."""
    source = f"source {number}, " if number else ""
    return _SOURCE.sub(rf"\g<1> {source}", reason)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
