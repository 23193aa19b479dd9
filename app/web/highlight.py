"""Marks the words of a text that a query asked for, in rendered HTML. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from notehop.indexing.tokens import Tokenizer, detect_language

_NO_TEXT = re.compile(r"(<[^>]*>|&[#\w]+;)")
"""Tags, and entities: what one stands for is a sign, and no word."""
_WORD = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\u0e01-\u0e3a]{2,}")
_FILTER = re.compile(r'(?<!\S)-?[\w.]+:(?:"[^"]*"|\S+)')


def marker(query: str, texts: list[str]) -> Callable[[str], str]:
    """A function that puts ``<mark>`` around the words of a query in HTML.

    Words are compared as the index compares them: in their forms, without accents and case. The
    filters in a query are no words to look for, and function words are none.

    :param texts: what will be marked: their language is that of the words.
    """
    tokens = _tokenizer(detect_language([query, *texts]))
    wanted = frozenset(tokens.query(_FILTER.sub(" ", query)))
    if not wanted:
        return lambda html: html

    def word(found: re.Match[str]) -> str:
        text = found[0]
        if _UNSPACED.search(text):
            return _UNSPACED.sub(lambda run: _pairs(run[0], wanted), text)
        return f"<mark>{text}</mark>" if wanted.intersection(tokens(text)) else text

    def mark(html: str) -> str:
        parts = _NO_TEXT.split(html)
        parts[::2] = [_WORD.sub(word, part) for part in parts[::2]]
        return "".join(parts).replace("</mark> <mark>", " ")

    return mark


def _pairs(run: str, wanted: frozenset[str]) -> str:
    """Mark what of a run without spaces is asked for, in pairs of characters."""
    hit = [False] * len(run)
    for at in range(len(run) - 1):
        if run[at : at + 2] in wanted:
            hit[at] = hit[at + 1] = True
    marked = "".join(
        f"<mark>{sign}</mark>" if on else sign for sign, on in zip(run, hit, strict=True)
    )
    return marked.replace("</mark><mark>", "")


@lru_cache(maxsize=16)
def _tokenizer(language: str) -> Tokenizer:
    return Tokenizer(language)
