"""A vault as an evaluation asks it: through the handle that every edge uses.

Touches: vault-read (names, sizes, times), index (reads), model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from notehop.app.answer.draft import QUOTED
from notehop.app.answer.material import CONNECTED, material_of
from notehop.app.evaluation.answer_sets import Replied
from notehop.app.evaluation.metrics import TOP, Answered
from notehop.app.evaluation.runner import Context
from notehop.app.retrieval.trace import TracedQuery

if TYPE_CHECKING:
    from llama_index.core.schema import NodeWithScore

    from notehop.app.answer.query_engine import NotehopQueryEngine
    from notehop.app.evaluation.questions import Lines, Question
    from notehop.app.models import Answer, ConnectedNote, SearchResult, Source
    from notehop.app.services.handle import VaultHandle

EXPANDED = "expanded_from"
"""What the metadata of a hit holds that a link brought."""


class MeasuredVault:
    """Searches an opened vault for questions, and counts what the replies warn of.

    Questions are text: they may quote what looks like a filter.
    """

    def __init__(self, vault: VaultHandle) -> None:
        self.warnings: Counter[str] = Counter()
        self._vault = vault

    def context(self, question: Question) -> Context:
        """The context of an answer: see :meth:`notehop.app.evaluation.runner.Search.context`."""
        query = TracedQuery(question.text)
        engine = self._vault.query_engine(filters=_filters(question), literal=True)
        nodes = engine.retrieve(query)
        self.warnings.update(query.trace.warnings)
        sources: list[str] = []
        linked: list[str] = []
        for node in nodes:
            told = node.node.metadata
            by_link = told.get("role") == CONNECTED or EXPANDED in told
            (linked if by_link else sources).append(str(told["path"]))
        return Context(tuple(sources), tuple(linked), lambda: self._answered(engine, query, nodes))

    def notes(self, question: Question) -> Sequence[str]:
        """The best notes."""
        return [hit.path for hit in self._search(question, "notes").hits]

    def chunks(self, question: Question) -> Sequence[tuple[str, Lines]]:
        """The best passages."""
        return [(hit.path, hit.lines) for hit in self._search(question, "chunks").hits]

    def _answered(
        self, engine: NotehopQueryEngine, query: TracedQuery, nodes: list[NodeWithScore]
    ) -> Answered:
        response = engine.synthesize(query, nodes)
        told = response.metadata or {}
        material = material_of(nodes, self._vault.name)
        return Answered(
            "" if told["mode"] == "none" else str(response).removeprefix(QUOTED).strip(),
            frozenset(one["path"] for one in told["citations"]),
            "\n".join(map(_shown, material.sources)),
            "\n".join(map(_shown, material.connected)),
        )

    def _search(self, question: Question, results: str) -> SearchResult:
        found = self._vault.search(
            question.text,
            results=results,
            top_k=TOP,
            # The ranking is measured, not what is shown where nothing matches.
            min_score=0,
            literal=True,
            filters=_filters(question),
            connected={"max": 0},
        )
        self.warnings.update(found.warnings)
        return found


def replied(answer: Answer) -> Replied:
    """An answer as an answer set measures it."""
    return Replied(
        answer.answer.removeprefix(QUOTED).strip(),
        answer.mode == "none",
        "\n".join(map(_shown, answer.sources)),
        "\n".join(map(_shown, answer.connected_notes)),
    )


def _shown(place: Source | ConnectedNote) -> str:
    return f"{place.title}\n{place.heading}\n{place.text}"


def _filters(question: Question) -> Mapping[str, Any]:
    return {} if question.without is None else {"not": {"path": [question.without]}}
