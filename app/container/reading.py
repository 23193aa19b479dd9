"""Lets the extractive answer read text as the index does: its words, their rarity, their likeness.

Touches: index (reads), model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.answer.relevance import Reading, Term
from indexing.tokens import Tokenizer, detect_language
from indexing.tokens.function_words import FUNCTION_WORDS
from indexing.vault.sentences import sentence_spans

if TYPE_CHECKING:
    from indexing.embed.query import QueryEmbedder
    from indexing.stores.lexical import LexicalIndex


PASSAGES = 4_096
"""Passages whose vectors are remembered: some 6 MB. Questions come back to the same notes."""

Vector = NDArray[np.float32]


def reading_of(
    tokenizer: Tokenizer,
    lexical: Callable[[], LexicalIndex],
    embedder: Callable[[], QueryEmbedder],
) -> Reading:
    """Read with what the index was made with.

    :param lexical: gives the lexical index as it is now.
    """
    language = tokenizer.language

    def spans(text: str) -> list[tuple[int, int]]:
        return sentence_spans(text, language)

    def terms(query: str) -> list[Term]:
        spoken = detect_language([query], language)
        small = FUNCTION_WORDS.get(spoken, frozenset())
        words = [w for w in dict.fromkeys(tokenizer.query(query)) if w not in small]
        index = lexical()
        return [_term(word, index, foreign=spoken != language) for word in words]

    @lru_cache(maxsize=PASSAGES)
    def vector(text: str) -> Vector:
        row: Vector = embedder().embed([text])[0]
        return row

    def likeness(query: str, texts: Sequence[str]) -> Sequence[float]:
        asked = embedder().embed_query(query)
        return [float(asked @ vector(text)) for text in texts]

    return Reading(
        words=lru_cache(maxsize=4_096)(tokenizer),
        terms=terms,
        sentences=spans,
        likeness=likeness,
    )


def _term(word: str, index: LexicalIndex, *, foreign: bool) -> Term:
    """A word with its rarity: inverse document frequency as in Lucene's BM25Similarity.

    :param foreign: whether it is of another language than the notes, so that no note could hold it.
    """
    chunks = len(index)
    holders = index.frequency(word)
    weight = math.log(1 + (chunks - holders + 0.5) / (holders + 0.5))
    return Term(word, weight, missing=holders == 0 and not foreign)
