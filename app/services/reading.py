"""What answers read texts with: the words, sentences and vectors of one index, remembered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from notehop.app.answer.passages import passages
from notehop.app.answer.relevance import Reading, Term, Vectors
from notehop.app.retrieval.background import idf, question_words
from notehop.indexing.embed.onnx_embedding import QueryEmbedder
from notehop.indexing.stores.lexical import LexicalIndex
from notehop.indexing.tokens import Tokenizer, detect_language
from notehop.indexing.tokens.languages import FUNCTION_WORDS
from notehop.indexing.vault.sentences import sentence_spans

PASSAGES = 4_096
"""Passages whose vectors are remembered: some 6 MB. Questions come back to the same notes."""

QUERIES = 64
"""Questions and sentences of answers whose vectors are remembered: each is compared often."""


def reading_of(
    tokenizer: Tokenizer,
    lexical: Callable[[], LexicalIndex],
    embedder: Callable[[], QueryEmbedder],
    named: Callable[[str], bool] | None = None,
) -> tuple[Reading, Callable[[], None]]:
    """Read with what the index was made with, remembering what was read last.

    :returns: and what forgets it: texts of notes that may have been withdrawn since.

    :param lexical: gives the lexical index as it is now.
    :param named: tells whether a note goes by a name; None where that is not known.
    """
    language = tokenizer.language

    def spans(text: str) -> list[tuple[int, int]]:
        return sentence_spans(text, language)

    def terms(query: str) -> list[Term]:
        foreign = detect_language([query], language) != language
        index = lexical()
        found: dict[str, Term] = {}
        for word in question_words(query, tokenizer, index):
            own = [token for token in tokenizer.query(word.written) if token in word.tokens]
            own = own or list(word.tokens[:1])
            held = [index.frequency(token) for token in own]
            # Of a name that capitals split ("LaTeX") some part stands somewhere by chance.
            split = word.written.isalnum() and held[0] == 0 and min(held[1:], default=1) == 0
            absent = word.missing or split
            for token, count in zip(own, held, strict=True):
                weight = idf(count, len(index))
                term = Term(token, weight, absent and not foreign, word.written, absent=absent)
                found.setdefault(token, term)
        return list(found.values())

    known = _Known()

    @lru_cache(maxsize=QUERIES)
    def asked(query: str) -> Vectors:
        return embedder().embed_query(query)

    def vectors(query: str, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        rows = known.of(texts)
        new = [text for text in dict.fromkeys(texts) if text not in rows]
        if new:
            made = dict(zip(new, embedder().embed_together(new), strict=True))
            known.add(made)
            rows |= made
        return asked(query), np.stack([rows[text] for text in texts])

    words = lru_cache(maxsize=4_096)(tokenizer)

    def forget() -> None:
        words.cache_clear()
        asked.cache_clear()
        passages.cache_clear()

    reading = Reading(
        words=words,
        terms=terms,
        sentences=spans,
        vectors=vectors,
        language=language,
        small=frozenset(tokenizer(" ".join(FUNCTION_WORDS.get(language, ())))),
        named=named,
    )
    return reading, forget


class _Known:
    """Vectors of the passages that were compared last, by a hash; threads may share it."""

    def __init__(self) -> None:
        self._rows: dict[bytes, Vectors] = {}
        self._turn = threading.Lock()

    def of(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Those of the texts that are known."""
        with self._turn:
            keys = {text: _key(text) for text in {*texts}}
            found = {text: self._rows.pop(key) for text, key in keys.items() if key in self._rows}
            # Last again, so that they are forgotten last.
            self._rows |= {keys[text]: row for text, row in found.items()}
            return found

    def add(self, rows: Mapping[str, Vectors]) -> None:
        """Remember vectors, and forget those that were not asked for the longest time."""
        with self._turn:
            self._rows |= {_key(text): row for text, row in rows.items()}
            for text in list(self._rows)[: max(0, len(self._rows) - PASSAGES)]:
                del self._rows[text]


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
