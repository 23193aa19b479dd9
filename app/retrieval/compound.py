"""A query that asks several things: each is searched for by itself, so that one does not hide the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore

from notehop.app.retrieval.trace import Nodes, TracedQuery, TracedRetriever
from notehop.indexing.tokens.languages import FUNCTION_WORDS, detect_language
from notehop.indexing.tokens.words import fold

STAGE = "compound"
"""The name of this stage in a query's timings."""

QUESTIONS = 3  # of a query that are searched for by themselves, at most

LONGEST = (
    1_000  # characters of a query that is taken apart: what is longer is a text, and no question
)


class _Words(NamedTuple):
    """Expressions of a language, folded: what joins two questions, what begins one, and what may refer to
    the one before. ``relative`` begins a clause as well, where nothing but a conjunction stands before."""

    join: str
    ask: str
    refer: str
    relative: str = ""


_ROLE = "(?:at|by|for|from|in|of|on|since|to|until|with|an|auf|bei|bis|mit|seit|von|zu|a|de|en|par|pour|con) "
"""What may stand before the word that asks, and then refers to what was said before it."""

_LANGUAGES = {
    "en": _Words(
        "and|but",
        "what|whats|which|who|whos|whom|whose|when|where|why|how",
        "it|its|they|them|their|he|him|his|she|her|this|that|these|those|one|others?|rest|same",
        "who|which|whom",
    ),
    "de": _Words(
        "und|oder|aber",
        "was|wer|wem|wen|wessen|wann|wo|wohin|woher|warum|wieso|weshalb|wie|welche[nmrs]?",
        "es|sie|ihn|ihm|ihr|er|dies\\w*|andere[nrs]?",
    ),
    "fr": _Words(
        "et|mais",
        "qui|quoi|quand|pourquoi|comment|combien|quel(?:le)?s?",
        "il|elle|ils|elles|lui|cela|ca|autres?",
        "qui",
    ),
    "es": _Words(
        "y|e|pero",
        "quien(?:es)?|cuando|donde|cual(?:es)?|cuant[oa]s?|como",
        "el|ella|ellos|ellas|esto|otr[oa]s?",
    ),
    "it": _Words(
        "e|ed|ma",
        "chi|quando|dove|come|quale|quali|perche|quant[oaie]",
        "lui|lei|esso|essa|altr[ieoa]",
    ),
    "pt": _Words(
        "e|mas", "quem|quando|onde|qual|quais|como|quant[oa]s?", "ele|ela|isso|isto|outr[oa]s?"
    ),
    "nl": _Words(
        "en|maar",
        "wie|wat|wanneer|waar|waarom|hoe|welke?|wiens",
        "hij|zij|deze|dit|andere",
        "wie|wat",
    ),
    "sv": _Words("och|men", "vem|vad|nar|varfor|hur|vilken|vilket|vilka", "den|han|hon|andra"),
}

_TOGETHER = re.compile(
    r"\b(?:compar\w*|differ\w*|versus|vs|between|vergleich\w*|unterschied\w*|zwischen|entre|tra|tussen|mellan)\b"
)
"""A comparison is one question."""

FEWEST, FEWEST_REFERRING = 1, 3
"""Words of its own that a question needs to be searched for by itself; more, where it may refer to what
stands before it."""


def questions_in(query: str) -> list[str]:
    """The questions of a query that may each be asked by itself, in their order; one for most queries.

    "What shuts the gate, and who made it?" stays one: its end asks for nothing without its beginning.
    """
    written = " ".join(query.split())
    language = detect_language([written]) if len(written) <= LONGEST else ""
    if (words := _LANGUAGES.get(language)) is None:
        return [query]
    plain = fold(written).casefold()
    if len(plain) != len(written):
        written = plain
    begin = rf"(?=(?:{_ROLE})?(?:{words.ask})\b)"
    relative = rf"(?!(?:{words.relative})\b)" if words.relative else ""
    apart = rf"[?] ?{begin}|[,;] (?:{words.join}) {begin}| (?:{words.join}) {relative}{begin}"
    ends = [0, *(at for found in re.finditer(apart, plain) for at in found.span()), len(plain)]
    places = list(zip(ends[::2], ends[1::2], strict=True))
    small = FUNCTION_WORDS.get(language, frozenset())

    def stands_alone(text: str, *, first: bool) -> bool:
        own = [
            one
            for one in re.findall(r"[^\W_]+", text)
            if one not in small and re.fullmatch(words.ask, one) is None
        ]
        refers = re.search(rf"^{_ROLE}|\b(?:{words.refer})\b", text) is not None
        return len(own) >= (FEWEST_REFERRING if refers and not first else FEWEST)

    if (
        not 1 < len(places) <= QUESTIONS
        or _TOGETHER.search(plain)
        or not all(stands_alone(plain[a:b], first=not a) for a, b in places)
    ):
        return [query]
    return [written[a:b].strip(" ?,;-") for a, b in places]


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
