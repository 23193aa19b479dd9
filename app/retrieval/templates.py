"""Templates, and chunks that say no more than one, are held back among the hits of a query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.fusion import DISPATCH
from notehop.app.retrieval.nodes import noted
from notehop.app.retrieval.trace import Nodes, TracedQuery, VaultPostprocessor
from notehop.indexing.stores.reader import Snapshot
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
    only its ``title`` is none: a note kept in a hurry is called what it says.

    :param lines: of the vault's templates, as :func:`notehop.indexing.templates.line_keys` gives them.
    """
    for line in text.splitlines():
        value = _DATES.sub("", line.partition(":")[2])
        if any(sign.isdigit() or unicodedata.category(sign) == "So" for sign in value):
            return False
    said = set(line_keys(text))
    return not said.isdisjoint(lines) and said <= {*lines, *line_keys(title)}


def held_back(
    hits: Sequence[NodeWithScore], reasons: Mapping[str, str], share: float
) -> list[NodeWithScore]:
    """The hits anew, ties as they came: those with a reason, by id, keep a share of their score and say
    why; a note that the query names exactly keeps its place."""
    found: list[NodeWithScore] = []
    for hit in hits:
        if (reason := reasons.get(hit.node.node_id)) and DISPATCH not in hit.node.metadata.get(
            "signals", {}
        ):
            score = hit.score or 0.0
            # That of a neighbour may be below nothing, and goes down all the same.
            lowered = score * share if score > 0 else score / share
            hit = NodeWithScore(node=noted(hit.node, held_back=reason), score=lowered)
        found.append(hit)
    return sorted(found, key=lambda hit: -(hit.score or 0.0))


class TemplatePostprocessor(VaultPostprocessor):
    """Holds back templates and passages that say no more than one, and drops those that are empty.

    A hit that is held back keeps ``share`` of its score and says why in ``metadata["held_back"]``.
    None is for a query that asks for templates, nor what the query names exactly.
    """

    stage = "templates"

    vault: Path = Field(description="The folder of the notes.")
    share: float = Field(default=0.5, gt=0, le=1, description="What its score keeps of a template.")

    def process(self, hits: Nodes, query: TracedQuery, view: Snapshot) -> Nodes:
        chunks = view.chunks([hit.node.node_id for hit in hits])
        reasons: dict[str, str] = {}
        if self.share < 1 and not asks_for_templates(query.query_str):
            templates = read_templates(self.vault)
            notes = view.notes_at({chunk.path for chunk in chunks.values()})
            for chunk in chunks.values():
                title = notes[chunk.path].title if chunk.path in notes else ""
                if templates.holds(chunk.path):
                    reasons[chunk.id] = TEMPLATE
                elif templates.lines and is_skeleton(chunk.text, title, templates.lines):
                    reasons[chunk.id] = SKELETON
        # The chunk of an empty note only stands for it.
        empty = {chunk.id for chunk in chunks.values() if not chunk.text.strip()}
        if reasons:
            hits = held_back(hits, reasons, self.share)
        return [hit for hit in hits if hit.node.node_id not in empty]


def templates_of(vault: Path, query: str) -> Callable[[str], bool]:
    """What tells of a path whether it is a template; of none for a query about templates."""
    if asks_for_templates(query):
        return lambda _: False
    return read_templates(vault).holds
