"""A query that asks several things: each is searched for by itself, so that one does not hide the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.trace import Nodes, TracedQuery, TracedRetriever
from notehop.indexing.tokens.languages import FUNCTION_WORDS, detect_language
from notehop.indexing.tokens.words import fold

STAGE = "compound"
"""The name of this stage in a query's timings."""

QUESTIONS = 3  # of a query that are searched for by themselves, at most

_ASKS = (
    "what|whats|which|who|whos|whom|whose|when|where|why|how"
    "|was|wer|wem|wen|wessen|wann|wo|wohin|woher|warum|wieso|weshalb|wie|welche[nmrs]?"
    "|qui|que|quoi|quand|ou|pourquoi|comment|combien|quel(?:le)?s?"
    "|quien(?:es)?|cuando|donde|cual(?:es)?|cuant[oa]s?|como|chi|cosa|quando|dove|quale|quali|perche|quant[oaie]"
    "|quem|onde|qual|quais|wat|wanneer|waar|waarom|hoe|welke?|wiens"
)
_ROLE = r"(?:at|by|for|from|in|of|on|since|to|until|with)\s+"
_BREAK = re.compile(
    rf"(?:\?\s+|[,;]?\s+(?:and|but|or|und|oder|et|y|e|en|och)\s+)(?=(?:{_ROLE})?(?:{_ASKS})\b)",
    re.IGNORECASE,
)
_REFERS = re.compile(
    rf"^{_ROLE}|\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|one|es|sie|ihn|ihm|er|dies\w*"
    r"|others?|rest|same|andere[nrs]?|autres?|otr[oa]s?|altr[ieoa]|il|elle|ils|elles|lui|cela|ella|ellos|lo|esto|essa?|esso|hij|zij|het|dit)\b",
    re.IGNORECASE,
)
FEWEST, FEWEST_REFERRING = 1, 3
"""Words of its own that a question needs to be searched for by itself; more, where it may refer to what
stands before it."""


def questions_in(query: str) -> list[str]:
    """The questions of a query that may each be asked by itself, in their order; one for most queries.

    "What shuts the gate, and who made it?" stays one: its end asks for nothing without its beginning.
    """
    language = detect_language([query])
    small = FUNCTION_WORDS.get(language, frozenset())

    def stands_alone(text: str, *, first: bool) -> bool:
        words = re.findall(r"[^\W_]+", fold(text).casefold())
        own = [one for one in words if one not in small and re.fullmatch(_ASKS, one) is None]
        refers = not first and _REFERS.search(" ".join(words)) is not None
        return len(own) >= (FEWEST_REFERRING if refers else FEWEST)

    parts = [part.strip(" ?,;") for part in _BREAK.split(query)]
    parts = [part for part in parts if part]
    if not 1 < len(parts) <= QUESTIONS:
        return [query]
    whole = all(stands_alone(part, first=not at) for at, part in enumerate(parts))
    return parts if whole else [query]


class CompoundRetriever(TracedRetriever):
    """Asks any LlamaIndex retriever for each question of a query, and for the whole of it.

    Of a query with several, the best hits of each take turns with those of the whole; scores are those
    of the whole at these places. Every other query is handed on as it is.
    """

    def __init__(
        self, retriever: BaseRetriever, *, callback_manager: CallbackManager | None = None
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._retriever = retriever

    def find(self, query: TracedQuery) -> Nodes:
        """Return the hits, best first, as many as the whole query finds."""
        whole = self._retriever.retrieve(query)
        questions = questions_in(query.query_str)
        if len(questions) == 1:
            return whole
        rankings: list[Sequence[NodeWithScore]] = []
        with query.trace.timed(STAGE):
            for question in questions:
                own = TracedQuery(question, view=query.view, current=query.current)
                rankings.append(self._retriever.retrieve(own))
                for warning in own.trace.warnings:
                    query.trace.warn(warning)
        turns: dict[str, NodeWithScore] = {}
        for hit in chain.from_iterable(zip_longest(*rankings, whole)):
            if hit is not None:
                turns.setdefault(hit.node.node_id, hit)
        return [
            NodeWithScore(node=hit.node, score=place.score)
            for hit, place in zip(turns.values(), whole, strict=False)
        ]
