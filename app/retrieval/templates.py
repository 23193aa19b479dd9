"""Templates, and chunks that say no more than one, are held back among the hits of a query."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore, QueryBundle

from notehop.app.retrieval.fusion import DISPATCH
from notehop.app.retrieval.nodes import VaultPostprocessor, noted
from notehop.app.retrieval.trace import view_for
from notehop.indexing.templates import line_keys, read_templates

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
    for line in text.splitlines():
        value = _DATES.sub("", line.partition(":")[2])
        if any(sign.isdigit() or unicodedata.category(sign) == "So" for sign in value):
            return False
    said = set(line_keys(text))
    return not said.isdisjoint(lines) and said <= {*lines, *line_keys(title)}


def held_back(
    hits: Iterable[tuple[NodeWithScore, str | None]], share: float
) -> list[NodeWithScore]:
    """Return the hits anew, ties as they came: those held back keep a share of their score and say
    why; a note that the query names exactly keeps its place.

    :param hits: best first, each with the reason to hold it back, None for none.
    """
    found: list[NodeWithScore] = []
    for hit, reason in hits:
        if reason is None or DISPATCH in hit.node.metadata.get("signals", {}):
            found.append(hit)
        else:
            score = hit.score or 0.0
            # That of a neighbour may be below nothing, and goes down all the same.
            lowered = score * share if score > 0 else score / share
            found.append(NodeWithScore(node=noted(hit.node, held_back=reason), score=lowered))
    return sorted(found, key=lambda hit: -(hit.score or 0.0))


class TemplatePostprocessor(VaultPostprocessor):
    """Holds back templates and passages that say no more than one, and drops those that are empty.

    A hit that is held back keeps ``share`` of its score and says why in ``metadata["held_back"]``.
    None is for a query that asks for templates.
    """

    view: Any = Field(exclude=True, description="A ViewSource: the index.")
    vault: Path = Field(description="The folder of the notes.")
    share: float = Field(default=0.5, gt=0, le=1, description="What its score keeps of a template.")
    top_n: int = Field(default=sys.maxsize, ge=0, description="Hits at most.")

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        view = view_for(query_bundle, self.view)
        chunks = view.chunks([hit.node.node_id for hit in nodes])
        hits = nodes
        text = "" if query_bundle is None else query_bundle.query_str
        if self.share < 1 and not asks_for_templates(text):
            templates = read_templates(self.vault)
            notes = view.notes_at({chunk.path for chunk in chunks.values()})
            reasons: dict[str, str] = {}
            for chunk in chunks.values():
                if templates.holds(chunk.path):
                    reasons[chunk.id] = TEMPLATE
                elif templates.lines:
                    title = notes[chunk.path].title if chunk.path in notes else ""
                    if is_skeleton(chunk.text, title, templates.lines):
                        reasons[chunk.id] = SKELETON
            hits = held_back([(hit, reasons.get(hit.node.node_id)) for hit in nodes], self.share)
        # The chunk of an empty note only stands for it.
        empty = {chunk.id for chunk in chunks.values() if not chunk.text.strip()}
        return [hit for hit in hits if hit.node.node_id not in empty][: self.top_n]


def templates_of(vault: Path, query: str) -> Callable[[str], bool]:
    """What tells of a path whether it is a template; of none for a query about templates."""
    if asks_for_templates(query):
        return lambda _: False
    return lambda path: read_templates(vault).holds(path)
