"""Templates, and chunks that say no more than one, are held back among the hits of a query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path

from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.fusion import DISPATCH
from notehop.app.retrieval.index_view import IndexView
from notehop.app.retrieval.nodes import noted
from notehop.indexing.stores.model import ChunkId
from notehop.indexing.templates import Templates, line_keys, read_templates

TEMPLATE = "it is a template"
SKELETON = "it says no more than a template"

_ASKED = re.compile(
    r"templat|vorlage|plantilla|gabarit|mod[èe]l[eo]|sjablo|шаблон|模[板版]|テンプレ|템플릿",
    re.IGNORECASE,
)


_DATES = re.compile(
    r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}(?::\d{2})?"
)
"""What fills in the date and time of a template by itself."""


def asks_for_templates(query: str) -> bool:
    """Whether a query is about templates themselves."""
    return _ASKED.search(query) is not None


def is_skeleton(text: str, title: str, lines: Collection[str]) -> bool:
    """Whether all that a chunk says stands in a template: headings and prompts, not filled in.

    A prompt with a number or a picture behind its colon is filled in (``Weight: 80.5``). What says
    its title and no more is none: a note kept in a hurry is called what it says.

    :param title: of its note, which often stands above it once more.
    :param lines: of the vault's templates, as :func:`notehop.indexing.templates.line_keys` gives them.
    """
    if any(map(_is_filled, text.splitlines())):
        return False
    said = set(line_keys(text))
    return not said.isdisjoint(lines) and said <= {*lines, *line_keys(title)}


def _is_filled(line: str) -> bool:
    value = _DATES.sub("", line.partition(":")[2])
    return any(sign.isdigit() or unicodedata.category(sign) == "So" for sign in value)


def held_back(
    hits: Iterable[tuple[NodeWithScore, str | None]], share: float
) -> Iterator[NodeWithScore]:
    """Yield the hits anew: those held back keep a share of their score, and say why.

    A note that the query names exactly keeps its place. No more hits are taken than are needed for
    those that are asked for.

    :param hits: best first, each with the reason to hold it back, None for none.
    :param share: above 0, to 1.
    :returns: best first; hits of equal score in the order given.
    """
    waiting: list[tuple[float, int, NodeWithScore]] = []
    for at, (hit, reason) in enumerate(hits):
        while waiting and -waiting[0][0] >= (hit.score or 0.0):
            yield heappop(waiting)[2]
        if reason is None or DISPATCH in hit.node.metadata.get("signals", {}):
            yield hit
        else:
            lower = _lowered(hit.score or 0.0, share)
            node = noted(hit.node, held_back=reason)
            heappush(waiting, (-lower, at, NodeWithScore(node=node, score=lower)))
    while waiting:
        yield heappop(waiting)[2]


def _lowered(score: float, share: float) -> float:
    # That of a neighbour may be below nothing, and goes down all the same.
    return score * share if score > 0 else score / share


_AT_ONCE = 8
"""Hits whose texts are read together: as many as a reply has places."""


def templates_last(
    hits: Iterator[NodeWithScore], query: str, view: IndexView, vault: Path, share: float
) -> Iterator[NodeWithScore]:
    """Return the hits with templates held back, unless the query is about templates.

    :param share: what their score keeps; 1 changes nothing.
    """
    if share == 1 or asks_for_templates(query):
        return hits
    return held_back(_with_reasons(hits, view, read_templates(vault)), share)


def _with_reasons(
    hits: Iterator[NodeWithScore], view: IndexView, templates: Templates
) -> Iterator[tuple[NodeWithScore, str | None]]:
    while some := list(islice(hits, _AT_ONCE)):
        why = _reasons([hit.node.node_id for hit in some], view, templates)
        for hit in some:
            yield hit, why.get(hit.node.node_id)


def _reasons(ids: Sequence[ChunkId], view: IndexView, templates: Templates) -> dict[ChunkId, str]:
    """Chunk -> the reason to hold it back, for those that have one."""
    why = {one: TEMPLATE for one in ids if templates.holds(view.path_of(one) or "")}
    if templates.lines:
        chunks = view.chunks(one for one in ids if one not in why)
        notes = view.notes_at({one.path for one in chunks.values()})
        why |= {
            one: SKELETON
            for one, chunk in chunks.items()
            if is_skeleton(
                chunk.text,
                notes[chunk.path].title if chunk.path in notes else "",
                templates.lines,
            )
        }
    return why


def templates_of(vault: Path, query: str) -> Callable[[str], bool]:
    """What tells of a path whether it is a template; of none for a query about templates."""
    if asks_for_templates(query):
        return lambda _: False
    return lambda path: read_templates(vault).holds(path)
