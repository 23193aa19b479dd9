"""A vault as an evaluation asks it: through the handle that every edge uses.

Touches: vault-read (names, sizes, times), index (reads), model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.answer.material import CONNECTED
from app.evaluation.asking import Context
from app.evaluation.measures import TOP
from app.retrieval.trace import TracedQuery

if TYPE_CHECKING:
    from app.container.handle import VaultHandle
    from app.evaluation.question import Lines, Question
    from app.models import SearchResult

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
        """The context of an answer: see :meth:`app.evaluation.asking.Search.context`."""
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
        return Context(tuple(sources), tuple(linked))

    def notes(self, question: Question) -> Sequence[str]:
        """The best notes."""
        return [hit.path for hit in self._search(question, "notes").hits]

    def chunks(self, question: Question) -> Sequence[tuple[str, Lines]]:
        """The best passages."""
        return [(hit.path, hit.lines) for hit in self._search(question, "chunks").hits]

    def _search(self, question: Question, results: str) -> SearchResult:
        found = self._vault.search(
            question.text,
            results=results,
            top_k=TOP,
            literal=True,
            filters=_filters(question),
            connected={"max": 0},
        )
        self.warnings.update(found.warnings)
        return found


def _filters(question: Question) -> Mapping[str, Any]:
    return {} if question.without is None else {"not": {"path": [question.without]}}
