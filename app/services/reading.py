"""What answers read texts with: the words, sentences and vectors of one index, remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
"""Passages whose vectors are remembered, by a hash: some 6 MB. Questions come back to the same notes."""

QUERIES = 64
"""Questions and sentences of answers whose vectors are remembered: each is compared often."""


def reading_of(
    tokenizer: Tokenizer,
    lexical: Callable[[], LexicalIndex],
    embedder: Callable[[], QueryEmbedder],
    named: Callable[[str], bool],
) -> tuple[Reading, Callable[[], None]]:
    """Read with what the index was made with, remembering what was read last; and what forgets it:
    texts of notes that may have been withdrawn since.

    :param lexical: gives the lexical index as it is now.
    :param named: tells whether a note goes by a name.
    """
    language = tokenizer.language

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

    known: dict[bytes, Vectors] = {}

    @lru_cache(maxsize=QUERIES)
    def asked(query: str) -> Vectors:
        return embedder().embed_query(query)

    def vectors(query: str, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        keys = {text: blake2b(text.encode("utf-8", "surrogatepass")).digest() for text in texts}
        rows = {text: row for text, key in keys.items() if (row := known.get(key)) is not None}
        if new := [text for text in keys if text not in rows]:
            made = dict(zip(new, embedder().embed_together(new), strict=True))
            if len(known) > PASSAGES:
                known.clear()
            known.update({keys[text]: row for text, row in made.items()})
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
        sentences=lambda text: sentence_spans(text, language),
        vectors=vectors,
        language=language,
        small=frozenset(tokenizer(" ".join(FUNCTION_WORDS.get(language, ())))),
        named=named,
    )
    return reading, forget
